// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::simulation {

/// A job of equal iterations that failures interrupt: it goes on from its last snapshot.
struct InterruptedJob {
  std::int64_t num_iterations = 1;
  double iteration_seconds = 1;
  std::int64_t snapshot_every = 0;           ///< Iterations; 0: no snapshots.
  double snapshot_seconds = 0;               ///< By which one holds the job up.
  double restart_seconds = 0;                ///< From a failure until the job goes on.
  std::vector<double> failures{};            ///< Times of failures, seconds from the start.
  double mean_seconds_between_failures = 0;  ///< Of random ones, exponential; 0: none.
  std::uint64_t seed = 1;
};

/// Where its time goes. All parts sum to the total.
struct JobTime {
  double work = 0;  ///< Iterations that counted.
  double snapshots = 0;
  double lost = 0;  ///< Iterations and snapshots that had to be done again.
  double restarts = 0;
  std::int64_t num_failures = 0;
  std::int64_t num_snapshots = 0;

  double total() const { return work + snapshots + lost + restarts; }
};

/// Runs the job to its end. A failure while the job restarts makes it restart again; one after its
/// end is none. Deterministic for a seed. Throws Error{usage} for numbers that make no sense,
/// Error{input} where 100,000 failures have not let the job end.
JobTime run(const InterruptedJob& job);

/// Iterations between snapshots by Daly's rule, sqrt(2 C (M + R)) - C seconds for snapshots of C
/// seconds, M seconds between failures and restarts of R ([Daly06]); at least 1.
std::int64_t snapshot_interval(const InterruptedJob& job);

/// Share of the work that snapshots, repeats and restarts are expected to add, by the first-order
/// formula C/T + T/(2 M) + R/M for an interval of T seconds ([Young74]).
double expected_waste(const InterruptedJob& job);

}  // namespace weir::simulation
