// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <weir/engine/training/placed_plan.hpp>

namespace weir::simulation {

/// Work of a rank, or of all ranks of a host, that takes `factor` times as long as it should. Its
/// tensor and context groups wait for it.
struct Straggler {
  enum class Of { host, rank };

  Of of = Of::host;
  std::size_t number = 0;          ///< Of the host, a group of the cluster's innermost level.
  double factor = 1;               ///< Above 1: slower.
  bool is_slow_in_forward = true;  ///< In forward passes.
  bool is_slow_in_backward = true;
};

/// One iteration of a plan, event by event.
struct PlanSimulation {
  /// Seconds by cause, as in training::IterationTime, and of stragglers. They sum to the whole.
  std::vector<training::NamedPart> parts;
  double seconds = 0;
  /// When each tick of each rank of the pipeline of the first data rank runs.
  std::vector<std::vector<training::Interval>> timeline;
  std::size_t num_pipelines = 0;  ///< Simulated; like ones are simulated once.
  std::size_t num_events = 0;
};

/// Simulates an iteration: every pass of every micro-batch on every pipeline rank, sends between
/// stages over the adapters and switches that they cross, each carrying one after the other, the
/// exchange of gradients over rings that share links, the optimizer.
///
/// Ranks of a tensor and context group move in step and are one cell. A pass takes what the time
/// model says, shared out over the causes; stages without logits take less. A cell that sends waits
/// until that has arrived, unless the software overlaps it. Gradients are exchanged when all
/// pipelines have passed the stage; overlapped, in tenths of each chunk, as its last pass makes
/// them. Pipelines that lie alike and have no straggler are simulated once, unless they share
/// switches that carry less than the adapters below them.
///
/// Without stragglers the whole agrees with the closed form up to what that neglects, see
/// docs/planning.md. Throws Error{usage} for a straggler that is not there or a factor not above 0.
PlanSimulation simulate(const training::PlacedPlan& plan,
                        const std::vector<Straggler>& stragglers = {});

}  // namespace weir::simulation
