// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/plan_placement.hpp>

#include <algorithm>
#include <cmath>

#include <weir/engine/simulation/plan_simulation.hpp>
#include <weir/engine/training/plan_traffic.hpp>

namespace weir::simulation {

namespace {

using training::PlacementScore;

/// Sums of the same parts in another order are the same time.
constexpr double equal_share = 1e-9;

bool is_better(const PlacementScore& left, const PlacementScore& right) {
  if (std::abs(left.seconds - right.seconds) > equal_share * right.seconds) {
    return left.seconds < right.seconds;
  }
  return left.hop_bytes < right.hop_bytes * (1 - equal_share);
}

/// Seconds of the plan with so many micro-batches.
double shortened_seconds(training::PlacedPlan plan, std::size_t num_micro_batches) {
  training::Layout& layout = plan.plan.layout;
  layout.global_batch =
      layout.data * layout.micro_batch * static_cast<std::int64_t>(num_micro_batches);
  plan.schedule = make_schedule(layout);
  return simulate(plan).seconds;
}

/// Once a pipeline is full, each further micro-batch takes as long as the one before: long
/// iterations are those of two short ones, extended.
double iteration_seconds(const training::PlacedPlan& plan) {
  constexpr std::size_t rounds = 8;  // of as many micro-batches as ranks
  const std::size_t few = rounds * plan.schedule.num_ranks();
  if (plan.schedule.num_micro_batches <= 2 * few) return simulate(plan).seconds;
  const double shorter = shortened_seconds(plan, few);
  const double longer = shortened_seconds(plan, 2 * few);
  return longer + static_cast<double>(plan.schedule.num_micro_batches - 2 * few) *
                      (longer - shorter) / static_cast<double>(few);
}

}  // namespace

training::PlacedPlan placed_best(training::PlacedPlan plan) {
  std::vector<schedule::Placement> candidates =
      schedule::candidate_placements(grid_of(plan.layout()), plan_traffic(plan), plan.cluster);
  std::size_t best = 0;
  plan.placements.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    plan.device_of_rank = candidates[i].device_of_rank;
    plan.placements.push_back({candidates[i].source, iteration_seconds(plan),
                               candidates[i].hop_bytes, candidates[i].congestion_seconds});
    if (is_better(plan.placements[i], plan.placements[best])) best = i;
  }
  plan.device_of_rank = std::move(candidates[best].device_of_rank);
  std::rotate(plan.placements.begin(), plan.placements.begin() + static_cast<std::ptrdiff_t>(best),
              plan.placements.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  return plan;
}

}  // namespace weir::simulation
