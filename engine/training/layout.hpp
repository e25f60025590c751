// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <weir/engine/training/transformer.hpp>

namespace weir::training {

/// The order in which a pipeline works through the micro-batches of an iteration.
enum class Schedule {
  gpipe,        ///< All forward, then all backward ([Huang19]).
  one_f_one_b,  ///< One forward, one backward in turn ([Narayanan19]).
  interleaved,  ///< The same over several chunks of layers per stage ([Narayanan21]).
  zb_h1,        ///< Zero bubble, memory of 1F1B ([Qi24]).
  zb_v,         ///< Zero bubble, V-shaped placement of two chunks ([Qi24b]).
};

std::string_view name_of(Schedule schedule) noexcept;

/// How one training job is cut over its devices. Ranks are ordered tensor, context, pipeline, data
/// from the inside, so that tensor groups lie inside nodes where they fit.
///
/// Experts add no devices: the routed experts of a layer are shared out, whole, over `expert`
/// consecutive ranks of a stage, which are whole tensor groups.
struct Layout {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t expert = 1;        ///< Ranks that share out the routed experts.
  std::int64_t global_batch = 1;  ///< Samples per iteration.
  std::int64_t micro_batch = 1;   ///< Samples per micro-batch of one pipeline.
  std::int64_t interleave = 1;    ///< Chunks of layers per stage.
  Schedule schedule = Schedule::one_f_one_b;
  Recompute recompute = Recompute::none;
  bool has_sequence_parallelism = false;  ///< [Korthikanti22]
  /// What data ranks share out among them instead of each holding it all: 1 the optimizer's state,
  /// 2 gradients too, 3 weights too ([Rajbhandari20]).
  int zero_stage = 0;

  std::int64_t num_devices() const { return tensor * context * pipeline * data; }
  /// Ranks of one stage, all pipelines together.
  std::int64_t num_stage_devices() const { return tensor * context * data; }
  /// Micro-batches of one pipeline in an iteration; the last may be smaller.
  double num_micro_batches() const {
    return static_cast<double>(global_batch) / static_cast<double>(data * micro_batch);
  }
};

/// Throws Error{input} unless degrees are positive, divide what they cut, and the batch fills whole
/// micro-batches.
void check(const Layout& layout, const Transformer& model);

/// Time of a pipeline in which nothing waits, and of waiting in it, in units of one micro-batch's
/// work on one stage, forward and backward. `num_micro_batches` of the work of equal stages.
///
/// GPipe and 1F1B idle (p-1), interleaved (p-1)/v; ZB-H1 (p-1)(tf + tB - tW), one third where the
/// three are equal; ZB-V nothing where they are.
double bubble_micro_batches(const Layout& layout);

/// Micro-batches whose activations the first stage keeps at most, in units of one stage's layers:
/// all for GPipe, p for 1F1B and ZB-H1 and ZB-V, p(1 + (p-1)/(p v)) interleaved ([Korthikanti22]).
double micro_batches_in_flight(const Layout& layout);

}  // namespace weir::training
