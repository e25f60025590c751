// SPDX-License-Identifier: Apache-2.0
// How often to take a snapshot: pure functions. All times in seconds.
#pragma once

#include <cstdint>

namespace weir::schedule {

/// What decides how often a job should take a snapshot.
struct SnapshotCosts {
  double stall_seconds = 0;  ///< That a snapshot adds to the job: the stop and the slower running.
  double mtbf_seconds = 0;   ///< Mean time between failures of the whole job.
  double restart_seconds = 0;  ///< From a failure until the last snapshot is in memory again.
};

// Each of the following throws Error{usage} for times that are negative or no numbers, and for a
// stall, an interval or a mean time between failures of 0.

/// Time of work between two snapshots, [Young74]: sqrt(2 C M), for a stall C and a mean time
/// between failures M.
double young_interval(const SnapshotCosts& costs);

/// [Daly06], first order with restarts R: sqrt(2 C (M + R)) - C, and 0 where that is negative.
double daly_interval(const SnapshotCosts& costs);

/// [Daly06], higher order: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C for C < 2M,
/// else M. Restarts do not move it. This is the interval that weir takes.
double refined_daly_interval(const SnapshotCosts& costs);

/// Time lost per time of work if a snapshot is taken after every `interval` of work: to first
/// order, C / T + T / 2M + R / M. Good while T and C are small against M.
double first_order_waste(const SnapshotCosts& costs, double interval);

/// The same without approximation for failures that come at random, at any time, in snapshots and
/// restarts too [Daly06]: M e^(R / M) (e^((T + C) / M) - 1) / T - 1. May be infinite.
double expected_waste(const SnapshotCosts& costs, double interval);

/// Mean time between failures of a job on so many nodes, where nothing better is known: one failure
/// per node and day. Throws Error{usage} for no node.
double default_mtbf_seconds(std::uint64_t num_nodes);

/// What a running job measures.
struct SnapshotMeasures {
  double superstep_seconds = 0;      ///< Mean.
  double persist_seconds = 0;        ///< Until a snapshot is whole on its store, in the background.
  std::uint32_t most_in_flight = 1;  ///< Snapshots that may be written at a time.
};

/// Supersteps from one snapshot to the next: the refined interval in whole supersteps, at least
/// one, and no more often than snapshots are written. A pure function, to be asked after each
/// superstep.
std::uint64_t supersteps_between_snapshots(const SnapshotCosts& costs,
                                           const SnapshotMeasures& measures);

}  // namespace weir::schedule
