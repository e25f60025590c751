// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <weir/engine/training/layout.hpp>

namespace weir::training {

/// What a rank does with a micro-batch. A backward pass is one tick, or two where the gradients of
/// inputs, for which the stage before waits, come before those of weights, for which nobody does.
enum class Pass : std::uint8_t { forward, backward, backward_input, backward_weight };

std::string_view name_of(Pass pass) noexcept;

/// One pass of one micro-batch through one of the chunks of layers of a rank.
struct Tick {
  Pass pass = Pass::forward;
  std::uint32_t chunk = 0;
  std::uint32_t micro_batch = 0;

  friend bool operator==(const Tick&, const Tick&) = default;
};

/// What each rank of a pipeline does in an iteration, in order. A stage is one chunk of layers; the
/// model's layers go through stages 0, 1, 2, ...
struct PipelineSchedule {
  Schedule kind = Schedule::one_f_one_b;
  std::size_t num_chunks = 1;  ///< Of each rank.
  std::size_t num_micro_batches = 0;
  std::vector<std::vector<Tick>> ticks;  ///< By rank.

  std::size_t num_ranks() const { return ticks.size(); }
  std::size_t num_stages() const { return num_ranks() * num_chunks; }

  /// Chunks go round the ranks; in ZB-V forth and back, so that a rank has the first and the last.
  std::size_t stage_of(std::size_t rank, std::size_t chunk) const {
    if (kind == Schedule::zb_v && chunk == 1) return num_stages() - 1 - rank;
    return chunk * num_ranks() + rank;
  }
  std::size_t chunk_of(std::size_t stage) const { return stage / num_ranks(); }
  std::size_t rank_of(std::size_t stage) const {
    const std::size_t at = stage % num_ranks();
    return kind == Schedule::zb_v && chunk_of(stage) == 1 ? num_ranks() - 1 - at : at;
  }
};

/// The ticks of a layout's schedule: pipeline degree, micro-batches, chunks and kind are used.
///
/// - GPipe: all forward, then all backward.
/// - 1F1B: rank i of p runs p-1-i forward passes ahead, then one forward, one backward in turn.
/// - Interleaved: the same over virtual micro-batches, 2(p-1-i) + (v-1)p ahead ([Narayanan21]).
/// - ZB-H1: 1F1B whose weight gradients rank i puts off by i micro-batches; on every rank at most p
///   micro-batches wait for theirs, which are all that 1F1B keeps on its first ([Qi24]).
/// - ZB-V: two chunks, forth and back, at most 2p chunks of micro-batches kept on every rank; with
///   m >= 2p-1 micro-batches and equal passes no rank waits once it has begun ([Qi24b]).
///
/// Throws Error{input} for a layout that check() refuses for its own numbers.
PipelineSchedule make_schedule(const Layout& layout);

/// Throws Error{input} unless every stage passes every micro-batch forward and backward once, and
/// the order can be run: no ticks wait for each other in a circle, which is written out.
void check(const PipelineSchedule& schedule);

/// Chunks of micro-batches that each rank keeps activations of at most: from the forward pass to
/// the end of the backward pass.
std::vector<std::size_t> most_in_flight(const PipelineSchedule& schedule);

/// When a tick runs, in seconds from the start of the iteration.
struct Interval {
  double start = 0;
  double end = 0;
};

/// When each tick of each rank runs if all start as soon as their rank is free and their input is
/// there, which takes no time. `seconds(stage, pass)` of one tick. Throws as check() does.
std::vector<std::vector<Interval>> run_ticks(
    const PipelineSchedule& schedule,
    const std::function<double(std::size_t stage, Pass pass)>& seconds);

/// The longest time that a rank waits between its first tick and its last.
double bubble_seconds(const std::vector<std::vector<Interval>>& timeline);

}  // namespace weir::training
