// SPDX-License-Identifier: Apache-2.0
// Which work an idle worker takes over from a slow one: pure functions of what is known at a
// moment.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace weir::schedule {

enum class StragglerRule {
  /// Steal waiting tasks of workers that would end late; clone running tasks whose rate, in work
  /// per second, is far below the others'. In the manner of LATE [Zaharia08], but by rates: a
  /// task that is merely large is never cloned.
  progress_rate,
  /// Clone every running task once no task waits [Dean04 §3.6].
  mapreduce_2004,
  /// Nobody takes anything over.
  off,
  /// Clone every running task at once, idle workers or not: for tests of who clones.
  forced,
};

/// Name of a rule as options have it, e.g. "progress-rate".
std::string_view name_of(StragglerRule rule) noexcept;

enum class TaskState : std::uint8_t { waiting, running, done };

/// A worker that is none.
inline constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// One task: a shard in a superstep, a reduce task of a job.
struct TaskView {
  TaskState state = TaskState::waiting;
  bool has_clone = false;  ///< Two attempts of it run.
  /// Who owns it (waiting), runs its first attempt (running) or finished it (done). A waiting task
  /// of nobody is for the caller to hand out, and is not given away here.
  std::uint32_t worker = nobody;
  /// How much there is to do, in a unit to which time is proportional on any one worker: arcs,
  /// bytes.
  double work = 1;
  double progress = 0;          ///< Of a running task: the share that is done, 0 to 1.
  double start_seconds = 0;     ///< Of a running or done task.
  double end_seconds = 0;       ///< Of a done task.
  double transfer_seconds = 0;  ///< To hand what it reads to another worker.
};

struct WorkerView {
  bool is_idle = false;  ///< Nothing to do, and fit to help.
  /// Tasks that it runs at once.
  std::uint32_t num_lanes = 1;
  /// Work per second of one lane, as last measured; 0: not known, taken for that of the others.
  double speed = 0;
};

/// What is known at a moment; seconds since any common beginning.
struct StragglerSnapshot {
  double now_seconds = 0;
  std::vector<TaskView> tasks;
  std::vector<WorkerView> workers;
};

struct StragglerOptions {
  StragglerRule rule = StragglerRule::progress_rate;

  // progress_rate
  /// A task is slow at less than the median rate divided by this.
  double slow_factor = 1.5;
  /// No verdict before a task has run this long, ...
  double least_seconds = 0.1;
  /// ... and this share of the time that its work takes at the median rate.
  double least_share = 0.25;
  /// The task must be expected to take this many times longer where it is than elsewhere.
  double least_gain = 1.2;
  /// Share of the workers that may run clones at a time; one always may.
  double most_cloning = 0.1;

  // mapreduce_2004
  /// Clones begin once at most this share of the tasks is unfinished; the paper gives no figure.
  double begin_share = 1;
};

struct Assignment {
  enum class Kind : std::uint8_t {
    steal,  ///< A waiting task: the owner gives it up, unless it has started by then.
    clone,  ///< A running task: another attempt beside the first; whichever ends first counts.
  };
  Kind kind = Kind::steal;
  std::uint32_t task = 0;
  std::uint32_t worker =
      0;  ///< Who takes it: never who has it, and idle unless the rule is forced.

  friend bool operator==(const Assignment&, const Assignment&) = default;
};

/// What idle workers should do now: steals before clones, each task once at most; a task with a
/// clone gets no other. A pure function. Throws Error{usage} for a worker that is not there, a
/// running task of nobody, and for work, progress or times that are negative or no numbers.
std::vector<Assignment> relieve_stragglers(const StragglerSnapshot& snapshot,
                                           const StragglerOptions& options);

}  // namespace weir::schedule
