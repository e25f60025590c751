// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/snapshot_policy.hpp>

namespace weir::schedule {

namespace {

constexpr double day = 24 * 3600;

/// The interval of least waste: golden section over its logarithm, without any formula.
double best_interval(const SnapshotCosts& costs) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(costs.stall_seconds / 100);
  double high = std::log(costs.mtbf_seconds * 20);
  const auto waste = [&](double x) { return expected_waste(costs, std::exp(x)); };
  for (int i = 0; i < 200; ++i) {
    const double a = high - golden * (high - low);
    const double b = low + golden * (high - low);
    (waste(a) < waste(b) ? high : low) = waste(a) < waste(b) ? b : a;
  }
  return std::exp((low + high) / 2);
}

TEST(SnapshotPolicyTest, IntervalsByHand) {
  // A stall of 0.2 s and a failure every 6 hours: sqrt(8640).
  const SnapshotCosts often{0.2, 6 * 3600, 0};
  EXPECT_NEAR(young_interval(often), 92.95, 0.005);
  EXPECT_NEAR(daly_interval(often), 92.75, 0.005);
  // 92.952 (1 + 0.0021517 / 3 + 0.0000046 / 9) - 0.2.
  EXPECT_NEAR(refined_daly_interval(often), 92.818, 0.001);
  // 5 minutes, and a day, with 10 minutes to restart: sqrt(2 300 86400), sqrt(2 300 87000) - 300.
  const SnapshotCosts heavy{300, day, 600};
  EXPECT_NEAR(young_interval(heavy), 7200, 1e-9);
  EXPECT_NEAR(daly_interval(heavy), std::sqrt(5.22e7) - 300, 1e-9);
  // 7200 (1 + sqrt(1 / 576) / 3 + 1 / 5184) - 300, by hand 7200 + 100 + 25 / 18 - 300.
  EXPECT_NEAR(refined_daly_interval(heavy), 7000 + 25.0 / 18, 1e-9);
}

TEST(SnapshotPolicyTest, DearSnapshotsAreTakenOncePerFailure) {
  EXPECT_EQ(refined_daly_interval({200, 100, 0}), 100);
  EXPECT_EQ(refined_daly_interval({1000, 100, 50}), 100);
  EXPECT_EQ(daly_interval({1000, 100, 0}), 0);
}

TEST(SnapshotPolicyTest, WasteIsLeastAtTheRefinedInterval) {
  for (const double stall : {0.01, 0.2, 5.0, 60.0}) {
    for (const double mtbf : {3600.0, 6 * 3600.0, 30 * day}) {
      const SnapshotCosts costs{stall, mtbf, 30};
      const double best = best_interval(costs);
      EXPECT_NEAR(refined_daly_interval(costs) / best, 1, 0.002) << stall << " s, " << mtbf;
      EXPECT_LE(expected_waste(costs, best),
                expected_waste(costs, refined_daly_interval(costs)) * (1 + 1e-9));
      // The ends of a wide valley.
      EXPECT_GT(expected_waste(costs, best * 4), 1.2 * expected_waste({stall, mtbf, 0}, best));
      EXPECT_GT(expected_waste(costs, best / 4), 1.2 * expected_waste({stall, mtbf, 0}, best));
    }
  }
  // Where a snapshot takes half of the mean time between failures, it is still near.
  const SnapshotCosts extreme{500, 1000, 0};
  EXPECT_NEAR(refined_daly_interval(extreme) / best_interval(extreme), 1, 0.05);
}

TEST(SnapshotPolicyTest, WasteToFirstOrderMeetsTheExactOne) {
  const SnapshotCosts costs{0.2, 6 * 3600, 30};
  for (const double interval : {20.0, 92.8, 400.0}) {
    const double exact = expected_waste(costs, interval);
    EXPECT_NEAR(first_order_waste(costs, interval) / exact, 1, 0.02);
  }
  // By hand: 0.2 / 100 + 100 / 43200 + 30 / 21600.
  EXPECT_NEAR(first_order_waste(costs, 100), 0.0057037, 1e-7);
  // M e^(R/M) (e^((T+C)/M) - 1) / T - 1 with all of them 1: e (e^2 - 1) - 1.
  EXPECT_NEAR(expected_waste({1, 1, 1}, 1), std::exp(3.0) - std::exp(1.0) - 1, 1e-12);
}

TEST(SnapshotPolicyTest, SuperstepsBetweenSnapshots) {
  const SnapshotCosts costs{0.2, 6 * 3600, 0};  // 92.8 s.
  EXPECT_EQ(supersteps_between_snapshots(costs, {.superstep_seconds = 1}), 93U);
  EXPECT_EQ(supersteps_between_snapshots(costs, {.superstep_seconds = 10}), 9U);
  // A superstep longer than the interval: after each.
  EXPECT_EQ(supersteps_between_snapshots(costs, {.superstep_seconds = 1000}), 1U);
  // No more often than they are written: 200 s each, or two at a time.
  EXPECT_EQ(supersteps_between_snapshots(costs, {.superstep_seconds = 3, .persist_seconds = 200}),
            67U);
  EXPECT_EQ(supersteps_between_snapshots(
                costs, {.superstep_seconds = 1, .persist_seconds = 200, .most_in_flight = 2}),
            100U);
  EXPECT_GT(supersteps_between_snapshots({1, 1e300, 0}, {.superstep_seconds = 1e-300}), 1U);
}

TEST(SnapshotPolicyTest, OneFailurePerNodeAndDay) {
  EXPECT_EQ(default_mtbf_seconds(1), day);
  EXPECT_EQ(default_mtbf_seconds(24), 3600);
  EXPECT_THROW(default_mtbf_seconds(0), Error);
}

TEST(SnapshotPolicyTest, RefusesWhatCannotBe) {
  for (const SnapshotCosts& costs : std::vector<SnapshotCosts>{
           {0, 1, 0}, {-1, 1, 0}, {1, 0, 0}, {1, 1, -1}, {1, NAN, 0}, {1, INFINITY, 0}}) {
    EXPECT_THROW(young_interval(costs), Error);
    EXPECT_THROW(daly_interval(costs), Error);
    EXPECT_THROW(refined_daly_interval(costs), Error);
    EXPECT_THROW(expected_waste(costs, 1), Error);
  }
  EXPECT_THROW(expected_waste({1, 1, 0}, 0), Error);
  EXPECT_THROW(first_order_waste({1, 1, 0}, NAN), Error);
  EXPECT_THROW(supersteps_between_snapshots({1, 1, 0}, {.superstep_seconds = 0}), Error);
  EXPECT_THROW(
      supersteps_between_snapshots({1, 1, 0}, {.superstep_seconds = 1, .most_in_flight = 0}),
      Error);
}

}  // namespace

}  // namespace weir::schedule
