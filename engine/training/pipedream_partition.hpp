// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/operator_graph.hpp>

namespace weir::training {

/// One level of a machine, as PipeDream's optimizer sees it: `num_units` units of the level below
/// (devices, for the first), joined at `bandwidth` bytes per second.
struct PipeDreamLevel {
  std::size_t num_units = 1;
  double bandwidth = 0;
};

/// A stage of one level: the states [begin, end) of the optimizer, replicated on units of that
/// level.
struct PipeDreamStage {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t num_replicas = 1;
};

struct PipeDreamPlan {
  std::size_t num_states = 0;
  double slowest_stage_seconds = 0;  ///< The objective, per micro-batch.
  double one_device_seconds = 0;
  double data_parallel_seconds = 0;
  /// Stages of each level, outermost first; an inner level lists those of every outer stage.
  std::vector<std::vector<PipeDreamStage>> levels;
};

/// The levels of a tree in which all groups of a level have one size, innermost first. Throws
/// Error{input} for other trees.
std::vector<PipeDreamLevel> levels_of(const schedule::Topology& cluster);

/// What PipeDream's published optimizer ([Narayanan19]; its optimizer_graph_hierarchical, with
/// communication considered) computes, level by level from the inside out.
///
/// For comparison with it, hence with its rules where they differ from the paper: a stage costs
/// (compute + 4(r-1)/r * parameter bytes / bandwidth) / r, a sum; inputs are left out, and
/// sinks whose kind begins with `__getitem__`; states are grown_downsets, not all; an inner level
/// subtracts states also where neither holds the other. Throws Error{input} where the graph has
/// more than `most_states` states, and Error{usage} where there is no level or one of no unit or no
/// bandwidth.
PipeDreamPlan partition_as_pipedream(const OperatorGraph& graph,
                                     const std::vector<PipeDreamLevel>& levels,
                                     std::size_t most_states = 4096);

}  // namespace weir::training
