// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/operator_graph.hpp>

namespace weir::training {

struct PartitionOptions {
  /// A straight pipeline of that many stages, each on one device; else replicated as it is fastest.
  std::optional<std::size_t> num_stages{};
  /// Memory of a parameter byte: weight, gradient and two moments of Adam, all of one width.
  double parameter_copies = 4;
  /// Micro-batches that a replica computes between two exchanges of gradients.
  std::size_t micro_batches_per_update = 1;
  /// With more downsets than that, only grown_downsets are cuts; with more of these as well, only
  /// prefixes of one topological order.
  std::size_t most_downsets = 4096;
};

/// What of a stage takes the time.
enum class Bound { compute, gradients, input, output };

std::string name_of(Bound bound);

/// Operators that one group of devices computes, each device a replica that takes its turn.
struct Stage {
  std::vector<std::size_t> operators;  ///< Ascending.
  std::size_t first_device = 0;        ///< In the first pipeline.
  std::size_t num_replicas = 1;        ///< In each pipeline.
  std::size_t num_in_flight = 1;       ///< Micro-batches that a replica holds activations of.
  double compute_seconds = 0;          ///< Of one micro-batch on the slowest replica.
  double gradient_seconds = 0;         ///< Of one exchange among all replicas.
  double input_seconds = 0;            ///< Of moving one micro-batch's activations and gradients.
  double output_seconds = 0;
  double seconds = 0;  ///< Between two micro-batches that leave the stage, over all replicas.
  Bound bound = Bound::compute;
  double parameter_bytes = 0;
  double memory_bytes = 0;  ///< Of one device.
};

/// Pipelines of equal shape: pipeline b has the stages on devices b * devices_per_pipeline on.
struct Partition {
  std::vector<Stage> stages;
  std::size_t num_pipelines = 1;
  std::size_t devices_per_pipeline = 1;
  std::size_t num_devices = 1;  ///< Of the cluster; those after the last pipeline are idle.
  double seconds = 0;           ///< Between two micro-batches, over all pipelines: the objective.
  double one_device_seconds = 0;
  /// Of one pipeline of one stage per device; nothing where that does not fit in memory.
  std::optional<double> data_parallel_seconds{};
  std::size_t num_downsets = 0;
  bool is_exact = true;  ///< No plan of this form is faster; else some were not looked at.

  std::size_t num_idle() const { return num_devices - num_pipelines * devices_per_pipeline; }
};

/// Cuts a graph into the stages of one or more pipelines so that micro-batches leave as fast as
/// possible, after [Narayanan19 §3.1], on trees of any depth and devices of different speeds.
///
/// A stage is what one downset of the graph has more than the one before; it runs on consecutive
/// devices. It costs the most of computing, of exchanging its gradients, and of moving activations
/// over either boundary, as these overlap; inputs and unread views cost nothing;
/// docs/planning.md has the formulas. Found by dynamic programming over (downset, devices used).
/// Only plans that fit in memory are looked at. Throws Error{input} where none fits, with the stage
/// and bytes that stand in the way, and where there are more stages than operators or devices.
Partition partition(const OperatorGraph& graph, const schedule::Topology& cluster,
                    const PartitionOptions& options = {});

/// Time of a batch of that many micro-batches, dealt evenly over the pipelines: the first passes
/// all stages, then one leaves after each turn of the slowest. 0 for none.
double batch_seconds(const Partition& plan, std::size_t num_micro_batches);

}  // namespace weir::training
