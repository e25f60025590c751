// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/network.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace weir::simulation {

namespace {

using training::Layout;
using training::PlacedPlan;
using training::RankCoordinates;

/// Bytes per second of each of some rings of devices that all turn at once: an uplink is shared by
/// the rings that cross it.
class Rings {
 public:
  explicit Rings(const schedule::Topology& cluster) : cluster_(cluster) {
    for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
      crossing_.emplace_back(cluster.num_groups(l), 0);
      sizes_.emplace_back(cluster.num_groups(l), 0);
      for (const std::uint32_t group : cluster.levels()[l].group_of_device) ++sizes_[l][group];
    }
  }

  /// Ranks of a ring meet in the order of their devices.
  void add(std::vector<std::uint32_t> devices) {
    std::sort(devices.begin(), devices.end());
    each_link(devices, [&](std::size_t level, std::uint32_t group) { ++crossing_[level][group]; });
    rings_.push_back(std::move(devices));
  }

  std::vector<double> bytes_per_second() const {
    const auto& levels = cluster_.levels();
    std::vector<double> rates;
    for (const auto& ring : rings_) {
      double rate = levels.back().link.bandwidth;
      each_link(ring, [&](std::size_t level, std::uint32_t group) {
        const double uplink =
            static_cast<double>(sizes_[level][group]) * levels[level - 1].link.bandwidth;
        rate = std::min(rate, uplink / static_cast<double>(crossing_[level][group]));
      });
      rates.push_back(rate);
    }
    return rates;
  }

 private:
  template <class Visit>
  void each_link(const std::vector<std::uint32_t>& ring, Visit visit) const {
    const auto& levels = cluster_.levels();
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::uint32_t from = ring[i];
      const std::uint32_t to = ring[(i + 1) % ring.size()];
      for (std::size_t l = cluster_.common_level(from, to) + 1; l < levels.size(); ++l) {
        visit(l, levels[l].group_of_device[from]);
      }
    }
  }

  const schedule::Topology& cluster_;
  std::vector<std::vector<std::size_t>> crossing_;
  std::vector<std::vector<std::size_t>> sizes_;
  std::vector<std::vector<std::uint32_t>> rings_;
};

/// Bytes per second of each rank's ring; `ring_of(coordinates)` names the ring.
template <class RingOf>
std::vector<double> ring_rates(const Layout& layout, const schedule::Topology& cluster,
                               const std::vector<std::uint32_t>& devices, RingOf ring_of) {
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t r = 0; r < devices.size(); ++r) {
    members[ring_of(coordinates_of(layout, r))].push_back(r);
  }
  Rings rings(cluster);
  for (const auto& [name, ranks] : members) {
    std::vector<std::uint32_t> ring;
    for (const std::size_t r : ranks) ring.push_back(devices[r]);
    rings.add(std::move(ring));
  }
  std::vector<double> of_rank(devices.size());
  std::size_t i = 0;
  const std::vector<double> rates = rings.bytes_per_second();
  for (const auto& [name, ranks] : members) {
    for (const std::size_t r : ranks) of_rank[r] = rates[i];
    ++i;
  }
  return of_rank;
}

/// The cluster as the time model sees it: nodes, and the slowest link between all of them.
schedule::Topology two_levels(const schedule::Topology& cluster) {
  const auto& levels = cluster.levels();
  if (levels.size() == 1) return cluster;
  std::vector<schedule::Level> two = {levels.front(), levels.back()};
  for (const schedule::Level& each : levels) {
    two.front().link.bandwidth = std::min(two.front().link.bandwidth, each.link.bandwidth);
  }
  return {cluster.name(), std::move(two), cluster.devices()};
}

/// Where it thinks that ranks are: all of a stage side by side, stage after stage.
std::vector<std::uint32_t> stage_by_stage(const PlacedPlan& plan) {
  const Layout& layout = plan.layout();
  std::vector<std::uint32_t> devices(plan.device_of_rank.size());
  const auto num_inside = static_cast<std::size_t>(layout.tensor * layout.context);
  for (std::size_t r = 0; r < devices.size(); ++r) {
    const RankCoordinates at = coordinates_of(layout, r);
    const std::size_t block = at.pipeline * static_cast<std::size_t>(layout.data) + at.data;
    devices[r] = static_cast<std::uint32_t>(block * num_inside + r % num_inside);
  }
  return devices;
}

/// Seconds that the most loaded link takes while every expert rank hands a byte to its group, a
/// share to each, all groups at once.
double exchange_seconds(const Layout& layout, const schedule::Topology& cluster,
                        const std::vector<std::uint32_t>& devices) {
  const auto& levels = cluster.levels();
  const auto num_members = static_cast<std::size_t>(layout.expert);
  const auto t = static_cast<std::size_t>(layout.tensor);
  const auto c = static_cast<std::size_t>(layout.context);
  const auto size = static_cast<double>(num_members);
  double slowest = (size - 1) / size / levels.back().link.bandwidth;
  for (std::size_t l = 1; l < levels.size(); ++l) {
    const auto& group_of_device = levels[l].group_of_device;
    std::vector<double> leaving(cluster.num_groups(l), 0);
    std::vector<double> num_devices(leaving.size(), 0);
    for (const std::uint32_t group : group_of_device) ++num_devices[group];
    for (std::size_t pipeline = 0; pipeline < static_cast<std::size_t>(layout.pipeline);
         ++pipeline) {
      const auto num_ranks = static_cast<std::size_t>(layout.num_stage_devices());
      for (std::size_t first = 0; first < num_ranks; first += num_members) {
        std::map<std::uint32_t, double> members;  // by group of the level
        for (std::size_t i = first; i < first + num_members; ++i) {
          const std::size_t rank = rank_at(layout, {i % t, i / t % c, pipeline, i / (t * c)});
          ++members[group_of_device[devices[rank]]];
        }
        for (const auto& [group, count] : members) leaving[group] += count * (size - count) / size;
      }
    }
    for (std::size_t g = 0; g < leaving.size(); ++g) {
      slowest = std::max(slowest, leaving[g] / (num_devices[g] * levels[l - 1].link.bandwidth));
    }
  }
  return slowest;
}

/// How much longer each rank's ring takes than the slowest where the time model thinks they are.
template <class RingOf>
std::vector<double> ring_factors(const PlacedPlan& plan, RingOf ring_of) {
  const std::vector<double> expected =
      ring_rates(plan.layout(), two_levels(plan.cluster), stage_by_stage(plan), ring_of);
  const double slowest = *std::min_element(expected.begin(), expected.end());
  std::vector<double> factors =
      ring_rates(plan.layout(), plan.cluster, plan.device_of_rank, ring_of);
  for (double& each : factors) each = slowest / each;
  return factors;
}

}  // namespace

Network::Network(const PlacedPlan& plan) : plan_(plan) {
  const auto& levels = plan.cluster.levels();
  const std::size_t nodes = levels.size() - 1;
  // The machine's network is what messages reach of the slowest level above the nodes.
  double slowest = levels.back().link.bandwidth;
  for (std::size_t l = 0; l < nodes; ++l) slowest = std::min(slowest, levels[l].link.bandwidth);
  const double share = plan.machine.network_bytes_per_second /
                       static_cast<double>(plan.machine.devices_per_node) / slowest;
  const double adapter = nodes == 0 ? slowest : levels[nodes - 1].link.bandwidth;
  adapter_bytes_per_second_ = share * adapter;

  const auto num_cells = static_cast<std::size_t>(plan.layout().data * plan.layout().pipeline);
  std::size_t num_links = 2 * num_cells;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    uplink_bytes_per_second_.push_back(l == 0 ? 0 : share * levels[l - 1].link.bandwidth);
    is_shared_ |= l > 0 && l < nodes && levels[l - 1].link.bandwidth < adapter;
    first_link_.push_back(num_links);
    num_links += 2 * plan.cluster.num_groups(l);
    group_sizes_.emplace_back(plan.cluster.num_groups(l), 0);
    for (const std::uint32_t group : levels[l].group_of_device) ++group_sizes_[l][group];
  }
  free_at_.assign(num_links, 0);

  const Layout& layout = plan.layout();
  const std::size_t num_ranks = plan.device_of_rank.size();
  tensor_factor_ = ring_factors(plan, [&](RankCoordinates at) {
    at.tensor = 0;
    return rank_at(layout, at);
  });
  const std::vector<double> data = ring_factors(plan, [&](RankCoordinates at) {
    at.context = 0;
    at.data = 0;
    return rank_at(layout, at);
  });
  if (layout.context > 1) {
    const std::vector<double> context = ring_factors(plan, [&](RankCoordinates at) {
      at.context = 0;
      return rank_at(layout, at);
    });
    exchange_factors_.context = *std::max_element(context.begin(), context.end());
  }
  if (layout.expert > 1) {
    exchange_factors_.experts =
        exchange_seconds(layout, plan.cluster, plan.device_of_rank) /
        exchange_seconds(layout, two_levels(plan.cluster), stage_by_stage(plan));
  }
  data_factor_.assign(static_cast<std::size_t>(layout.pipeline), 0);
  for (std::size_t r = 0; r < num_ranks; ++r) {
    double& most = data_factor_[coordinates_of(layout, r).pipeline];
    most = std::max(most, data[r]);
  }
}

Route Network::route(std::size_t data, std::size_t from, std::size_t to) const {
  const Layout& layout = plan_.layout();
  const auto& levels = plan_.cluster.levels();
  const std::size_t nodes = levels.size() - 1;
  const double tokens = static_cast<double>(plan_.model.sequence * layout.micro_batch) /
                        static_cast<double>(layout.context);
  const double bytes =
      2 * tokens * static_cast<double>(plan_.model.hidden) /
      (plan_.software.has_scattered_sends ? static_cast<double>(layout.tensor) : 1);
  double slowest = std::numeric_limits<double>::infinity();
  std::map<std::size_t, double> shared;  // link and its seconds
  for (std::size_t c = 0; c < static_cast<std::size_t>(layout.context); ++c) {
    for (std::size_t t = 0; t < static_cast<std::size_t>(layout.tensor); ++t) {
      const std::uint32_t a = plan_.device_of_rank[rank_at(layout, {t, c, from, data})];
      const std::uint32_t b = plan_.device_of_rank[rank_at(layout, {t, c, to, data})];
      const std::size_t common = plan_.cluster.common_level(a, b);
      slowest = std::min(slowest, common >= nodes ? plan_.machine.node_bytes_per_second
                                                  : adapter_bytes_per_second_);
      for (std::size_t l = common + 1; is_shared_ && l < nodes; ++l) {
        const std::uint32_t out = levels[l].group_of_device[a];
        const std::uint32_t in = levels[l].group_of_device[b];
        const auto seconds = [&](std::uint32_t group) {
          return bytes /
                 (static_cast<double>(group_sizes_[l][group]) * uplink_bytes_per_second_[l]);
        };
        shared[first_link_[l] + 2 * out] += seconds(out);
        shared[first_link_[l] + 2 * in + 1] += seconds(in);
      }
    }
  }
  Route route;
  const double seconds = bytes / slowest;
  const std::size_t first_cell = data * static_cast<std::size_t>(layout.pipeline);
  route.holds = {{2 * (first_cell + from), seconds}, {2 * (first_cell + to) + 1, seconds}};
  double longest = seconds;
  for (const auto& [link, hold] : shared) {
    route.holds.push_back({link, hold});
    longest = std::max(longest, hold);
  }
  route.seconds = longest + plan_.machine.node_latency_seconds;
  return route;
}

double Network::send(const Route& route, double now, double stretch) {
  double start = now;
  for (const Route::Hold& hold : route.holds) start = std::max(start, free_at_[hold.link]);
  for (const Route::Hold& hold : route.holds) free_at_[hold.link] = start + stretch * hold.seconds;
  return start + stretch * route.seconds;
}

}  // namespace weir::simulation
