// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/engine/schedule/topology.hpp>

namespace weir::schedule {

/// Bytes that two ranks exchange per step, both ways together.
struct Traffic {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double bytes = 0;
};

/// One dimension of a grid of ranks: data, tensor or pipeline parallelism.
struct Dimension {
  std::string name;
  std::size_t size = 1;
  double bytes = 0;     ///< Between neighbours along it, per step.
  bool is_ring = true;  ///< The last talks to the first as well.
};

/// Ranks of a grid, the first dimension changing fastest, and what its neighbours exchange.
/// Throws Error{usage} for a size of 0, over 2^20 ranks, or bytes that are not finite or negative.
std::vector<Traffic> grid_traffic(const std::vector<Dimension>& grid);

struct PlacementOptions {
  /// What a byte between two devices costs by their innermost common level, outermost first; empty:
  /// the hops between them.
  std::vector<double> level_costs{};
  std::uint64_t seed = 1;
  /// Rounds of swaps over all ranks at most; they end earlier once none helps.
  std::size_t most_rounds = 8;
};

/// Where each rank goes.
struct Placement {
  std::vector<std::uint32_t> device_of_rank;  ///< Each device once at most.
  double hop_bytes = 0;           ///< Sum over all pairs of bytes times hops, or level costs.
  double congestion_seconds = 0;  ///< The most loaded uplink of any group or device.
  std::string source;             ///< What it was made from: an order of dimensions, or Scotch.
};

/// The time of the most loaded link: of every group the bytes that leave it, over the bandwidth of
/// its devices at the level above. Throws Error{usage} for a rank or a device that is not there.
double congestion_seconds(const std::vector<Traffic>& traffic, const Topology& cluster,
                          const std::vector<std::uint32_t>& device_of_rank);

/// Places the ranks of a grid on the first devices of a cluster: the best of all orders of the
/// dimensions and of Scotch's mapping, refined by swaps of two ranks; least hop bytes, then least
/// congestion. Never worse than an order of the dimensions. Throws Error{usage} for more ranks than
/// devices or more than six dimensions.
Placement place_grid(const std::vector<Dimension>& grid, const Topology& cluster,
                     const PlacementOptions& options = {});

/// All that there is to choose from for ranks of a grid that exchange `traffic`: every order of the
/// dimensions, the first as numbered; Scotch's mapping, where there is one; and the best of these
/// refined by swaps, named after what it was made from. Throws as place_grid() does.
std::vector<Placement> candidate_placements(const std::vector<Dimension>& grid,
                                            const std::vector<Traffic>& traffic,
                                            const Topology& cluster,
                                            const PlacementOptions& options = {});

/// Places ranks by what they exchange: the best of the given order and Scotch's mapping, refined.
Placement place(std::size_t num_ranks, const std::vector<Traffic>& traffic, const Topology& cluster,
                const PlacementOptions& options = {});

/// The best of all orders of the dimensions alone, for comparison.
Placement best_dimension_order(const std::vector<Dimension>& grid, const Topology& cluster,
                               const PlacementOptions& options = {});

}  // namespace weir::schedule
