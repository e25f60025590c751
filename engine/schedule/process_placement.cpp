// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/process_placement.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <weir/engine/model/check.hpp>

namespace weir::schedule {

namespace {

/// Processes by host, hosts in the order of their first process.
std::vector<std::vector<std::uint32_t>> processes_by_host(
    std::span<const std::uint32_t> host_of_process) {
  std::vector<std::vector<std::uint32_t>> hosts;
  std::vector<std::uint32_t> numbers;  // of the hosts, in that order
  for (std::uint32_t p = 0; p < host_of_process.size(); ++p) {
    const auto known = std::find(numbers.begin(), numbers.end(), host_of_process[p]);
    const auto at = static_cast<std::size_t>(known - numbers.begin());
    if (known == numbers.end()) {
      numbers.push_back(host_of_process[p]);
      hosts.emplace_back();
    }
    hosts[at].push_back(p);
  }
  return hosts;
}

/// The hosts as a tree of two levels; devices are the processes in packed order.
Topology tree_of(const std::vector<std::vector<std::uint32_t>>& hosts, std::size_t num_processes) {
  const Link link{1, 0};
  Level between{"hosts", link, std::vector<std::uint32_t>(num_processes, 0)};
  Level within{"host", link, {}};
  for (std::uint32_t h = 0; h < hosts.size(); ++h) {
    within.group_of_device.insert(within.group_of_device.end(), hosts[h].size(), h);
  }
  return {"job", {std::move(between), std::move(within)}, std::vector<Device>(num_processes)};
}

/// Makes process 0 rank 0 at the least cost: its whole host trades places with the first where they
/// are of one size, or it trades places with one rank there. On a host ranks ascend.
ProcessOfRank with_rank_0_first(ProcessOfRank processes,
                                std::span<const std::uint32_t> host_of_process,
                                const std::vector<Traffic>& traffic) {
  const auto hosts = processes_by_host(host_of_process);
  const auto host_of = [&](std::uint32_t process) {
    return std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) {
      return std::binary_search(host.begin(), host.end(), process);
    });
  };
  const auto& first = hosts.front();
  const auto& other = *host_of(processes.front());
  if (&other != &first) {
    std::vector<ProcessOfRank> candidates;
    for (const std::uint32_t process : first) {
      candidates.push_back(processes);
      std::iter_swap(candidates.back().begin(),
                     std::find(candidates.back().begin(), candidates.back().end(), process));
    }
    if (other.size() == first.size()) {
      candidates.push_back(processes);
      for (std::size_t i = 0; i < first.size(); ++i) {
        std::iter_swap(std::find(candidates.back().begin(), candidates.back().end(), first[i]),
                       std::find(candidates.back().begin(), candidates.back().end(), other[i]));
      }
    }
    const auto bytes = [&](const ProcessOfRank& candidate) {
      return bytes_between_hosts(traffic, host_of_process, candidate);
    };
    processes =
        *std::min_element(candidates.begin(), candidates.end(),
                          [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
  }
  std::vector<std::size_t> num_used(hosts.size(), 0);
  for (std::uint32_t& process : processes) {
    const auto h = static_cast<std::size_t>(host_of(process) - hosts.begin());
    process = hosts[h][num_used[h]++];
  }
  return processes;
}

}  // namespace

ProcessOfRank packed_processes(std::span<const std::uint32_t> host_of_process) {
  ProcessOfRank processes;
  for (const auto& host : processes_by_host(host_of_process)) {
    processes.insert(processes.end(), host.begin(), host.end());
  }
  return processes;
}

ProcessOfRank round_robin_processes(std::span<const std::uint32_t> host_of_process) {
  const auto hosts = processes_by_host(host_of_process);
  ProcessOfRank processes;
  for (std::size_t turn = 0; processes.size() < host_of_process.size(); ++turn) {
    for (const auto& host : hosts) {
      if (turn < host.size()) processes.push_back(host[turn]);
    }
  }
  return processes;
}

ProcessOfRank placed_processes(std::span<const std::uint32_t> host_of_process,
                               const std::vector<Traffic>& traffic) {
  const ProcessOfRank packed = packed_processes(host_of_process);
  ProcessOfRank given(host_of_process.size());
  std::iota(given.begin(), given.end(), std::uint32_t{0});
  std::vector<ProcessOfRank> candidates{given, packed, round_robin_processes(host_of_process)};
  const auto hosts = processes_by_host(host_of_process);
  if (hosts.size() > 1) {
    const Placement placement =
        place(given.size(), traffic, tree_of(hosts, given.size()), {.level_costs = {1, 0}});
    ProcessOfRank placed;
    for (const std::uint32_t device : placement.device_of_rank) placed.push_back(packed[device]);
    candidates.push_back(with_rank_0_first(std::move(placed), host_of_process, traffic));
  }
  std::vector<double> bytes;
  for (const ProcessOfRank& candidate : candidates) {
    bytes.push_back(bytes_between_hosts(traffic, host_of_process, candidate));
  }
  const auto best = std::min_element(bytes.begin(), bytes.end()) - bytes.begin();
  return candidates[static_cast<std::size_t>(best)];
}

double bytes_between_hosts(const std::vector<Traffic>& traffic,
                           std::span<const std::uint32_t> host_of_process,
                           const ProcessOfRank& process_of_rank) {
  double bytes = 0;
  for (const Traffic& pair : traffic) {
    WEIR_EXPECT(pair.a < process_of_rank.size() && pair.b < process_of_rank.size(), usage,
                "found traffic of a rank that is not there");
    const bool is_local =
        host_of_process[process_of_rank[pair.a]] == host_of_process[process_of_rank[pair.b]];
    if (!is_local) bytes += pair.bytes;
  }
  return bytes;
}

}  // namespace weir::schedule
