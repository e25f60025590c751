// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/simulation/snapshot_simulation.hpp>

namespace weir::simulation {

namespace {

using schedule::SnapshotCosts;

TEST(SnapshotSimulationTest, MeetsTheExactFormula) {
  // Cheap and dear snapshots, rare and frequent failures, restarts that fail themselves.
  for (const SnapshotCosts& costs :
       {SnapshotCosts{0.2, 21600, 30}, SnapshotCosts{60, 3600, 0}, SnapshotCosts{300, 1000, 400}}) {
    for (const double factor : {0.25, 1.0, 4.0}) {
      const double interval = factor * refined_daly_interval(costs);
      const double expected = expected_waste(costs, interval);
      const double found = simulate_snapshots(costs, interval, 400000, 7).waste();
      EXPECT_NEAR(found / expected, 1, 0.02) << costs.stall_seconds << " s, times " << factor;
    }
  }
}

TEST(SnapshotSimulationTest, WasteIsLeastAtTheRefinedInterval) {
  for (const SnapshotCosts& costs : {SnapshotCosts{0.2, 21600, 30}, SnapshotCosts{60, 7200, 300}}) {
    const double best = refined_daly_interval(costs);
    const double least = simulate_snapshots(costs, best, 400000, 1).waste();
    for (const double factor : {0.25, 0.5, 0.7, 1.4, 2.0, 4.0}) {
      EXPECT_GT(simulate_snapshots(costs, factor * best, 400000, 1).waste(), least) << factor;
    }
  }
}

TEST(SnapshotSimulationTest, IsAFunctionOfItsSeed) {
  const SnapshotCosts costs{1, 1000, 10};
  const SnapshotRun one = simulate_snapshots(costs, 50, 1000, 1);
  const SnapshotRun again = simulate_snapshots(costs, 50, 1000, 1);
  EXPECT_EQ(one.useful_seconds, again.useful_seconds);
  EXPECT_EQ(one.total_seconds, again.total_seconds);
  EXPECT_NE(simulate_snapshots(costs, 50, 1000, 2).total_seconds, one.total_seconds);
  // The same failures whatever the interval.
  EXPECT_EQ(simulate_snapshots(costs, 500, 1000, 1).total_seconds, one.total_seconds);
}

TEST(SnapshotSimulationTest, NeverASnapshotIsAllWaste) {
  EXPECT_TRUE(std::isinf(simulate_snapshots({1, 1, 0}, 1e6, 100, 1).waste()));
}

TEST(SnapshotSimulationTest, RefusesWhatCannotBe) {
  EXPECT_THROW(simulate_snapshots({1, 1, 0}, 1, 0, 1), Error);
  EXPECT_THROW(simulate_snapshots({1, 1, 0}, -1, 1, 1), Error);
  EXPECT_THROW(simulate_snapshots({0, 1, 0}, 1, 1, 1), Error);
}

}  // namespace

}  // namespace weir::simulation
