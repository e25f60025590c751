// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <weir/engine/training/placed_plan.hpp>

namespace weir::cli {

/// What was planned; the best plan is the first.
struct ParallelPlanInput {
  const training::ParallelPlanRequest& request;
  std::string cluster;
  const training::ParallelPlans& plans;
  const std::vector<training::PlacementScore>& placements;  ///< Of the best plan, chosen first.
};

/// `tensor-data-pipeline, of 8 placements: 31.9299 s simulated, 427.527e12 bytes x hops, ...`
std::string describe(const std::vector<training::PlacementScore>& placements);

/// The plans as a table, best first, in seconds and GB.
std::string table_of(const ParallelPlanInput& input);

/// Where time and memory of each plan go, what is slower and faster than in the best, and what
/// other placements of that would take.
std::string explain(const ParallelPlanInput& input);

}  // namespace weir::cli
