// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/snapshot_policy.hpp>

#include <algorithm>
#include <cmath>

#include <weir/engine/model/check.hpp>

namespace weir::schedule {

namespace {

void check(const SnapshotCosts& costs) {
  WEIR_EXPECT(std::isfinite(costs.stall_seconds) && costs.stall_seconds > 0, usage,
              "snapshot policy: a snapshot's stall must be a time above 0");
  WEIR_EXPECT(std::isfinite(costs.mtbf_seconds) && costs.mtbf_seconds > 0, usage,
              "snapshot policy: the mean time between failures must be a time above 0");
  WEIR_EXPECT(std::isfinite(costs.restart_seconds) && costs.restart_seconds >= 0, usage,
              "snapshot policy: the time to restart must be a time, 0 or more");
}

void check(const SnapshotCosts& costs, double interval) {
  check(costs);
  WEIR_EXPECT(std::isfinite(interval) && interval > 0, usage,
              "snapshot policy: the interval must be a time above 0");
}

}  // namespace

double young_interval(const SnapshotCosts& costs) {
  check(costs);
  return std::sqrt(2 * costs.stall_seconds * costs.mtbf_seconds);
}

double daly_interval(const SnapshotCosts& costs) {
  check(costs);
  const double root =
      std::sqrt(2 * costs.stall_seconds * (costs.mtbf_seconds + costs.restart_seconds));
  return std::max(0.0, root - costs.stall_seconds);
}

double refined_daly_interval(const SnapshotCosts& costs) {
  check(costs);
  const double ratio = costs.stall_seconds / (2 * costs.mtbf_seconds);
  if (ratio >= 1) return costs.mtbf_seconds;
  return young_interval(costs) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - costs.stall_seconds;
}

double first_order_waste(const SnapshotCosts& costs, double interval) {
  check(costs, interval);
  return costs.stall_seconds / interval + interval / (2 * costs.mtbf_seconds) +
         costs.restart_seconds / costs.mtbf_seconds;
}

double expected_waste(const SnapshotCosts& costs, double interval) {
  check(costs, interval);
  const double mtbf = costs.mtbf_seconds;
  const double segment = std::expm1((interval + costs.stall_seconds) / mtbf);
  return mtbf * std::exp(costs.restart_seconds / mtbf) * segment / interval - 1;
}

double default_mtbf_seconds(std::uint64_t num_nodes) {
  WEIR_EXPECT(num_nodes > 0, usage, "snapshot policy: found no node; expected one at least");
  constexpr double day = 24 * 3600;
  return day / static_cast<double>(num_nodes);
}

std::uint64_t supersteps_between_snapshots(const SnapshotCosts& costs,
                                           const SnapshotMeasures& measures) {
  WEIR_EXPECT(std::isfinite(measures.superstep_seconds) && measures.superstep_seconds > 0, usage,
              "snapshot policy: a superstep must take a time above 0");
  WEIR_EXPECT(std::isfinite(measures.persist_seconds) && measures.persist_seconds >= 0 &&
                  measures.most_in_flight > 0,
              usage,
              "snapshot policy: writing must take a time, with one snapshot in flight or more");
  const double nearest = std::round(refined_daly_interval(costs) / measures.superstep_seconds);
  const double fewest =
      std::ceil(measures.persist_seconds / measures.most_in_flight / measures.superstep_seconds);
  constexpr double most = 1e18;
  return static_cast<std::uint64_t>(std::clamp(std::max(nearest, fewest), 1.0, most));
}

}  // namespace weir::schedule
