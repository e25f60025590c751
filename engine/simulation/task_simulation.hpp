// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/engine/schedule/straggler_policy.hpp>

namespace weir::simulation {

/// How often something is slowed down, and how much: by a factor that is uniform in a range.
struct Slowness {
  double share = 0;
  double least = 1;
  double most = 1;
};

/// Tasks of one kind. Every worker runs one task of each stage at a time; a free worker takes the
/// first that waits. All stages begin at once, but a task waits for the outputs of the stage
/// before.
struct Stage {
  std::string name;
  std::uint32_t num_tasks = 0;
  double task_seconds = 1;  ///< Of a task of work 1 that nothing disturbs.
  /// Relative spread of an attempt's time, log-normal: the deviation of its logarithm.
  double spread = 0;
  /// Of attempts, each by itself: a full disk, a busy neighbour.
  Slowness slowness;
  /// Share of a task that can be done before the whole stage before is done.
  double early_share = 0;
  /// What finished tasks made lies with their workers; a worker that dies takes it along, and they
  /// are done again unless the stage after is done.
  bool output_dies_with_worker = false;
  std::vector<double> works;  ///< By task; empty: 1 each.
};

/// A worker dies, and comes back empty.
struct Failure {
  double seconds = 0;
  std::uint32_t worker = 0;
  double restart_seconds = 0;
};

struct TaskJob {
  std::uint32_t num_workers = 1;
  Slowness worker_slowness;  ///< Of workers, for good: an old machine.
  double start_seconds = 0;  ///< Before any task.
  std::vector<Stage> stages;
  std::vector<Failure> failures;
  schedule::StragglerOptions straggler;
  double poll_seconds = 1;  ///< The policy is asked this often.
  std::uint64_t seed = 1;
};

struct TaskOutcome {
  double seconds = 0;  ///< When the last stage was done.
  /// Seconds of workers in attempts that counted in the end, ...
  double useful_seconds = 0;
  /// ... and in all others: beaten, died, or lost with their worker.
  double wasted_seconds = 0;
  std::uint64_t num_clones = 0;                  ///< Started.
  std::uint64_t num_clones_won = 0;              ///< That ended first.
  std::vector<std::vector<double>> end_seconds;  ///< By stage and task.
};

/// Runs a job to its end. Which tasks are cloned is asked of schedule::relieve_stragglers; nothing
/// is decided here. A pure function: random numbers are keyed by seed, stage, task and attempt.
/// Throws Error{usage} for counts, times, shares and workers that cannot be.
TaskOutcome simulate(const TaskJob& job);

}  // namespace weir::simulation
