// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <weir/engine/schedule/snapshot_policy.hpp>

namespace weir::simulation {

struct SnapshotRun {
  double useful_seconds = 0;  ///< Of work that a snapshot kept.
  double total_seconds = 0;

  /// Time lost per time of work; infinite when no snapshot was ever reached.
  double waste() const;
};

/// A job that takes a snapshot after every `interval` seconds of work, until it has failed so many
/// times. Gaps between failures are exponential; failures strike in snapshots and restarts too.
/// Runs with one seed see the same failures whatever their interval, so differences between
/// intervals are sharper than either. Throws Error{usage} as schedule::expected_waste does, and for
/// no failure.
SnapshotRun simulate_snapshots(const schedule::SnapshotCosts& costs, double interval,
                               std::uint64_t num_failures, std::uint64_t seed);

}  // namespace weir::simulation
