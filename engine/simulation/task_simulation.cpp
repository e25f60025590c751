// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/task_simulation.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include <weir/engine/model/check.hpp>
#include <weir/engine/model/random.hpp>
#include <weir/engine/simulation/event_queue.hpp>
#include <weir/io/portable_math.hpp>

namespace weir::simulation {

namespace {

using schedule::Assignment;
using schedule::TaskState;
using schedule::TaskView;
using schedule::WorkerView;

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

bool is_time(double value) { return std::isfinite(value) && value >= 0; }

void check(const Slowness& slowness) {
  WEIR_EXPECT(slowness.share >= 0 && slowness.share <= 1 && slowness.least > 0 &&
                  slowness.most >= slowness.least && std::isfinite(slowness.most),
              usage, "simulation: found a slowness that cannot be");
}

void check(const TaskJob& job) {
  WEIR_EXPECT(job.num_workers > 0, usage, "simulation: found no worker; expected one at least");
  WEIR_EXPECT(is_time(job.start_seconds) && job.poll_seconds > 0 && is_time(job.poll_seconds),
              usage, "simulation: found times that cannot be");
  check(job.worker_slowness);
  WEIR_EXPECT(!job.stages.empty(), usage, "simulation: found no stage; expected one at least");
  for (const Stage& stage : job.stages) {
    WEIR_EXPECT(
        stage.num_tasks > 0 && (stage.works.empty() || stage.works.size() == stage.num_tasks),
        usage, "simulation: " + stage.name + ": expected tasks, and a work for each or none");
    WEIR_EXPECT(is_time(stage.task_seconds) && is_time(stage.spread) && stage.early_share >= 0 &&
                    stage.early_share <= 1 &&
                    std::all_of(stage.works.begin(), stage.works.end(), is_time),
                usage, "simulation: " + stage.name + ": found times or shares that cannot be");
    check(stage.slowness);
  }
  for (const Failure& failure : job.failures) {
    WEIR_EXPECT(failure.worker < job.num_workers && is_time(failure.seconds) &&
                    is_time(failure.restart_seconds),
                usage, "simulation: found a failure of no worker, or at no time");
  }
}

double draw(const Slowness& slowness, CounterRandom& random) {
  const bool is_slow = random.next_unit() < slowness.share;
  const double factor = slowness.least + (slowness.most - slowness.least) * random.next_unit();
  return is_slow ? factor : 1;
}

/// One try at a task. It does its early share, waits for the stage before, and does the rest.
struct Attempt {
  std::uint32_t stage = 0;
  std::uint32_t task = 0;
  std::uint32_t worker = 0;
  double start = 0;
  double seconds = 0;  ///< Without waiting.
  bool is_clone = false;
  bool is_alive = true;
  bool is_waiting = false;  ///< For the stage before.
  double resumed = std::numeric_limits<double>::infinity();
};

struct Event {
  enum class Kind : std::uint8_t { start, early_part_ends, attempt_ends, fail, come_back, poll };
  Kind kind = Kind::start;
  std::uint32_t subject = 0;  ///< An attempt, a failure or a worker.
};

/// Where a stage stands: what the policy is shown, and who does what.
struct Progress {
  schedule::StragglerSnapshot view;
  std::deque<std::uint32_t> queue;
  std::vector<std::array<std::uint32_t, 2>> attempts;  ///< By task: the first alive, and its clone.
  std::vector<std::uint32_t> attempt_of_worker;
  std::vector<std::deque<std::uint32_t>> clones_to_start;  ///< By worker, which was busy.
  std::vector<std::uint32_t> num_attempts;                 ///< By task, dead ones too.
  std::uint32_t num_done = 0;
};

class Simulation {
 public:
  explicit Simulation(const TaskJob& job) : job_(job), is_dead_(job.num_workers) {
    for (std::uint32_t w = 0; w < job.num_workers; ++w) {
      CounterRandom random(job.seed, job.stages.size(), w);
      slowness_.push_back(draw(job.worker_slowness, random));
    }
    for (const Stage& stage : job.stages) {
      Progress& progress = progress_.emplace_back();
      progress.view.workers.resize(job.num_workers);
      progress.view.tasks.resize(stage.num_tasks);
      progress.attempts.resize(stage.num_tasks, {none, none});
      progress.num_attempts.resize(stage.num_tasks);
      progress.attempt_of_worker.resize(job.num_workers, none);
      progress.clones_to_start.resize(job.num_workers);
      for (std::uint32_t t = 0; t < stage.num_tasks; ++t) {
        progress.queue.push_back(t);
        progress.view.tasks[t].work = stage.works.empty() ? 1 : stage.works[t];
      }
    }
    events_.at(job.start_seconds, {Event::Kind::start});
    for (std::uint32_t f = 0; f < job.failures.size(); ++f) {
      events_.at(job.failures[f].seconds, {Event::Kind::fail, f});
    }
  }

  TaskOutcome run() {
    while (!is_done(num_stages() - 1)) handle(events_.pop());
    outcome_.seconds = events_.now();
    for (const Progress& progress : progress_) {
      std::vector<double>& ends = outcome_.end_seconds.emplace_back();
      for (const TaskView& task : progress.view.tasks) ends.push_back(task.end_seconds);
    }
    return std::move(outcome_);
  }

 private:
  std::uint32_t num_stages() const { return static_cast<std::uint32_t>(job_.stages.size()); }
  bool is_done(std::uint32_t stage) const {
    return progress_[stage].num_done == job_.stages[stage].num_tasks;
  }
  bool is_ready(std::uint32_t stage) const { return stage == 0 || is_done(stage - 1); }

  void handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::start:
        has_started_ = true;
        give_work_to_all();
        events_.after(job_.poll_seconds, {Event::Kind::poll});
        break;
      case Event::Kind::early_part_ends: end_early_part(event.subject); break;
      case Event::Kind::attempt_ends: end(event.subject); break;
      case Event::Kind::fail: fail(job_.failures[event.subject]); break;
      case Event::Kind::come_back:
        is_dead_[event.subject] = false;
        for (std::uint32_t s = 0; s < num_stages(); ++s) give_work(s, event.subject);
        break;
      case Event::Kind::poll:
        for (std::uint32_t s = 0; s < num_stages(); ++s) {
          if (!is_done(s)) ask_policy(s);
        }
        events_.after(job_.poll_seconds, {Event::Kind::poll});
        break;
    }
  }

  void give_work_to_all() {
    for (std::uint32_t s = 0; s < num_stages(); ++s) {
      for (std::uint32_t w = 0; w < job_.num_workers; ++w) give_work(s, w);
    }
  }

  /// The next task for a worker that has none.
  void give_work(std::uint32_t stage, std::uint32_t worker) {
    Progress& progress = progress_[stage];
    if (!has_started_ || is_dead_[worker] || progress.attempt_of_worker[worker] != none) return;
    auto& clones = progress.clones_to_start[worker];
    while (!clones.empty()) {
      const std::uint32_t task = clones.front();
      clones.pop_front();
      const TaskView& view = progress.view.tasks[task];
      const bool is_wanted = view.state == TaskState::running && view.worker != worker &&
                             progress.attempts[task][1] == none;
      if (!is_wanted) continue;  // It ended meanwhile, or began anew.
      start(stage, task, worker, true);
      return;
    }
    progress.view.workers[worker].is_idle = progress.queue.empty();
    if (progress.queue.empty()) return;
    const std::uint32_t task = progress.queue.front();
    progress.queue.pop_front();
    start(stage, task, worker, false);
  }

  void start(std::uint32_t stage, std::uint32_t task, std::uint32_t worker, bool is_clone) {
    Progress& progress = progress_[stage];
    const Stage& kind = job_.stages[stage];
    TaskView& view = progress.view.tasks[task];
    CounterRandom random(job_.seed, stage,
                         (std::uint64_t{task} << 32) + progress.num_attempts[task]++);
    // The middle of the 2^53 intervals of the unit interval: never 0 or 1.
    const double noise =
        kind.spread == 0
            ? 1
            : io::portable_exp(kind.spread * io::normal_quantile(random.next_unit() + 0x1.0p-54));
    const double seconds =
        kind.task_seconds * view.work * noise * draw(kind.slowness, random) * slowness_[worker];
    const auto id = static_cast<std::uint32_t>(attempts_.size());
    attempts_.push_back({.stage = stage,
                         .task = task,
                         .worker = worker,
                         .start = events_.now(),
                         .seconds = seconds,
                         .is_clone = is_clone});
    progress.attempts[task][is_clone ? 1 : 0] = id;
    progress.attempt_of_worker[worker] = id;
    progress.view.workers[worker].is_idle = false;
    outcome_.num_clones += is_clone ? 1 : 0;
    if (!is_clone) show_first_attempt(stage, task);
    events_.after(kind.early_share * seconds, {Event::Kind::early_part_ends, id});
  }

  /// Tells the policy which attempt of a running task is the first.
  void show_first_attempt(std::uint32_t stage, std::uint32_t task) {
    TaskView& view = progress_[stage].view.tasks[task];
    const Attempt& first = attempts_[progress_[stage].attempts[task][0]];
    view.state = TaskState::running;
    view.worker = first.worker;
    view.start_seconds = first.start;
    view.progress = 0;
    view.has_clone = false;
  }

  void end_early_part(std::uint32_t id) {
    if (!attempts_[id].is_alive) return;
    if (is_ready(attempts_[id].stage)) {
      resume(id);
    } else {
      attempts_[id].is_waiting = true;
    }
  }

  void resume(std::uint32_t id) {
    Attempt& attempt = attempts_[id];
    attempt.is_waiting = false;
    attempt.resumed = events_.now();
    const double rest = (1 - job_.stages[attempt.stage].early_share) * attempt.seconds;
    events_.after(rest, {Event::Kind::attempt_ends, id});
  }

  void end(std::uint32_t id) {
    if (!attempts_[id].is_alive) return;
    const Attempt attempt = attempts_[id];
    Progress& progress = progress_[attempt.stage];
    TaskView& view = progress.view.tasks[attempt.task];
    for (const std::uint32_t each : progress.attempts[attempt.task]) {
      if (each != none)
        stop(each, each == id ? &outcome_.useful_seconds : &outcome_.wasted_seconds);
    }
    const std::array<std::uint32_t, 2> ended = progress.attempts[attempt.task];
    progress.attempts[attempt.task] = {none, none};
    view.state = TaskState::done;
    view.worker = attempt.worker;
    view.start_seconds = attempt.start;
    view.end_seconds = events_.now();
    view.has_clone = false;
    if (view.end_seconds > view.start_seconds) {
      progress.view.workers[attempt.worker].speed =
          view.work / (view.end_seconds - view.start_seconds);
    }
    outcome_.num_clones_won += attempt.is_clone ? 1 : 0;
    ++progress.num_done;
    if (is_done(attempt.stage) && attempt.stage + 1 < num_stages())
      resume_waiting(attempt.stage + 1);
    for (const std::uint32_t each : ended) {
      if (each != none) give_work(attempt.stage, attempts_[each].worker);
    }
  }

  void resume_waiting(std::uint32_t stage) {
    for (const std::uint32_t id : progress_[stage].attempt_of_worker) {
      if (id != none && attempts_[id].is_waiting) resume(id);
    }
  }

  /// Ends an attempt, and counts its time.
  void stop(std::uint32_t id, double* account) {
    Attempt& attempt = attempts_[id];
    attempt.is_alive = false;
    *account += events_.now() - attempt.start;
    progress_[attempt.stage].attempt_of_worker[attempt.worker] = none;
  }

  void fail(const Failure& failure) {
    const std::uint32_t worker = failure.worker;
    if (is_dead_[worker]) return;
    is_dead_[worker] = true;
    events_.after(failure.restart_seconds, {Event::Kind::come_back, worker});
    for (std::uint32_t s = 0; s < num_stages(); ++s) {
      Progress& progress = progress_[s];
      progress.view.workers[worker] = {};
      for (const std::uint32_t task : progress.clones_to_start[worker]) {
        progress.view.tasks[task].has_clone = false;
      }
      progress.clones_to_start[worker].clear();
      lose_attempt(s, worker);
      const bool is_needed = s + 1 < num_stages() && !is_done(s + 1);
      if (job_.stages[s].output_dies_with_worker && is_needed) lose_outputs(s, worker);
      for (std::uint32_t w = 0; w < job_.num_workers; ++w) give_work(s, w);
    }
  }

  void lose_attempt(std::uint32_t stage, std::uint32_t worker) {
    Progress& progress = progress_[stage];
    const std::uint32_t id = progress.attempt_of_worker[worker];
    if (id == none) return;
    stop(id, &outcome_.wasted_seconds);
    const std::uint32_t task = attempts_[id].task;
    auto& [first, clone] = progress.attempts[task];
    if (id == first) first = clone;
    clone = none;
    if (first == none) {
      wait_again(stage, task);
    } else {
      attempts_[first].is_clone = false;
      show_first_attempt(stage, task);
    }
  }

  void lose_outputs(std::uint32_t stage, std::uint32_t worker) {
    Progress& progress = progress_[stage];
    for (std::uint32_t t = 0; t < progress.view.tasks.size(); ++t) {
      const TaskView& task = progress.view.tasks[t];
      if (task.state != TaskState::done || task.worker != worker) continue;
      outcome_.useful_seconds -= task.end_seconds - task.start_seconds;
      outcome_.wasted_seconds += task.end_seconds - task.start_seconds;
      --progress.num_done;
      wait_again(stage, t);
    }
  }

  /// Puts a task before all others.
  void wait_again(std::uint32_t stage, std::uint32_t task) {
    const double work = progress_[stage].view.tasks[task].work;
    progress_[stage].view.tasks[task] = TaskView{};
    progress_[stage].view.tasks[task].work = work;
    progress_[stage].queue.push_front(task);
  }

  void ask_policy(std::uint32_t stage) {
    Progress& progress = progress_[stage];
    progress.view.now_seconds = events_.now();
    for (const std::uint32_t id : progress.attempt_of_worker) {
      if (id == none) continue;
      const Attempt& attempt = attempts_[id];
      if (progress.attempts[attempt.task][0] != id) continue;
      progress.view.tasks[attempt.task].progress = share_done(attempt);
    }
    const auto assignments = schedule::relieve_stragglers(progress.view, job_.straggler);
    for (const Assignment& assignment : assignments) {
      // No waiting task here belongs to a worker, so none is stolen.
      WEIR_EXPECT(assignment.kind == Assignment::Kind::clone, internal,
                  "simulation: a task of nobody was stolen");
      progress.view.tasks[assignment.task].has_clone = true;
      progress.clones_to_start[assignment.worker].push_back(assignment.task);
      give_work(stage, assignment.worker);
    }
  }

  double share_done(const Attempt& attempt) const {
    const double early = job_.stages[attempt.stage].early_share;
    const double now = events_.now();
    const bool has_resumed = attempt.resumed <= now;
    const double done = has_resumed ? early + (now - attempt.resumed) / attempt.seconds
                                    : std::min((now - attempt.start) / attempt.seconds, early);
    return attempt.seconds > 0 ? std::clamp(done, 0.0, 1.0) : 0;
  }

  const TaskJob& job_;
  EventQueue<Event> events_;
  std::vector<Progress> progress_;  ///< By stage.
  std::vector<Attempt> attempts_;
  std::vector<double> slowness_;  ///< By worker.
  std::vector<bool> is_dead_;
  bool has_started_ = false;
  TaskOutcome outcome_;
};

}  // namespace

TaskOutcome simulate(const TaskJob& job) {
  check(job);
  return Simulation(job).run();
}

}  // namespace weir::simulation
