// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/rank_placement.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <span>

#include <weir/cli/hosts.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/process_ports.hpp>
#include <weir/engine/schedule/process_placement.hpp>

namespace weir::cli {

namespace {

/// Of one published value; what matters is their number.
constexpr double bytes_per_value = 8;

/// How many values of one rank's vertices another rank reads.
struct GhostCount {
  std::uint32_t reader;
  std::uint32_t owner;
  std::uint64_t num_values;
};

/// What ranks exchange where every vertex publishes along its out-edges. Collective.
std::vector<schedule::Traffic> ghost_traffic(const AnyGraph& any) {
  return std::visit(
      [](const auto& graph) {
        Context& context = graph.context();
        std::vector<GhostCount> own;
        for (const GhostLink& link : graph.side_for(Edges::out).slots.links) {
          if (link.received.empty()) continue;
          own.push_back({static_cast<std::uint32_t>(context.rank()),
                         static_cast<std::uint32_t>(link.peer), link.received.size()});
        }
        std::vector<schedule::Traffic> traffic;
        for (const GhostCount& count : all_concatenate(context, std::span<const GhostCount>(own))) {
          traffic.push_back(
              {count.reader, count.owner, static_cast<double>(count.num_values) * bytes_per_value});
        }
        return traffic;
      },
      any);
}

std::string share_text(double part, double whole) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f of %.0f", part / bytes_per_value, whole / bytes_per_value);
  return text;
}

schedule::ProcessOfRank as_launched(std::size_t num_processes) {
  schedule::ProcessOfRank processes(num_processes);
  std::iota(processes.begin(), processes.end(), std::uint32_t{0});
  return processes;
}

schedule::ProcessOfRank place_by_ghosts(Job& job, const GraphOptions& options,
                                        const std::vector<std::uint32_t>& hosts) {
  const LoadedGraph loaded = load_graph(job, options);
  const auto traffic = ghost_traffic(loaded.graph);
  const auto processes = schedule::placed_processes(hosts, traffic);
  double all = 0;
  for (const schedule::Traffic& pair : traffic) all += pair.bytes;
  const auto between = [&](const schedule::ProcessOfRank& each) {
    return schedule::bytes_between_hosts(traffic, hosts, each);
  };
  job.say("placement auto: " + share_text(between(processes), all) +
          " ghost values between hosts; " + share_text(between(as_launched(hosts.size())), all) +
          " as the launcher numbers the ranks");
  return processes;
}

}  // namespace

Arrangement arrange_ranks(Job& job, RankPlacement placement, const GraphOptions& graph) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::uint32_t> hosts = hosts_of_ranks(job.context);
  schedule::ProcessOfRank processes;
  Arrangement arrangement;
  switch (placement) {
    case RankPlacement::launcher: processes = as_launched(hosts.size()); break;
    case RankPlacement::packed:
      arrangement.name = "packed";
      processes = schedule::packed_processes(hosts);
      break;
    case RankPlacement::round_robin:
      arrangement.name = "round-robin";
      processes = schedule::round_robin_processes(hosts);
      break;
    case RankPlacement::automatic:
      arrangement.name = "auto";
      processes = place_by_ghosts(job, graph, hosts);
      break;
  }
  for (const std::uint32_t process : processes) {
    arrangement.process_of_rank.push_back(static_cast<Rank>(process));
  }
  arrangement.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return arrangement;
}

World arranged(const World& world, Arrangement& arrangement) {
  std::vector<Rank>& processes = arrangement.process_of_rank;
  World result = world;
  if (processes.empty()) {
    processes.resize(static_cast<std::size_t>(world.size));
    std::iota(processes.begin(), processes.end(), Rank{0});
  } else {
    result.warning.clear();  // told by the job before
  }
  arrangement.sent.assign(processes.size(), 0);
  const auto own = std::find(processes.begin(), processes.end(), world.rank);
  result.rank = static_cast<Rank>(own - processes.begin());
  result.make_port = [&world, &arrangement] {
    return make_renumbered_port(make_counting_port(world.make_port(), arrangement.sent),
                                arrangement.process_of_rank);
  };
  return result;
}

std::uint64_t bytes_to_other_hosts(const Context& context, const Arrangement& arrangement,
                                   const std::vector<std::uint32_t>& hosts) {
  std::uint64_t bytes = 0;
  for (std::size_t r = 0; r < arrangement.process_of_rank.size(); ++r) {
    if (hosts[r] == hosts[static_cast<std::size_t>(context.rank())]) continue;
    bytes += arrangement.sent[static_cast<std::size_t>(arrangement.process_of_rank[r])];
  }
  return bytes;
}

}  // namespace weir::cli
