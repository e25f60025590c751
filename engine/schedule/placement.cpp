// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/placement.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include <weir/engine/model/check.hpp>
#include <weir/engine/schedule/scotch_mapping.hpp>

namespace weir::schedule {

namespace {

constexpr std::size_t most_ranks = std::size_t{1} << 20;
constexpr std::size_t most_dimensions = 6;
/// Up to so many ranks all pairs are swapped, from many starts.
constexpr std::size_t few_ranks = 64;
constexpr int num_random_starts = 40;

using Devices = std::vector<std::uint32_t>;

/// Where ranks are, and what it costs to have them there.
class Layout {
 public:
  Layout(std::size_t num_ranks, const std::vector<Traffic>& traffic, const Topology& cluster,
         const PlacementOptions& options)
      : cluster_(cluster), neighbors_(num_ranks), costs_(options.level_costs) {
    WEIR_EXPECT(num_ranks <= cluster.num_devices(), usage,
                "found " + std::to_string(num_ranks) + " ranks for " +
                    std::to_string(cluster.num_devices()) + " devices; expected at most as many");
    const std::size_t num_levels = cluster.levels().size();
    if (costs_.empty()) {
      for (std::size_t l = 0; l < num_levels; ++l) {
        costs_.push_back(2 * static_cast<double>(num_levels - l));
      }
    }
    WEIR_EXPECT(costs_.size() == num_levels, usage,
                "found " + std::to_string(costs_.size()) + " level costs; expected " +
                    std::to_string(num_levels));
    costs_.push_back(0);  // a device and itself
    for (const Traffic& pair : traffic) {
      WEIR_EXPECT(
          pair.a < num_ranks && pair.b < num_ranks && std::isfinite(pair.bytes) && pair.bytes >= 0,
          usage, "found traffic of a rank or a size that is not there");
      if (pair.a == pair.b) continue;
      neighbors_[pair.a].push_back({pair.b, pair.bytes});
      neighbors_[pair.b].push_back({pair.a, pair.bytes});
    }
  }

  std::size_t num_ranks() const { return neighbors_.size(); }
  std::vector<double> level_costs() const { return {costs_.begin(), costs_.end() - 1}; }

  double cost(const Devices& devices) const {
    double sum = 0;
    for (std::size_t r = 0; r < num_ranks(); ++r) sum += cost_of(devices, r, devices[r]);
    return sum / 2;
  }

  /// Swaps ranks as long as that makes the sum smaller.
  void refine(Devices& devices, std::size_t most_rounds) const {
    std::vector<std::uint32_t> rank_at(cluster_.num_devices(), none);
    for (std::size_t r = 0; r < num_ranks(); ++r) rank_at[devices[r]] = std::uint32_t(r);
    const std::vector<std::uint32_t> first = first_of_groups();
    bool has_gained = true;
    for (std::size_t round = 0; has_gained && round < most_rounds; ++round) {
      has_gained = false;
      for (std::uint32_t r = 0; r < num_ranks(); ++r) {
        const auto swap_with = [&](std::uint32_t device) {
          has_gained = try_swap(devices, rank_at, r, device) || has_gained;
        };
        if (num_ranks() <= few_ranks) {
          for (std::uint32_t device = 0; device < num_ranks(); ++device) swap_with(device);
          continue;
        }
        // Only a place beside one it talks to can be much better.
        for (const auto& [other, bytes] : neighbors_[r]) {
          const auto& group = cluster_.levels().back().group_of_device;
          for (std::uint32_t device = first[group[devices[other]]];
               device < num_ranks() && group[device] == group[devices[other]]; ++device) {
            swap_with(device);
          }
        }
      }
    }
  }

 private:
  struct Neighbor {
    std::uint32_t rank;
    double bytes;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  double cost_of(const Devices& devices, std::size_t rank, std::uint32_t device) const {
    double sum = 0;
    for (const auto& [other, bytes] : neighbors_[rank]) {
      sum += bytes * costs_[cluster_.common_level(device, devices[other])];
    }
    return sum;
  }

  std::vector<std::uint32_t> first_of_groups() const {
    std::vector<std::uint32_t> first;
    const auto& group = cluster_.levels().back().group_of_device;
    for (std::uint32_t d = 0; d < group.size(); ++d) {
      if (group[d] == first.size()) first.push_back(d);
    }
    return first;
  }

  /// The ranks lie on the first devices, so that every device of a swap holds one.
  bool try_swap(Devices& devices, std::vector<std::uint32_t>& rank_at, std::uint32_t r,
                std::uint32_t device) const {
    const std::uint32_t from = devices[r];
    const std::uint32_t other = rank_at[device];
    if (device == from || other == none) return false;
    const double before = cost_of(devices, r, from) + cost_of(devices, other, device);
    devices[r] = device;
    devices[other] = from;
    const double after = cost_of(devices, r, device) + cost_of(devices, other, from);
    if (after < before * (1 - 1e-12)) {
      rank_at[device] = r;
      rank_at[from] = other;
      return true;
    }
    devices[r] = from;
    devices[other] = device;
    return false;
  }

  const Topology& cluster_;
  std::vector<std::vector<Neighbor>> neighbors_;
  std::vector<double> costs_;
};

/// The device of each rank of a grid when dimension order[0] changes fastest over the devices.
Devices devices_in_order(const std::vector<Dimension>& grid,
                         const std::vector<std::size_t>& order) {
  std::vector<std::size_t> stride(grid.size(), 1);
  std::size_t step = 1;
  for (const std::size_t d : order) {
    stride[d] = step;
    step *= grid[d].size;
  }
  Devices devices(step);
  for (std::size_t rank = 0; rank < step; ++rank) {
    std::size_t rest = rank;
    std::size_t device = 0;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      device += rest % grid[d].size * stride[d];
      rest /= grid[d].size;
    }
    devices[rank] = static_cast<std::uint32_t>(device);
  }
  return devices;
}

struct Start {
  Devices devices;
  std::string source;
  double cost = 0;
};

std::vector<Start> orders_of(const std::vector<Dimension>& grid) {
  WEIR_EXPECT(!grid.empty() && grid.size() <= most_dimensions, usage,
              "found " + std::to_string(grid.size()) + " dimensions; expected 1 to " +
                  std::to_string(most_dimensions));
  std::vector<std::size_t> order(grid.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Start> starts;
  do {
    std::string name;
    for (const std::size_t d : order) name += (name.empty() ? "" : "-") + grid[d].name;
    starts.push_back({devices_in_order(grid, order), name});
  } while (std::next_permutation(order.begin(), order.end()));
  return starts;
}

Placement measured(const Layout& layout, const std::vector<Traffic>& traffic,
                   const Topology& cluster, Start start) {
  Placement placement;
  placement.hop_bytes = layout.cost(start.devices);
  placement.congestion_seconds = congestion_seconds(traffic, cluster, start.devices);
  placement.device_of_rank = std::move(start.devices);
  placement.source = std::move(start.source);
  return placement;
}

bool is_better(const Placement& a, const Placement& b) {
  const double margin = 1e-12 * b.hop_bytes;
  if (std::abs(a.hop_bytes - b.hop_bytes) > margin) return a.hop_bytes < b.hop_bytes;
  return a.congestion_seconds < b.congestion_seconds;
}

/// The best of the starts, each as it is.
std::size_t best_start(const Layout& layout, std::vector<Start>& starts) {
  for (Start& start : starts) start.cost = layout.cost(start.devices);
  const auto best = std::min_element(
      starts.begin(), starts.end(), [](const Start& a, const Start& b) { return a.cost < b.cost; });
  return static_cast<std::size_t>(best - starts.begin());
}

void add_random_starts(std::vector<Start>& starts, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < num_random_starts; ++i) {
    Start start{starts.front().devices, "random order"};
    for (std::size_t n = start.devices.size(); n > 1; --n) {
      std::swap(start.devices[n - 1], start.devices[random() % n]);
    }
    starts.push_back(std::move(start));
  }
}

/// The best of the starts and of Scotch's mapping, refined.
Placement refined(std::vector<Start> starts, Devices mapped, const Layout& layout,
                  const std::vector<Traffic>& traffic, const Topology& cluster,
                  const PlacementOptions& options) {
  const std::size_t num_ranks = layout.num_ranks();
  const bool has_few = num_ranks <= few_ranks;
  if (has_few) {
    add_random_starts(starts, options.seed);
  } else {
    starts = {std::move(starts[best_start(layout, starts)])};
  }
  if (!mapped.empty()) starts.push_back({std::move(mapped), "Scotch"});
  std::optional<Placement> best;
  for (Start& start : starts) {
    layout.refine(start.devices, has_few ? num_ranks * num_ranks : options.most_rounds);
    Placement placement = measured(layout, traffic, cluster, std::move(start));
    if (!best || is_better(placement, *best)) best = std::move(placement);
  }
  return *best;
}

Placement place_from(std::vector<Start> starts, const std::vector<Traffic>& traffic,
                     const Topology& cluster, const PlacementOptions& options) {
  const std::size_t num_ranks = starts.front().devices.size();
  const Layout layout(num_ranks, traffic, cluster, options);
  Devices mapped = map_by_scotch(num_ranks, traffic, cluster, layout.level_costs(), options.seed);
  return refined(std::move(starts), std::move(mapped), layout, traffic, cluster, options);
}

}  // namespace

std::vector<Traffic> grid_traffic(const std::vector<Dimension>& grid) {
  std::size_t num_ranks = 1;
  for (const Dimension& dimension : grid) {
    WEIR_EXPECT(dimension.size > 0 && dimension.size <= most_ranks / num_ranks, usage,
                "dimension " + dimension.name + ": found a size of " +
                    std::to_string(dimension.size) + "; expected 1 to 2^20 ranks in all");
    WEIR_EXPECT(std::isfinite(dimension.bytes) && dimension.bytes >= 0, usage,
                "dimension " + dimension.name + ": found " + std::to_string(dimension.bytes) +
                    " bytes; expected 0 or more");
    num_ranks *= dimension.size;
  }
  std::vector<Traffic> traffic;
  std::size_t stride = 1;
  for (const Dimension& dimension : grid) {
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
      const std::size_t at = rank / stride % dimension.size;
      const bool wraps = at + 1 == dimension.size;
      // A ring of two is one pair.
      if (dimension.size < 2 || (wraps && (!dimension.is_ring || dimension.size == 2))) continue;
      const std::size_t next = wraps ? rank - at * stride : rank + stride;
      traffic.push_back(
          {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(next), dimension.bytes});
    }
    stride *= dimension.size;
  }
  return traffic;
}

double congestion_seconds(const std::vector<Traffic>& traffic, const Topology& cluster,
                          const std::vector<std::uint32_t>& device_of_rank) {
  const auto& levels = cluster.levels();
  std::vector<std::vector<double>> bytes(levels.size() + 1);
  std::vector<std::vector<double>> sizes(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    bytes[l].assign(cluster.num_groups(l), 0);
    sizes[l].assign(cluster.num_groups(l), 0);
    for (const std::uint32_t group : levels[l].group_of_device) ++sizes[l][group];
  }
  bytes.back().assign(cluster.num_devices(), 0);
  for (const Traffic& pair : traffic) {
    WEIR_EXPECT(pair.a < device_of_rank.size() && pair.b < device_of_rank.size() &&
                    device_of_rank[pair.a] < cluster.num_devices() &&
                    device_of_rank[pair.b] < cluster.num_devices(),
                usage, "found traffic of a rank or a device that is not there");
    for (const std::uint32_t rank : {pair.a, pair.b}) {
      const std::uint32_t device = device_of_rank[rank];
      const std::uint32_t other = device_of_rank[rank == pair.a ? pair.b : pair.a];
      const std::size_t common = cluster.common_level(device, other);
      for (std::size_t l = common + 1; l < levels.size(); ++l) {
        bytes[l][levels[l].group_of_device[device]] += pair.bytes;
      }
      if (device != other) bytes.back()[device] += pair.bytes;
    }
  }
  double worst = 0;
  for (std::size_t l = 1; l <= levels.size(); ++l) {
    for (std::size_t g = 0; g < bytes[l].size(); ++g) {
      const double size = l < levels.size() ? sizes[l][g] : 1;
      worst = std::max(worst, bytes[l][g] / (size * levels[l - 1].link.bandwidth));
    }
  }
  return worst;
}

Placement best_dimension_order(const std::vector<Dimension>& grid, const Topology& cluster,
                               const PlacementOptions& options) {
  const auto traffic = grid_traffic(grid);
  std::vector<Start> starts = orders_of(grid);
  const Layout layout(starts.front().devices.size(), traffic, cluster, options);
  const std::size_t best = best_start(layout, starts);
  return measured(layout, traffic, cluster, std::move(starts[best]));
}

Placement place_grid(const std::vector<Dimension>& grid, const Topology& cluster,
                     const PlacementOptions& options) {
  const auto traffic = grid_traffic(grid);
  return place_from(orders_of(grid), traffic, cluster, options);
}

std::vector<Placement> candidate_placements(const std::vector<Dimension>& grid,
                                            const std::vector<Traffic>& traffic,
                                            const Topology& cluster,
                                            const PlacementOptions& options) {
  std::vector<Start> starts = orders_of(grid);
  const Layout layout(starts.front().devices.size(), traffic, cluster, options);
  Devices mapped =
      map_by_scotch(layout.num_ranks(), traffic, cluster, layout.level_costs(), options.seed);
  std::vector<Placement> candidates;
  for (const Start& start : starts) {
    candidates.push_back(measured(layout, traffic, cluster, start));
  }
  if (!mapped.empty()) {
    candidates.push_back(measured(layout, traffic, cluster, {mapped, "Scotch"}));
  }
  Placement best = refined(std::move(starts), std::move(mapped), layout, traffic, cluster, options);
  best.source += ", refined";
  candidates.push_back(std::move(best));
  return candidates;
}

Placement place(std::size_t num_ranks, const std::vector<Traffic>& traffic, const Topology& cluster,
                const PlacementOptions& options) {
  WEIR_EXPECT(num_ranks > 0 && num_ranks <= most_ranks, usage,
              "found " + std::to_string(num_ranks) + " ranks; expected 1 to 2^20");
  Start given{Devices(num_ranks), "given order"};
  std::iota(given.devices.begin(), given.devices.end(), std::uint32_t{0});
  return place_from({std::move(given)}, traffic, cluster, options);
}

}  // namespace weir::schedule
