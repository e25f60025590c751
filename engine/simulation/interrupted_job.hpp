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

}  // namespace weir::simulation
