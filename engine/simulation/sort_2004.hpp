// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/engine/schedule/straggler_policy.hpp>
#include <weir/engine/simulation/task_simulation.hpp>

namespace weir::simulation {

/// What may be varied of the sort; the rest is as published.
struct SortOptions {
  std::uint64_t seed = 1;
  std::uint32_t num_runs = 25;     ///< With seeds from `seed` on; rows are medians of them.
  std::uint32_t num_killed = 200;  ///< Workers of 1,746, in the rows with failures.
  double kill_seconds = 240;       ///< The paper: "several minutes into the computation".
};

/// A constant of the model.
struct SortConstant {
  std::string name;
  std::string unit;
  double value = 0;
  std::string origin;  ///< The published fact that it is, or is fitted to.
  bool is_fitted = false;
};

/// One run of the paper, or one that it did not make, under one rule.
struct SortRow {
  std::string label;
  schedule::StragglerOptions straggler;
  bool has_failures = false;
  std::optional<double> paper_seconds;
  bool is_fitted = false;  ///< Constants were fitted to this row: no prediction.

  double seconds = 0;  ///< Median of the runs; the least and the most.
  double least_seconds = 0;
  double most_seconds = 0;
  double wasted_share = 0;          ///< Wasted over useful time of workers, median.
  double num_clones = 0;            ///< Of reduce and map tasks, median.
  double num_clones_won = 0;        ///< Median.
  double num_late = 0;              ///< Reduce tasks that ended after 960 s, median.
  double last_map_seconds = 0;      ///< When the last map task ended for good, median.
  double first_reduce_seconds = 0;  ///< When the first reduce task ended, median.

  /// Relative to the paper; 0 where it has no such run.
  double error() const { return paper_seconds ? seconds / *paper_seconds - 1 : 0; }
};

struct SortReport {
  std::vector<SortConstant> constants;
  std::vector<SortRow> rows;

  /// Every predicted row of the paper is met within 5 %.
  bool is_met() const;
};

/// The sort of 10^10 records on some 1,700 machines of [Dean04 §5.3-5.5], as a job of the
/// simulator, under each rule. Constants are fitted to the run without backup tasks and to the time
/// line of its figure; the runs with backup tasks and with killed workers are predicted. Not
/// modelled: contention for the network, skew of keys. Throws Error{usage} for no run, over 1,746
/// killed workers or a time that is none.
SortReport simulate_sort_2004(const SortOptions& options);

/// One run: the job itself.
TaskJob sort_job_2004(const SortOptions& options, bool has_failures,
                      const schedule::StragglerOptions& straggler, std::uint64_t seed);

}  // namespace weir::simulation
