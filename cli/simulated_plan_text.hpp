// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/engine/simulation/plan_simulation.hpp>

namespace weir::cli {

/// `17=1.1`, `rank:5=2`, `17.forward=1.1`, `rank:5.backward=2`. Throws Error{usage}.
simulation::Straggler parse_straggler(const std::string& item);

/// What is to be known of a plan. Times in seconds.
struct PlanQuestion {
  std::string path;
  std::vector<simulation::Straggler> stragglers{};
  std::optional<std::int64_t> num_iterations{};  ///< Of the whole job, with its failures.
  std::vector<double> failures{};                ///< When it fails.
  std::optional<double> mtbf{};                  ///< Mean between random failures of the job.
  std::optional<std::int64_t> snapshot_every{};  ///< Iterations; nothing: by mtbf, if known.
  double snapshot_stall = 1;
  double restart = 300;
  std::uint64_t seed = 1;

  bool is_of_job() const { return num_iterations.has_value(); }
};

/// An iteration of the plan by cause, event by event beside the closed form, and the job.
std::string simulate_plan(const PlanQuestion& question);

}  // namespace weir::cli
