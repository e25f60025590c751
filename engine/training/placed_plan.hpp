// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/parallel_plan.hpp>
#include <weir/engine/training/schedule.hpp>

namespace weir::training {

/// Where a rank is in the grid of a layout.
struct RankCoordinates {
  std::size_t tensor = 0;
  std::size_t context = 0;
  std::size_t pipeline = 0;
  std::size_t data = 0;

  friend bool operator==(const RankCoordinates&, const RankCoordinates&) = default;
};

/// Ranks are numbered tensor, context, pipeline, data from the inside.
RankCoordinates coordinates_of(const Layout& layout, std::size_t rank);
std::size_t rank_at(const Layout& layout, const RankCoordinates& at);

/// A way to place the ranks of a plan, and what it costs in an iteration.
struct PlacementScore {
  std::string source;         ///< Dimensions from the inside, or Scotch; what was refined.
  double seconds = 0;         ///< Of the iteration, simulated event by event.
  double hop_bytes = 0;       ///< Bytes times the edges of the cluster's tree that they cross.
  double uplink_seconds = 0;  ///< That the most loaded uplink is busy.
};

/// A parallel plan with all that it takes to run or to simulate it: who is on which device, and
/// what each does in which order.
struct PlacedPlan {
  Transformer model;
  ParallelPlan plan;  ///< The layout, and its predicted time and memory.
  Machine machine;
  Software software;
  schedule::Topology cluster;
  std::vector<std::uint32_t> device_of_rank;
  PipelineSchedule schedule;
  double memory_limit_bytes = 0;  ///< Of a device; 0: none.
  std::int64_t num_considered = 0;
  std::int64_t num_fitting = 0;

  /// The chosen placement, then what it was compared to; none: ranks are in order, unasked.
  std::vector<PlacementScore> placements{};

  const Layout& layout() const { return plan.layout; }
};

/// The best of the plans that were found for a request, rank r on device r. Throws Error{input}
/// where the cluster has fewer devices than the plan has ranks.
PlacedPlan place_in_order(const ParallelPlanRequest& request, const ParallelPlans& found,
                          const schedule::Topology& cluster);

/// Layers of each stage, a chunk of a rank: as even as they can be, more on the last ones.
std::vector<std::int64_t> layers_of_stages(const PlacedPlan& plan);

}  // namespace weir::training
