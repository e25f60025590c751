// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/snapshot_simulation.hpp>

#include <cmath>
#include <limits>

#include <weir/engine/model/check.hpp>
#include <weir/engine/model/random.hpp>
#include <weir/io/portable_math.hpp>

namespace weir::simulation {

double SnapshotRun::waste() const {
  if (useful_seconds <= 0) return std::numeric_limits<double>::infinity();
  return total_seconds / useful_seconds - 1;
}

SnapshotRun simulate_snapshots(const schedule::SnapshotCosts& costs, double interval,
                               std::uint64_t num_failures, std::uint64_t seed) {
  schedule::expected_waste(costs, interval);  // Refuses what cannot be.
  WEIR_EXPECT(num_failures > 0, usage, "snapshots: found no failure; expected one at least");
  CounterRandom random(seed, 0, 0);
  SnapshotRun run;
  bool is_restarting = false;
  for (std::uint64_t i = 0; i < num_failures; ++i) {
    // The unit interval without its 0.
    const double gap = -costs.mtbf_seconds * io::portable_log(1 - random.next_unit());
    run.total_seconds += gap;
    const double working = gap - (is_restarting ? costs.restart_seconds : 0);
    const double num_kept =
        working > 0 ? std::floor(working / (interval + costs.stall_seconds)) : 0;
    run.useful_seconds += num_kept * interval;
    is_restarting = true;
  }
  return run;
}

}  // namespace weir::simulation
