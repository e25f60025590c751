// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/iteration_time.hpp>
#include <weir/engine/training/memory.hpp>

namespace weir::training {

/// What a layout is to be; nothing: the search decides.
struct LayoutConstraints {
  std::optional<std::int64_t> tensor, context, pipeline, data, expert;
  std::optional<std::int64_t> micro_batch, interleave;
  std::optional<Schedule> schedule;
  std::optional<Recompute> recompute;
  std::optional<int> zero_stage;

  bool allow(const Layout& layout) const;
  /// These, and `others` where these say nothing.
  LayoutConstraints or_else(const LayoutConstraints& others) const;
};

/// A transformer that is to be trained on equal devices.
struct ParallelPlanRequest {
  Transformer model;
  std::int64_t num_devices = 1;
  std::int64_t global_batch = 1;  ///< Samples per iteration.
  double memory_bytes = 0;        ///< Of one device; 0: not limited.
  Machine machine{};
  Software software{};
  LayoutConstraints constraints{};
};

/// A layout and what it costs.
struct ParallelPlan {
  Layout layout{};
  IterationTime time{};
  MemoryUse memory{};  ///< device_memory() of it.
};

struct ParallelPlans {
  /// The best layout of each combination of tensor, context, pipeline, data and expert degrees,
  /// best first.
  std::vector<ParallelPlan> best;
  std::int64_t num_considered = 0;  ///< Layouts that are allowed.
  std::int64_t num_fitting = 0;     ///< Of them, those that fit in memory.
};

/// True if `layout` is one of those that the search considers: all devices of the request and its
/// whole batch, accepted by check(), and
/// - tensor groups, and tensor times context, divide a node or are made of whole nodes; tensor
///   ranks divide key-value heads, the feed-forward network and their share of the sequence, which
///   is always cut (sequence parallelism) where there are several;
/// - expert ranks share out the routed experts evenly and, like tensor groups, the nodes;
/// - a ring of context ranks hides its transfers behind attention on its slowest hop;
/// - several chunks are of equal size, of equal stages, and so are the two of ZB-V;
/// - schedules other than 1F1B have several stages; ZB-H1 has as many micro-batches as stages, ZB-V
///   twice as many, and neither recomputes in full: else their closed forms do not hold ([Qi24]);
/// - ZeRO has several data ranks; its stages 2 and 3 one micro-batch and one stage, since the time
///   model charges their exchange once an iteration.
bool is_considered(const ParallelPlanRequest& request, const Layout& layout);

/// True if `left` is the better of two plans: less time, then fewer bytes, then the smaller in
/// tensor, context, pipeline, expert, micro-batch, chunks, schedule, recomputation, ZeRO stage in
/// turn.
bool is_better(const ParallelPlan& left, const ParallelPlan& right);

/// The layouts that train fastest by predict() among all considered that fit in memory, at most
/// `num_plans`. Exhaustive and deterministic.
///
/// Throws Error{usage} where the constraints leave no layout, Error{input} where none fits, with
/// what the smallest needs and which part of it is the largest, or where no ring of context ranks
/// hides its transfers, with the hop that stands in the way.
ParallelPlans plan_parallel(const ParallelPlanRequest& request, std::size_t num_plans);

/// `tensor 8, context 1, pipeline 4, ...`.
std::string describe(const Layout& layout);

/// Parts by name, in seconds and bytes, each summing to the total.
struct NamedPart {
  const char* name;
  double value;
};
std::vector<NamedPart> parts_of(const IterationTime& time);
std::vector<NamedPart> parts_of(const MemoryUse& memory);

/// The machine of a cluster: the constants of its kind (A100, H100; others need `peak_flops`), its
/// slowest device for all, since the others wait for it, and of each link's bandwidth what
/// collectives usually reach. Throws Error{input} where nodes are not equal, Error{usage} where the
/// peak is not known.
Machine machine_of(const schedule::Topology& cluster, std::optional<double> peak_flops);

}  // namespace weir::training
