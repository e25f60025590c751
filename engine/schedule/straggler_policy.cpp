// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/straggler_policy.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <weir/engine/model/check.hpp>

namespace weir::schedule {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

void check(const StragglerSnapshot& snapshot) {
  const auto num_workers = snapshot.workers.size();
  for (std::size_t i = 0; i < snapshot.tasks.size(); ++i) {
    const TaskView& task = snapshot.tasks[i];
    const bool may_be_nobodys = task.state != TaskState::running && task.worker == nobody;
    WEIR_EXPECT(task.worker < num_workers || may_be_nobodys, usage,
                "straggler policy: task " + std::to_string(i) + " is with no worker there is");
    WEIR_EXPECT(is_amount(task.work) && is_amount(task.transfer_seconds) &&
                    is_amount(task.progress) && task.progress <= 1 &&
                    std::isfinite(task.start_seconds) && std::isfinite(task.end_seconds),
                usage,
                "straggler policy: task " + std::to_string(i) +
                    " has work, progress or times that cannot be");
  }
  for (const WorkerView& worker : snapshot.workers) {
    WEIR_EXPECT(is_amount(worker.speed) && worker.num_lanes > 0, usage,
                "straggler policy: a worker has a speed or lanes that cannot be");
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::uint32_t> idle_workers(const StragglerSnapshot& snapshot) {
  std::vector<std::uint32_t> idle;
  for (std::uint32_t w = 0; w < snapshot.workers.size(); ++w) {
    if (snapshot.workers[w].is_idle) idle.push_back(w);
  }
  return idle;
}

/// Running tasks without a clone.
std::vector<std::uint32_t> single_attempts(const StragglerSnapshot& snapshot) {
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t t = 0; t < snapshot.tasks.size(); ++t) {
    const TaskView& task = snapshot.tasks[t];
    if (task.state == TaskState::running && !task.has_clone) tasks.push_back(t);
  }
  return tasks;
}

/// Rates, and what follows from them, of one snapshot.
class Estimate {
 public:
  Estimate(const StragglerSnapshot& snapshot, const StragglerOptions& options)
      : snapshot_(snapshot), options_(options), median_rate_(measured_median()) {}

  double median_rate() const { return median_rate_; }

  double elapsed(const TaskView& task) const { return snapshot_.now_seconds - task.start_seconds; }
  /// Work per second of a running task.
  double rate(const TaskView& task) const { return task.work * task.progress / elapsed(task); }
  bool has_verdict(const TaskView& task) const {
    return elapsed(task) >= options_.least_seconds && elapsed(task) > 0 &&
           elapsed(task) * median_rate_ >= options_.least_share * task.work;
  }
  bool is_slow(double rate) const { return rate * options_.slow_factor < median_rate_; }
  double remaining_seconds(const TaskView& task) const {
    const double remaining_work = task.work * (1 - task.progress);
    if (remaining_work <= 0) return 0;
    const double found = rate(task);
    return found > 0 ? remaining_work / found : never;
  }
  /// Of one lane; what the others show where nothing is known of this worker.
  double speed(std::uint32_t worker) const {
    const double known = snapshot_.workers[worker].speed;
    return known > 0 ? known : median_rate_;
  }
  double seconds_on(std::uint32_t worker, const TaskView& task) const {
    return task.transfer_seconds + task.work / speed(worker);
  }

 private:
  /// Over all tasks that tell; else over what workers did before.
  double measured_median() const {
    std::vector<double> rates;
    for (const TaskView& task : snapshot_.tasks) {
      if (task.work <= 0) continue;
      if (task.state == TaskState::done && task.end_seconds > task.start_seconds) {
        rates.push_back(task.work / (task.end_seconds - task.start_seconds));
      }
      const bool tells = elapsed(task) >= options_.least_seconds && elapsed(task) > 0;
      if (task.state == TaskState::running && tells) rates.push_back(rate(task));
    }
    if (rates.empty()) {
      for (const WorkerView& worker : snapshot_.workers) {
        if (worker.speed > 0) rates.push_back(worker.speed);
      }
    }
    return median(std::move(rates));
  }

  const StragglerSnapshot& snapshot_;
  const StragglerOptions& options_;
  double median_rate_;
};

/// What an owner still has to do, and when it will have done it.
struct Backlog {
  std::vector<std::uint32_t> waiting{};  ///< Its waiting tasks; those at the end are given away.
  double work = 0;
  double rate = 0;  ///< Of all its lanes.

  double seconds() const { return work <= 0 ? 0 : rate > 0 ? work / rate : never; }
};

std::vector<Backlog> backlogs(const StragglerSnapshot& snapshot, const Estimate& estimate) {
  std::vector<Backlog> owners(snapshot.workers.size());
  for (std::uint32_t w = 0; w < owners.size(); ++w) owners[w].rate = estimate.speed(w);
  for (std::uint32_t t = 0; t < snapshot.tasks.size(); ++t) {
    const TaskView& task = snapshot.tasks[t];
    if (task.state == TaskState::done || task.worker == nobody) continue;
    Backlog& owner = owners[task.worker];
    owner.work += task.work * (1 - (task.state == TaskState::running ? task.progress : 0));
    if (task.state == TaskState::waiting) {
      owner.waiting.push_back(t);
    } else if (estimate.has_verdict(task)) {
      // Slower now than it was before.
      owner.rate = std::min(owner.rate, estimate.rate(task));
    }
  }
  for (std::uint32_t w = 0; w < owners.size(); ++w) owners[w].rate *= snapshot.workers[w].num_lanes;
  return owners;
}

/// Moves waiting tasks, one by one, from who would end last to the idle worker that would have done
/// it first, as long as that helps. Removes from `idle` who got some.
std::vector<Assignment> steal(const StragglerSnapshot& snapshot, const StragglerOptions& options,
                              const Estimate& estimate, std::vector<std::uint32_t>& idle) {
  std::vector<Assignment> steals;
  std::vector<Backlog> owners = backlogs(snapshot, estimate);
  std::vector<double> busy_until(snapshot.workers.size());
  while (!idle.empty()) {
    std::uint32_t last = nobody;
    for (std::uint32_t w = 0; w < owners.size(); ++w) {
      if (owners[w].waiting.empty()) continue;
      if (last == nobody || owners[w].seconds() > owners[last].seconds()) last = w;
    }
    if (last == nobody) break;
    Backlog& owner = owners[last];
    const std::uint32_t t = owner.waiting.back();
    owner.waiting.pop_back();
    const TaskView& task = snapshot.tasks[t];
    std::uint32_t thief = nobody;
    double thief_end = never;
    for (const std::uint32_t w : idle) {
      const double end = busy_until[w] + task.transfer_seconds +
                         task.work / (estimate.speed(w) * snapshot.workers[w].num_lanes);
      if (w != last && end < thief_end) thief = w, thief_end = end;
    }
    if (thief == nobody || thief_end * options.least_gain >= owner.seconds()) {
      owner.waiting.clear();  // Nothing of it helps.
      continue;
    }
    owner.work -= task.work;
    busy_until[thief] = thief_end;
    steals.push_back({Assignment::Kind::steal, t, thief});
  }
  std::erase_if(idle, [&](std::uint32_t w) { return busy_until[w] > 0; });
  return steals;
}

std::vector<Assignment> by_progress_rate(const StragglerSnapshot& snapshot,
                                         const StragglerOptions& options) {
  std::vector<std::uint32_t> idle = idle_workers(snapshot);
  if (idle.empty()) return {};
  const Estimate estimate(snapshot, options);
  if (estimate.median_rate() <= 0) return {};
  std::vector<Assignment> assignments = steal(snapshot, options, estimate, idle);

  // A slow worker is no help: the fastest first, and none that would itself be found slow.
  std::erase_if(idle, [&](std::uint32_t w) { return estimate.is_slow(estimate.speed(w)); });
  std::stable_sort(idle.begin(), idle.end(), [&](std::uint32_t a, std::uint32_t b) {
    return estimate.speed(a) > estimate.speed(b);
  });
  std::vector<std::uint32_t> slow = single_attempts(snapshot);
  std::erase_if(slow, [&](std::uint32_t t) {
    const TaskView& task = snapshot.tasks[t];
    return !estimate.has_verdict(task) || !estimate.is_slow(estimate.rate(task));
  });
  std::stable_sort(slow.begin(), slow.end(), [&](std::uint32_t a, std::uint32_t b) {
    return estimate.remaining_seconds(snapshot.tasks[a]) >
           estimate.remaining_seconds(snapshot.tasks[b]);
  });

  const auto num_cloned = static_cast<double>(std::count_if(
      snapshot.tasks.begin(), snapshot.tasks.end(),
      [](const TaskView& task) { return task.state == TaskState::running && task.has_clone; }));
  const double most_cloned = std::max(
      1.0, std::floor(options.most_cloning * static_cast<double>(snapshot.workers.size())));
  double num_allowed = most_cloned - num_cloned;
  auto next_idle = idle.begin();
  for (const std::uint32_t t : slow) {
    if (num_allowed < 1 || next_idle == idle.end()) break;
    const TaskView& task = snapshot.tasks[t];
    if (*next_idle == task.worker) continue;  // It has another lane free, of the same speed.
    const double elsewhere = estimate.seconds_on(*next_idle, task);
    if (estimate.remaining_seconds(task) <= options.least_gain * elsewhere) continue;
    assignments.push_back({Assignment::Kind::clone, t, *next_idle++});
    --num_allowed;
  }
  return assignments;
}

std::vector<Assignment> by_mapreduce_2004(const StragglerSnapshot& snapshot,
                                          const StragglerOptions& options) {
  const std::vector<std::uint32_t> idle = idle_workers(snapshot);
  if (idle.empty()) return {};
  std::vector<Assignment> assignments;
  auto next_idle = idle.begin();
  std::size_t num_unfinished = 0;
  bool is_any_waiting = false;
  for (std::uint32_t t = 0; t < snapshot.tasks.size(); ++t) {
    const TaskView& task = snapshot.tasks[t];
    if (task.state == TaskState::done) continue;
    ++num_unfinished;
    if (task.state != TaskState::waiting) continue;
    is_any_waiting = true;
    if (task.worker == nobody || next_idle == idle.end() || *next_idle == task.worker) continue;
    assignments.push_back({Assignment::Kind::steal, t, *next_idle++});
  }
  const double most_unfinished = options.begin_share * static_cast<double>(snapshot.tasks.size());
  if (is_any_waiting || static_cast<double>(num_unfinished) > most_unfinished) return assignments;

  std::vector<std::uint32_t> running = single_attempts(snapshot);
  std::stable_sort(running.begin(), running.end(), [&](std::uint32_t a, std::uint32_t b) {
    return snapshot.tasks[a].start_seconds < snapshot.tasks[b].start_seconds;
  });
  for (const std::uint32_t t : running) {
    if (next_idle == idle.end()) break;
    if (*next_idle == snapshot.tasks[t].worker) continue;
    assignments.push_back({Assignment::Kind::clone, t, *next_idle++});
  }
  return assignments;
}

std::vector<Assignment> by_force(const StragglerSnapshot& snapshot) {
  const auto num_workers = static_cast<std::uint32_t>(snapshot.workers.size());
  std::vector<Assignment> assignments;
  if (num_workers < 2) return assignments;
  for (const std::uint32_t t : single_attempts(snapshot)) {
    const std::uint32_t other = 1 + t % (num_workers - 1);
    assignments.push_back(
        {Assignment::Kind::clone, t, (snapshot.tasks[t].worker + other) % num_workers});
  }
  return assignments;
}

}  // namespace

std::string_view name_of(StragglerRule rule) noexcept {
  switch (rule) {
    case StragglerRule::progress_rate: return "progress-rate";
    case StragglerRule::mapreduce_2004: return "mapreduce-2004";
    case StragglerRule::off: return "off";
    case StragglerRule::forced: return "forced";
  }
  return "";
}

std::vector<Assignment> relieve_stragglers(const StragglerSnapshot& snapshot,
                                           const StragglerOptions& options) {
  check(snapshot);
  switch (options.rule) {
    case StragglerRule::progress_rate: return by_progress_rate(snapshot, options);
    case StragglerRule::mapreduce_2004: return by_mapreduce_2004(snapshot, options);
    case StragglerRule::forced: return by_force(snapshot);
    case StragglerRule::off: break;
  }
  return {};
}

}  // namespace weir::schedule
