// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weir/engine/training/parallel_plan.hpp>

namespace weir::cli {

/// What was planned; the best plan is the first.
struct ParallelPlanInput {
  const training::ParallelPlanRequest& request;
  std::string cluster;
  const training::ParallelPlans& plans;
};

/// The plans as a table, best first, in seconds and GB.
std::string table_of(const ParallelPlanInput& input);

/// Where time and memory of each plan go, and what is slower and faster than in the best.
std::string explain(const ParallelPlanInput& input);

}  // namespace weir::cli
