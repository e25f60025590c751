// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/link_probe.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <span>
#include <utility>

#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/schedule/astra_sim_text.hpp>

namespace weir::cli {

namespace {

constexpr std::array<std::size_t, 5> sizes{64, 4096, 65536, 524288, 4194304};
constexpr int num_repeats = 9;
constexpr std::size_t most_pairs = 8;

struct Pair {
  Rank a;
  Rank b;
};

/// At most eight, spread over all.
std::vector<Pair> some_of(const std::vector<Pair>& pairs) {
  if (pairs.size() <= most_pairs) return pairs;
  std::vector<Pair> some;
  for (std::size_t i = 0; i < most_pairs; ++i) some.push_back(pairs[i * pairs.size() / most_pairs]);
  return some;
}

/// The first two ranks of each host.
std::vector<Pair> pairs_inside(const std::vector<std::uint32_t>& hosts) {
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < hosts.size(); ++a) {
    const auto first = std::find(hosts.begin(), hosts.end(), hosts[a]);
    if (first - hosts.begin() != static_cast<std::ptrdiff_t>(a)) continue;
    const auto second = std::find(first + 1, hosts.end(), hosts[a]);
    if (second == hosts.end()) continue;
    pairs.push_back({static_cast<Rank>(a), static_cast<Rank>(second - hosts.begin())});
  }
  return pairs;
}

/// The first ranks of each host and the next.
std::vector<Pair> pairs_between(const std::vector<std::uint32_t>& hosts) {
  std::vector<Rank> firsts;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    if (hosts[r] == firsts.size()) firsts.push_back(static_cast<Rank>(r));
  }
  std::vector<Pair> pairs;
  for (std::size_t h = 0; h + 1 < firsts.size(); ++h) pairs.push_back({firsts[h], firsts[h + 1]});
  return pairs;
}

/// A message to one rank; returns it there, and nothing elsewhere. Collective.
Bytes pass(Context& context, Rank from, Rank to, Bytes message) {
  const bool is_sender = context.rank() == from;
  const bool is_receiver = context.rank() == to;
  Exchange delivery(context, "probe", is_sender ? std::vector<Rank>{to} : std::vector<Rank>{},
                    is_receiver ? std::vector<Rank>{from} : std::vector<Rank>{});
  if (is_sender) delivery.send(to, std::move(message));
  Bytes received;
  delivery.close([&](Batch batch) { received = std::move(batch.bytes); });
  return received;
}

/// Times of the messages of a size between two ranks, half of there and back; on the first of them.
std::vector<schedule::MessageTime> message_times(Job& job, const Pair& pair, std::size_t size) {
  using Clock = std::chrono::steady_clock;
  Context& context = job.context;
  std::vector<schedule::MessageTime> times;
  Bytes message(context.rank() == pair.a ? size : 0);
  for (int repeat = -1; repeat < num_repeats; ++repeat) {  // the first warms up
    const auto start = Clock::now();
    Bytes echo = pass(context, pair.a, pair.b, std::move(message));
    message = pass(context, pair.b, pair.a, std::move(echo));
    const std::chrono::duration<double> seconds = Clock::now() - start;
    if (repeat < 0 || context.rank() != pair.a) continue;
    times.push_back({static_cast<double>(size), seconds.count() / 2});
  }
  context.agree([&] { job.throw_if_cancelled(); });
  return times;
}

double median_seconds(std::vector<schedule::MessageTime> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return middle->seconds;
}

std::vector<std::size_t> num_ranks_of_hosts(const std::vector<std::uint32_t>& hosts) {
  std::vector<std::size_t> num_ranks(*std::max_element(hosts.begin(), hosts.end()) +
                                     std::size_t{1});
  for (const std::uint32_t host : hosts) ++num_ranks[host];
  return num_ranks;
}

ProbedLevel probe_level(Job& job, const std::string& name, const std::vector<Pair>& pairs) {
  std::vector<schedule::MessageTime> all;
  std::vector<schedule::MessageTime> medians;
  for (const Pair& pair : pairs) {
    for (const std::size_t size : sizes) {
      const auto own = message_times(job, pair, size);
      const auto times = all_concatenate(job.context, std::span(own));
      all.insert(all.end(), times.begin(), times.end());
      medians.push_back({static_cast<double>(size), median_seconds(times)});
    }
  }
  ProbedLevel level{name, schedule::fit_link(medians), {}, pairs.size()};
  level.spread = schedule::spread_around(level.link, all);
  return level;
}

}  // namespace

std::vector<ProbedLevel> probe_links(Job& job, const std::vector<std::uint32_t>& hosts) {
  job.context.expect(job.world.is_mpi() && hosts.size() > 1, ErrorCode::usage,
                     "--probe: found " +
                         std::string(hosts.size() > 1 ? "ranks that share memory" : "one rank") +
                         "; expected two or more MPI processes, whose links are measured, as by "
                         "mpirun -n 2 weir doctor --probe");
  std::vector<ProbedLevel> levels;
  for (const auto& [name, pairs] : {std::pair("same host", some_of(pairs_inside(hosts))),
                                    std::pair("between hosts", some_of(pairs_between(hosts)))}) {
    if (!pairs.empty()) levels.push_back(probe_level(job, name, pairs));
  }
  return levels;
}

std::string text_of(const std::vector<ProbedLevel>& levels) {
  std::string text;
  for (const ProbedLevel& level : levels) {
    char line[256];
    std::snprintf(
        line, sizeof line,
        "%s: latency %.3g us, bandwidth %.4g MB/s (%zu pair%s; the middle half of messages "
        "took %.2f to %.2f times the fit)\n",
        level.name.c_str(), level.link.latency_seconds * 1e6, level.link.bandwidth / 1e6,
        level.num_pairs, level.num_pairs == 1 ? "" : "s", level.spread.lower_quartile,
        level.spread.upper_quartile);
    text += line;
  }
  return text;
}

bool has_equal_hosts(const std::vector<std::uint32_t>& hosts) {
  const std::vector<std::size_t> sizes_of_hosts = num_ranks_of_hosts(hosts);
  return std::all_of(sizes_of_hosts.begin(), sizes_of_hosts.end(),
                     [&](std::size_t size) { return size == sizes_of_hosts.front(); });
}

std::string cluster_file_of(const std::vector<ProbedLevel>& levels,
                            const std::vector<std::uint32_t>& hosts) {
  const std::size_t num_hosts = num_ranks_of_hosts(hosts).size();
  const std::size_t num_ranks = hosts.size() / num_hosts;
  std::vector<schedule::Level> tree;
  std::vector<std::size_t> arity;
  if (num_hosts > 1) arity.push_back(num_hosts);
  if (num_ranks > 1) arity.push_back(num_ranks);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    tree.push_back({level->name, level->link, {}});
  }
  return schedule::astra_sim_text(schedule::make_tree("probe", std::move(tree), arity, {}));
}

}  // namespace weir::cli
