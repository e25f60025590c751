// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weir/engine/schedule/snapshot_policy.hpp>
#include <weir/engine/simulation/sort_2004.hpp>

namespace weir::cli {

/// What a simulation has to say, for people and as JSON (docs/simulation.md).
struct SimulatedText {
  std::string text;
  std::string json;
  bool is_met = true;  ///< What was predicted is what was published.
};

// One source file each.
SimulatedText simulate_sort(const simulation::SortOptions& options);

struct SnapshotQuestion {
  schedule::SnapshotCosts costs{0.2, 24 * 3600, 30};
  std::uint64_t num_failures = 200000;  ///< Of each simulated run.
  std::uint64_t seed = 1;
  std::optional<double> superstep_seconds;
};
SimulatedText simulate_snapshot_intervals(const SnapshotQuestion& question);

}  // namespace weir::cli
