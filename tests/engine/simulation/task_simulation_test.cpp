// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/simulation/task_simulation.hpp>

namespace weir::simulation {

namespace {

using schedule::StragglerRule;

constexpr StragglerRule all_rules[] = {StragglerRule::progress_rate, StragglerRule::mapreduce_2004,
                                       StragglerRule::off, StragglerRule::forced};

Stage stage_of(std::uint32_t num_tasks, double seconds) {
  Stage stage;
  stage.name = "work";
  stage.num_tasks = num_tasks;
  stage.task_seconds = seconds;
  return stage;
}

TaskJob job_of(std::uint32_t num_workers, std::vector<Stage> stages,
               StragglerRule rule = StragglerRule::off) {
  TaskJob job;
  job.num_workers = num_workers;
  job.stages = std::move(stages);
  job.straggler.rule = rule;
  return job;
}

TEST(TaskSimulationTest, EqualTasksComeInWaves) {
  TaskJob job = job_of(4, {stage_of(10, 3)});
  job.start_seconds = 5;
  const TaskOutcome outcome = simulate(job);
  EXPECT_DOUBLE_EQ(outcome.seconds, 5 + 3 * 3);
  EXPECT_DOUBLE_EQ(outcome.useful_seconds, 30);
  EXPECT_EQ(outcome.wasted_seconds, 0);
  const std::vector<double> ends = {8, 8, 8, 8, 11, 11, 11, 11, 14, 14};
  EXPECT_EQ(outcome.end_seconds.at(0), ends);
}

TEST(TaskSimulationTest, ListSchedulingByHand) {
  // [Graham69]: 2 m - 1 tasks in the worst order, m = 3: 5 with list scheduling, 3 at best.
  Stage stage = stage_of(7, 1);
  stage.works = {1, 1, 1, 1, 1, 1, 3};
  EXPECT_DOUBLE_EQ(simulate(job_of(3, {stage})).seconds, 5);
  std::reverse(stage.works.begin(), stage.works.end());
  EXPECT_DOUBLE_EQ(simulate(job_of(3, {stage})).seconds, 3);
}

TEST(TaskSimulationTest, ATaskWaitsForTheStageBefore) {
  // First stage: 10 s. Second: 8 s of which a quarter can be done before: 10 + 6; then 8 more.
  Stage second = stage_of(4, 8);
  second.early_share = 0.25;
  const TaskOutcome outcome = simulate(job_of(2, {stage_of(4, 5), second}));
  EXPECT_EQ(outcome.end_seconds.at(0), (std::vector<double>{5, 5, 10, 10}));
  EXPECT_EQ(outcome.end_seconds.at(1), (std::vector<double>{16, 16, 24, 24}));
  // The slot was held while it waited.
  EXPECT_DOUBLE_EQ(outcome.useful_seconds, 4 * 5 + 2 * 16 + 2 * 8);
}

TEST(TaskSimulationTest, ADeadWorkersTaskBeginsAnewAndItsOutputsAreMadeAgain) {
  Stage first = stage_of(4, 5);
  TaskJob job = job_of(2, {first, stage_of(2, 100)});
  // At 12 s worker 0 has done two tasks of the first stage, and 2 s of the second.
  job.failures = {{12, 0, 3}};
  TaskOutcome outcome = simulate(job);
  EXPECT_DOUBLE_EQ(outcome.seconds, 12 + 3 + 100);
  EXPECT_DOUBLE_EQ(outcome.useful_seconds, 20 + 110 + 100);
  EXPECT_DOUBLE_EQ(outcome.wasted_seconds, 12);

  // With its outputs gone, two tasks anew: one on the other worker from 12 to 17 s, one on itself
  // from 15 to 20 s; until then its task of the second stage waits.
  job.stages[0].output_dies_with_worker = true;
  outcome = simulate(job);
  EXPECT_EQ(outcome.end_seconds.at(0), (std::vector<double>{20, 5, 17, 10}));
  EXPECT_EQ(outcome.end_seconds.at(1), (std::vector<double>{120, 110}));
  EXPECT_DOUBLE_EQ(outcome.wasted_seconds, 12 + 10);
}

TEST(TaskSimulationTest, ACloneOvertakesASlowWorker) {
  TaskJob job = job_of(10, {stage_of(10, 10)}, StragglerRule::progress_rate);
  // One of ten workers is ten times slower, by whatever seed makes it so.
  job.worker_slowness = {0.1, 10, 10};
  job.straggler.rule = StragglerRule::off;
  const auto num_slow = [&] {
    const auto ends = simulate(job).end_seconds.at(0);
    return std::count(ends.begin(), ends.end(), 100.0);
  };
  while (num_slow() != 1) ++job.seed;
  for (const auto rule : {StragglerRule::progress_rate, StragglerRule::mapreduce_2004}) {
    job.straggler.rule = rule;
    const TaskOutcome outcome = simulate(job);
    // Seen at the next poll after the others end at 10 s, and done in 10 s more.
    EXPECT_LE(outcome.seconds, 21.0001);
    EXPECT_GE(outcome.seconds, 20);
    EXPECT_GE(outcome.num_clones_won, 1U);
    EXPECT_EQ(outcome.num_clones, outcome.num_clones_won);
    EXPECT_GE(outcome.wasted_seconds, outcome.seconds - 1e-9);
  }
}

TEST(TaskSimulationTest, SkewIsNotCloned) {
  Stage stage = stage_of(40, 1);
  for (int t = 0; t < 40; ++t) stage.works.push_back(t == 39 ? 500 : 1 + t % 7);
  const TaskOutcome without = simulate(job_of(8, {stage}));
  const TaskOutcome with = simulate(job_of(8, {stage}, StragglerRule::progress_rate));
  EXPECT_EQ(with.num_clones, 0U);
  EXPECT_EQ(with.seconds, without.seconds);
  // The rule of 2004 knows no rates, and copies it for nothing.
  const TaskOutcome of_2004 = simulate(job_of(8, {stage}, StragglerRule::mapreduce_2004));
  EXPECT_GE(of_2004.num_clones, 1U);
  EXPECT_EQ(of_2004.num_clones_won, 0U);
  EXPECT_EQ(of_2004.seconds, without.seconds);
  EXPECT_GT(of_2004.wasted_seconds, 400);
}

TEST(TaskSimulationTest, ForcedClonesEveryTask) {
  TaskJob job = job_of(4, {stage_of(4, 100)}, StragglerRule::forced);
  job.stages[0].spread = 0.3;
  const TaskOutcome outcome = simulate(job);
  EXPECT_GE(outcome.num_clones, 1U);
  EXPECT_LE(outcome.num_clones, 4U);
  // Twice as many workers as tasks: all copies run.
  job.num_workers = 9;
  job.stages[0].num_tasks = 3;
  EXPECT_EQ(simulate(job).num_clones, 3U);
}

TEST(TaskSimulationTest, IsAFunctionOfItsSeed) {
  TaskJob job = job_of(30, {stage_of(200, 5), stage_of(100, 20)});
  for (Stage& stage : job.stages) {
    stage.spread = 0.2;
    stage.slowness = {0.05, 2, 5};
    stage.output_dies_with_worker = true;
  }
  job.worker_slowness = {0.05, 1.5, 3};
  job.failures = {{20, 3, 10}, {40, 7, 0}, {40, 8, 0}, {60, 3, 5}};
  for (const StragglerRule rule : all_rules) {
    job.straggler.rule = rule;
    job.seed = 1;
    const TaskOutcome one = simulate(job);
    const TaskOutcome again = simulate(job);
    EXPECT_EQ(one.seconds, again.seconds);
    EXPECT_EQ(one.end_seconds, again.end_seconds);
    EXPECT_EQ(one.wasted_seconds, again.wasted_seconds);
    job.seed = 2;
    EXPECT_NE(simulate(job).seconds, one.seconds);
  }
}

TEST(TaskSimulationTest, EndsUnderAnyFailures) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const StragglerRule rule : all_rules) {
      TaskJob job = job_of(6, {stage_of(25, 4), stage_of(11, 9)}, rule);
      job.seed = seed;
      for (Stage& stage : job.stages) stage.spread = 0.3, stage.slowness = {0.2, 2, 6};
      job.stages[0].output_dies_with_worker = true;
      job.stages[1].early_share = 0.3;
      for (std::uint32_t f = 0; f < 30; ++f) {
        job.failures.push_back(
            {1.7 * f, static_cast<std::uint32_t>((f * seed) % 6), 0.5 * (f % 9)});
      }
      const TaskOutcome outcome = simulate(job);
      for (const auto& ends : outcome.end_seconds) {
        EXPECT_GT(*std::min_element(ends.begin(), ends.end()), 0);
      }
      EXPECT_EQ(outcome.seconds,
                *std::max_element(outcome.end_seconds[1].begin(), outcome.end_seconds[1].end()));
      EXPECT_LE(outcome.num_clones_won, outcome.num_clones);
      EXPECT_GE(outcome.wasted_seconds, 0);
      if (rule == StragglerRule::off) {
        EXPECT_EQ(outcome.num_clones, 0U);
      }
      // No lane did two things at once.
      EXPECT_LE(outcome.useful_seconds + outcome.wasted_seconds, 2 * 6 * outcome.seconds);
    }
  }
}

TEST(TaskSimulationTest, SpreadIsLogNormal) {
  Stage stage = stage_of(40000, 10);
  stage.spread = 0.5;
  TaskJob job = job_of(40000, {stage});
  job.poll_seconds = 1e6;
  std::vector<double> ends = simulate(job).end_seconds.at(0);
  std::sort(ends.begin(), ends.end());
  EXPECT_NEAR(ends[20000], 10, 0.1);
  // One deviation of the logarithm holds 84.13 %.
  EXPECT_NEAR(ends[33654], 10 * std::exp(0.5), 0.2);
  EXPECT_NEAR(std::accumulate(ends.begin(), ends.end(), 0.0) / 40000, 10 * std::exp(0.125), 0.1);
}

TEST(TaskSimulationTest, RefusesWhatCannotBe) {
  const TaskJob good = job_of(2, {stage_of(2, 1)});
  const auto refused = [&](auto spoil) {
    TaskJob job = good;
    spoil(job);
    EXPECT_THROW(simulate(job), Error);
  };
  refused([](TaskJob& job) { job.num_workers = 0; });
  refused([](TaskJob& job) { job.stages.clear(); });
  refused([](TaskJob& job) { job.stages[0].num_tasks = 0; });
  refused([](TaskJob& job) { job.stages[0].works = {1}; });
  refused([](TaskJob& job) { job.stages[0].works = {1, -1}; });
  refused([](TaskJob& job) { job.stages[0].task_seconds = NAN; });
  refused([](TaskJob& job) { job.stages[0].early_share = 1.5; });
  refused([](TaskJob& job) { job.stages[0].slowness.share = 2; });
  refused([](TaskJob& job) { job.worker_slowness = {0.5, 3, 2}; });
  refused([](TaskJob& job) { job.poll_seconds = 0; });
  refused([](TaskJob& job) { job.start_seconds = -1; });
  refused([](TaskJob& job) { job.failures = {{1, 2, 0}}; });
  refused([](TaskJob& job) { job.failures = {{1, 0, INFINITY}}; });
}

}  // namespace

}  // namespace weir::simulation
