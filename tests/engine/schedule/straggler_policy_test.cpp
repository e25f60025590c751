// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/model/random.hpp>
#include <weir/engine/schedule/straggler_policy.hpp>

namespace weir::schedule {

namespace {

using Kind = Assignment::Kind;

constexpr StragglerRule all_rules[] = {StragglerRule::progress_rate, StragglerRule::mapreduce_2004,
                                       StragglerRule::off, StragglerRule::forced};

StragglerOptions under(StragglerRule rule) {
  StragglerOptions options;
  options.rule = rule;
  return options;
}

TaskView running(std::uint32_t worker, double work, double start, double progress) {
  TaskView task;
  task.state = TaskState::running;
  task.worker = worker;
  task.work = work;
  task.start_seconds = start;
  task.progress = progress;
  return task;
}

TaskView done(std::uint32_t worker, double work, double start, double end) {
  TaskView task;
  task.state = TaskState::done;
  task.worker = worker;
  task.work = work;
  task.start_seconds = start;
  task.end_seconds = end;
  return task;
}

TaskView waiting(std::uint32_t worker, double work) {
  TaskView task;
  task.worker = worker;
  task.work = work;
  return task;
}

/// Four workers, 10 s in: three have done a task of 10 work in 5 s and are idle; worker 3 has a
/// task of the given work, from the start, and has done a share of it.
StragglerSnapshot one_left(double work, double progress) {
  StragglerSnapshot snapshot;
  snapshot.now_seconds = 10;
  for (std::uint32_t w = 0; w < 3; ++w) snapshot.tasks.push_back(done(w, 10, 0, 5));
  snapshot.tasks.push_back(running(3, work, 0, progress));
  snapshot.workers = {{true, 1, 2}, {true, 1, 2}, {true, 1, 2}, {false, 1, 2}};
  return snapshot;
}

TEST(StragglerPolicyTest, ASlowTaskIsCloned) {
  // A fifth of the work in twice the time.
  const auto clones = relieve_stragglers(one_left(10, 0.2), {});
  ASSERT_EQ(clones.size(), 1U);
  EXPECT_EQ(clones[0], (Assignment{Kind::clone, 3, 0}));
}

TEST(StragglerPolicyTest, AHeavyTaskIsNot) {
  // 20 work in 10 s, as all others: ten times the work is left to do, and nobody would be faster.
  EXPECT_TRUE(relieve_stragglers(one_left(200, 0.1), {}).empty());
}

TEST(StragglerPolicyTest, SkewAloneNeverClones) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CounterRandom random(seed, 0, 0);
    StragglerSnapshot snapshot;
    snapshot.now_seconds = 1 + 100 * random.next_unit();
    const auto num_workers = static_cast<std::uint32_t>(2 + random.next() % 9);
    const double rate = 0.1 + 1000 * random.next_unit();
    snapshot.workers.resize(num_workers);
    for (std::uint32_t w = 0; w < num_workers; ++w) {
      // Work over six orders of magnitude, all at one rate.
      double time = 0;
      while (true) {
        const double work = rate * snapshot.now_seconds * std::pow(10, 3 - 6 * random.next_unit());
        if (time + work / rate > snapshot.now_seconds) {
          const bool ends = random.next() % 2 == 0;
          snapshot.workers[w].is_idle = ends;
          const double progress = (snapshot.now_seconds - time) * rate / work;
          if (!ends) snapshot.tasks.push_back(running(w, work, time, std::min(progress, 1.0)));
          break;
        }
        snapshot.tasks.push_back(done(w, work, time, time + work / rate));
        time += work / rate;
      }
    }
    EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty()) << "seed " << seed;
  }
}

TEST(StragglerPolicyTest, NoVerdictBeforeItsTime) {
  // 5 s are expected. Nothing done yet after 1 s says little; after 2 s it says much.
  StragglerSnapshot snapshot = one_left(10, 0);
  snapshot.tasks[3].start_seconds = 9;
  EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty());
  snapshot.tasks[3].start_seconds = 8;
  EXPECT_EQ(relieve_stragglers(snapshot, {}).size(), 1U);
  StragglerOptions patient;
  patient.least_seconds = 3;
  EXPECT_TRUE(relieve_stragglers(snapshot, patient).empty());
}

TEST(StragglerPolicyTest, NoCloneThatWouldEndLater) {
  // 2.5 times slower than the others, but nearly done: 1 s against 5 s elsewhere.
  StragglerSnapshot snapshot = one_left(10, 0.9);
  snapshot.tasks[3].start_seconds = -2.5;
  EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty());
  // Half done with 12.5 s to go, but what it reads travels for 10 s.
  snapshot.tasks[3].progress = 0.5;
  EXPECT_EQ(relieve_stragglers(snapshot, {}).size(), 1U);
  snapshot.tasks[3].transfer_seconds = 10;
  EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty());
}

TEST(StragglerPolicyTest, FastWorkersHelpAndSlowOnesDoNot) {
  StragglerSnapshot snapshot = one_left(10, 0.2);
  snapshot.workers[1].speed = 3;
  EXPECT_EQ(relieve_stragglers(snapshot, {}).at(0).worker, 1U);
  for (WorkerView& worker : snapshot.workers) worker.speed = 0.5;
  EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty());
}

TEST(StragglerPolicyTest, TheLastToEndIsClonedFirstAndFewAre) {
  StragglerSnapshot snapshot;
  snapshot.now_seconds = 10;
  for (std::uint32_t w = 0; w < 17; ++w) snapshot.tasks.push_back(done(w, 10, 0, 5));
  for (std::uint32_t w = 17; w < 20; ++w) snapshot.tasks.push_back(running(w, 10, 0, 0.1));
  snapshot.tasks[18].progress = 0.05;
  snapshot.workers.resize(20);
  for (std::uint32_t w = 0; w < 17; ++w) snapshot.workers[w].is_idle = true;
  // A tenth of 20 workers.
  EXPECT_EQ(relieve_stragglers(snapshot, {}),
            (std::vector<Assignment>{{Kind::clone, 18, 0}, {Kind::clone, 17, 1}}));
  snapshot.tasks[18].has_clone = true;
  EXPECT_EQ(relieve_stragglers(snapshot, {}), (std::vector<Assignment>{{Kind::clone, 17, 0}}));
  snapshot.tasks[17].has_clone = true;
  EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty());
}

TEST(StragglerPolicyTest, WaitingTasksOfASlowWorkerAreStolen) {
  StragglerSnapshot snapshot = one_left(10, 0.1);
  for (int i = 0; i < 6; ++i) snapshot.tasks.push_back(waiting(3, 10));
  const auto assignments = relieve_stragglers(snapshot, {});
  // At a tenth of the speed, all it has not begun is better elsewhere; the last tasks go first.
  ASSERT_EQ(assignments.size(), 6U);
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(assignments[i].kind, Kind::steal);
    EXPECT_EQ(assignments[i].task, 9 - i);
    EXPECT_EQ(assignments[i].worker, i % 3);
  }
}

TEST(StragglerPolicyTest, SkewIsSplitNotCloned) {
  // A worker of normal speed with ten times the work: as much is stolen as evens out.
  StragglerSnapshot snapshot = one_left(10, 0.5);
  snapshot.tasks[3].start_seconds = 7.5;
  for (int i = 0; i < 40; ++i) snapshot.tasks.push_back(waiting(3, 1));
  const auto assignments = relieve_stragglers(snapshot, {});
  std::vector<int> taken(4);
  for (const Assignment& assignment : assignments) {
    EXPECT_EQ(assignment.kind, Kind::steal);
    ++taken.at(assignment.worker);
  }
  // 45 work over four workers, in steps of one and with a gain to be had: about 11 each.
  for (int w = 0; w < 3; ++w) EXPECT_NEAR(taken[w], 10.5, 1.5) << w;
  EXPECT_EQ(taken[3], 0);
}

TEST(StragglerPolicyTest, NothingIsStolenForLittle) {
  StragglerSnapshot snapshot = one_left(10, 0.9);
  snapshot.tasks[3].start_seconds = 5.5;  // Ends in 0.5 s.
  snapshot.tasks.push_back(waiting(3, 1));
  EXPECT_EQ(relieve_stragglers(snapshot, {}).size(), 1U);
  snapshot.tasks.back().transfer_seconds = 0.5;
  EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty());
}

TEST(StragglerPolicyTest, LanesShareABacklog) {
  // Eight lanes do four tasks of 10 work each before anybody else has fetched one.
  StragglerSnapshot snapshot = one_left(10, 0.9);
  snapshot.tasks[3].start_seconds = 5.5;
  for (int i = 0; i < 4; ++i) snapshot.tasks.push_back(waiting(3, 10));
  EXPECT_FALSE(relieve_stragglers(snapshot, {}).empty());
  snapshot.workers[3].num_lanes = 8;
  EXPECT_TRUE(relieve_stragglers(snapshot, {}).empty());
}

TEST(StragglerPolicyTest, MapReduceClonesWhatRunsOnceNothingWaits) {
  StragglerSnapshot snapshot;
  snapshot.now_seconds = 10;
  snapshot.workers.resize(4);
  snapshot.tasks = {running(0, 1, 8, 0.99), running(1, 1, 2, 0.5), waiting(nobody, 1)};
  snapshot.workers[2].is_idle = snapshot.workers[3].is_idle = true;
  const auto options = under(StragglerRule::mapreduce_2004);
  EXPECT_TRUE(relieve_stragglers(snapshot, options).empty());
  snapshot.tasks[2] = done(2, 1, 0, 9);
  // The oldest first, whatever its progress.
  EXPECT_EQ(relieve_stragglers(snapshot, options),
            (std::vector<Assignment>{{Kind::clone, 1, 2}, {Kind::clone, 0, 3}}));
  StragglerOptions later = options;
  later.begin_share = 0.5;  // Two of three are unfinished.
  EXPECT_TRUE(relieve_stragglers(snapshot, later).empty());
  snapshot.tasks[0] = done(0, 1, 8, 10);
  EXPECT_EQ(relieve_stragglers(snapshot, later).size(), 1U);
}

TEST(StragglerPolicyTest, MapReduceStealsBeforeItClones) {
  StragglerSnapshot snapshot;
  snapshot.workers.resize(3);
  snapshot.workers[1].is_idle = snapshot.workers[2].is_idle = true;
  snapshot.tasks = {running(0, 1, 0, 0), waiting(0, 1), waiting(0, 1), waiting(0, 1)};
  EXPECT_EQ(relieve_stragglers(snapshot, under(StragglerRule::mapreduce_2004)),
            (std::vector<Assignment>{{Kind::steal, 1, 1}, {Kind::steal, 2, 2}}));
}

TEST(StragglerPolicyTest, ForcedClonesEveryRunningTask) {
  StragglerSnapshot snapshot;
  snapshot.workers.resize(3);  // None of them idle.
  for (std::uint32_t t = 0; t < 30; ++t) snapshot.tasks.push_back(running(t % 3, 1, 0, 0));
  snapshot.tasks.push_back(done(0, 1, 0, 0));
  const auto clones = relieve_stragglers(snapshot, under(StragglerRule::forced));
  std::set<std::uint32_t> cloned;
  for (const Assignment& clone : clones) {
    EXPECT_EQ(clone.kind, Kind::clone);
    cloned.insert(clone.task);
  }
  EXPECT_EQ(cloned.size(), 30U);
  snapshot.workers.resize(1);
  for (TaskView& task : snapshot.tasks) task.worker = 0;
  EXPECT_TRUE(relieve_stragglers(snapshot, under(StragglerRule::forced)).empty());
}

TEST(StragglerPolicyTest, OffDoesNothing) {
  StragglerSnapshot snapshot = one_left(10, 0.01);
  snapshot.tasks.push_back(waiting(3, 100));
  EXPECT_TRUE(relieve_stragglers(snapshot, under(StragglerRule::off)).empty());
}

TEST(StragglerPolicyTest, LawsOfAllRules) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CounterRandom random(seed, 1, 0);
    StragglerSnapshot snapshot;
    snapshot.now_seconds = 10;
    const auto num_workers = static_cast<std::uint32_t>(1 + random.next() % 8);
    for (std::uint32_t w = 0; w < num_workers; ++w) {
      snapshot.workers.push_back({random.next() % 2 == 0,
                                  static_cast<std::uint32_t>(1 + random.next() % 4),
                                  random.next() % 3 == 0 ? 0 : 2 * random.next_unit()});
    }
    for (auto num_tasks = random.next() % 40; num_tasks > 0; --num_tasks) {
      const auto worker = static_cast<std::uint32_t>(random.next() % num_workers);
      const double work = random.next() % 8 == 0 ? 0 : 100 * random.next_unit();
      const double start = 10 * random.next_unit();
      switch (random.next() % 4) {
        case 0:
          snapshot.tasks.push_back(waiting(random.next() % 4 == 0 ? nobody : worker, work));
          break;
        case 1:
          snapshot.tasks.push_back(done(worker, work, start, start + random.next_unit()));
          break;
        default:
          snapshot.tasks.push_back(running(worker, work, start, random.next_unit()));
          snapshot.tasks.back().has_clone = random.next() % 5 == 0;
      }
    }
    for (const StragglerRule rule : all_rules) {
      const auto assignments = relieve_stragglers(snapshot, under(rule));
      EXPECT_EQ(assignments, relieve_stragglers(snapshot, under(rule)));
      std::set<std::uint32_t> tasks;
      for (const Assignment& each : assignments) {
        const TaskView& task = snapshot.tasks.at(each.task);
        EXPECT_TRUE(tasks.insert(each.task).second) << "twice";
        EXPECT_NE(each.worker, task.worker);
        EXPECT_NE(task.worker, nobody);
        EXPECT_FALSE(task.has_clone);
        EXPECT_EQ(task.state, each.kind == Kind::clone ? TaskState::running : TaskState::waiting);
        ASSERT_LT(each.worker, num_workers);
        if (rule != StragglerRule::forced) {
          EXPECT_TRUE(snapshot.workers[each.worker].is_idle);
        }
      }
    }
  }
}

TEST(StragglerPolicyTest, RefusesWhatCannotBe) {
  for (const StragglerRule rule : all_rules) {
    EXPECT_TRUE(relieve_stragglers({}, under(rule)).empty());
    StragglerSnapshot snapshot = one_left(10, 0.2);
    snapshot.tasks[3].worker = 4;
    EXPECT_THROW(relieve_stragglers(snapshot, under(rule)), Error);
    snapshot.tasks[3].worker = nobody;
    EXPECT_THROW(relieve_stragglers(snapshot, under(rule)), Error);
    for (const double progress : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_THROW(relieve_stragglers(one_left(10, progress), under(rule)), Error);
    }
    EXPECT_THROW(relieve_stragglers(one_left(-1, 0.2), under(rule)), Error);
    snapshot = one_left(10, 0.2);
    snapshot.workers[0].num_lanes = 0;
    EXPECT_THROW(relieve_stragglers(snapshot, under(rule)), Error);
  }
}

TEST(StragglerPolicyTest, RulesHaveNames) {
  EXPECT_EQ(name_of(StragglerRule::progress_rate), "progress-rate");
  EXPECT_EQ(name_of(StragglerRule::mapreduce_2004), "mapreduce-2004");
  EXPECT_EQ(name_of(StragglerRule::off), "off");
  EXPECT_EQ(name_of(StragglerRule::forced), "forced");
}

}  // namespace

}  // namespace weir::schedule
