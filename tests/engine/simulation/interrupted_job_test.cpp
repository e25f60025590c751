// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/interrupted_job.hpp>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/snapshot_policy.hpp>

namespace weir::simulation {

namespace {

InterruptedJob job_of(std::int64_t num_iterations) {
  InterruptedJob job;
  job.num_iterations = num_iterations;
  job.iteration_seconds = 10;
  job.snapshot_every = 4;
  job.snapshot_seconds = 2;
  job.restart_seconds = 100;
  return job;
}

TEST(InterruptedJobTest, WithoutFailuresItIsWorkAndSnapshots) {
  const JobTime time = run(job_of(10));
  EXPECT_EQ(time.work, 100);
  EXPECT_EQ(time.num_snapshots, 2);  // after 4 and 8
  EXPECT_EQ(time.total(), 104);
  EXPECT_EQ(run(job_of(8)).num_snapshots, 1);  // none at the end
}

TEST(InterruptedJobTest, AFailureLosesWhatNoSnapshotHas) {
  InterruptedJob job = job_of(10);
  job.failures = {57};  // a snapshot ends at 42; one iteration more, half of the next
  JobTime time = run(job);
  EXPECT_EQ(time.lost, 15);
  EXPECT_EQ(time.restarts, 100);
  EXPECT_EQ(time.total(), 104 + 15 + 100);
  job.failures = {57, 100};  // while it restarts
  time = run(job);
  EXPECT_EQ(time.num_failures, 2);
  EXPECT_EQ(time.restarts, 143);
  EXPECT_EQ(time.lost, 15);
  job.failures = {41};  // while it saves
  time = run(job);
  EXPECT_EQ(time.lost, 41);
  EXPECT_EQ(time.work, 100);
  job.failures = {1000};
  EXPECT_EQ(run(job).num_failures, 0);
}

TEST(InterruptedJobTest, RandomFailuresCostWhatTheFormulaSays) {
  InterruptedJob job = job_of(1'000'000);
  job.mean_seconds_between_failures = 20'000;
  const schedule::SnapshotCosts costs{job.snapshot_seconds, job.mean_seconds_between_failures,
                                      job.restart_seconds};
  job.snapshot_every = static_cast<std::int64_t>(
      schedule::supersteps_between_snapshots(costs, {job.iteration_seconds, 0, 1}));
  EXPECT_EQ(job.snapshot_every, 28);  // some sqrt(2 * 2 * 20,000) s
  const JobTime time = run(job);
  EXPECT_NEAR(time.total(), time.work + time.snapshots + time.lost + time.restarts, 1e-6);
  EXPECT_NEAR(time.work, 1e7, 1);
  EXPECT_NEAR(time.total() / time.work - 1, schedule::expected_waste(costs, 280), 0.001);
  EXPECT_EQ(run(job).total(), time.total());
  // Daly's interval is no worse than half or twice as long.
  for (const std::int64_t every : {14, 56}) {
    InterruptedJob other = job;
    other.snapshot_every = every;
    EXPECT_GT(run(other).total(), time.total());
  }
}

TEST(InterruptedJobTest, AJobThatNeverEndsIsRefused) {
  InterruptedJob job = job_of(1000);
  job.mean_seconds_between_failures = 1;
  job.restart_seconds = 0;
  EXPECT_THROW(run(job), Error);
  job.restart_seconds = 1000;
  EXPECT_THROW(run(job), Error);
  job.restart_seconds = -1;
  EXPECT_THROW(run(job), Error);
}

}  // namespace

}  // namespace weir::simulation
