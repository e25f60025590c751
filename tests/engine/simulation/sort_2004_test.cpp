// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/simulation/sort_2004.hpp>

namespace weir::simulation {

namespace {

using schedule::StragglerRule;

const SortRow& row_of(const SortReport& report, StragglerRule rule, bool has_failures) {
  return *std::find_if(report.rows.begin(), report.rows.end(), [&](const SortRow& row) {
    return row.straggler.rule == rule && row.has_failures == has_failures;
  });
}

TEST(Sort2004Test, BackupTasksAndKilledWorkersAsPublished) {
  const SortReport report = simulate_sort_2004({.num_runs = 5});
  EXPECT_TRUE(report.is_met());
  const SortRow& off = row_of(report, StragglerRule::off, false);
  const SortRow& of_2004 = row_of(report, StragglerRule::mapreduce_2004, false);
  const SortRow& killed = row_of(report, StragglerRule::mapreduce_2004, true);
  const SortRow& by_rate = row_of(report, StragglerRule::progress_rate, false);
  // [Dean04 §5.3-5.5]: 891 s, 933 s with kills, 1,283 s without backup tasks.
  EXPECT_EQ(of_2004.paper_seconds, 891);
  EXPECT_NEAR(of_2004.seconds, 891, 0.05 * 891);
  EXPECT_EQ(killed.paper_seconds, 933);
  EXPECT_NEAR(killed.seconds, 933, 0.05 * 933);
  EXPECT_EQ(off.paper_seconds, 1283);
  EXPECT_NEAR(off.seconds, 1283, 0.05 * 1283);
  EXPECT_NEAR(off.num_late, 5, 1);
  EXPECT_NEAR(off.last_map_seconds, 200, 5);
  EXPECT_NEAR(off.first_reduce_seconds, 300, 15);
  EXPECT_GE(killed.seconds, of_2004.seconds);
  // Rows that constants were fitted to are no predictions.
  EXPECT_TRUE(off.is_fitted);
  EXPECT_FALSE(of_2004.is_fitted || killed.is_fitted);
  // What the default rule is for: nearly all of the gain for a small part of the waste.
  EXPECT_LT(by_rate.seconds, 1.05 * of_2004.seconds);
  EXPECT_LT(by_rate.wasted_share, 0.1 * of_2004.wasted_share);
}

TEST(Sort2004Test, OtherKillsHaveNoPublishedFigure) {
  const SortReport report = simulate_sort_2004({.num_runs = 1, .num_killed = 1700});
  const SortRow& killed = row_of(report, StragglerRule::mapreduce_2004, true);
  EXPECT_FALSE(killed.paper_seconds);
  EXPECT_EQ(killed.error(), 0);
  // Nearly all is begun anew at 240 s.
  EXPECT_GT(killed.seconds, row_of(report, StragglerRule::mapreduce_2004, false).seconds + 60);
}

TEST(Sort2004Test, AMissedRowIsSaid) {
  SortReport report;
  SortRow& row = report.rows.emplace_back();
  row.paper_seconds = 100;
  row.seconds = 104;
  EXPECT_TRUE(report.is_met());
  row.seconds = 106;
  EXPECT_FALSE(report.is_met());
  row.is_fitted = true;
  EXPECT_TRUE(report.is_met());
}

TEST(Sort2004Test, RefusesWhatCannotBe) {
  EXPECT_THROW(simulate_sort_2004({.num_runs = 0}), Error);
  EXPECT_THROW(simulate_sort_2004({.num_runs = 1, .num_killed = 1747}), Error);
  EXPECT_THROW(simulate_sort_2004({.num_runs = 1, .kill_seconds = -1}), Error);
}

}  // namespace

}  // namespace weir::simulation
