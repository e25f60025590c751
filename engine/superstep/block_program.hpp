// SPDX-License-Identifier: Apache-2.0
// Block programs: docs/semantics.md is the contract.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/superstep/block.hpp>
#include <weir/engine/superstep/boundary.hpp>
#include <weir/engine/superstep/decision.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

/// Computes on all of a rank's part of the graph at once, and sees of other ranks what crosses the
/// boundary. Its members are the rank's state; every run begins with a copy of the program.
///
/// - `compute(block, boundary)` runs once per superstep on every rank, and may use all of its
///   threads (`block.for_each_run`).
/// - `value(block, row)` is the result of an own vertex, asked for when the job is over.
/// - `along_edges` says which lists the block holds, as for vertex programs; Edges::out if absent.
///
/// Law: *confluent*. How the vertices are dealt to ranks, and which thread comes first, changes no
/// bit of any value.
template <class P>
concept BlockProgram = std::copyable<P> && requires {
  typename P::Value;
  typename P::Message;
} && Bitwise<typename P::Message> && requires(P& program, const P& ended, const Block& block,
                                              Boundary<typename P::Message>& boundary, Row row) {
  { program.compute(block, boundary) } -> std::same_as<void>;
  { ended.value(block, row) } -> std::convertible_to<typename P::Value>;
};

namespace detail {

/// What the ranks propose is folded with the summary, as one aggregate.
Summary block_summary(std::uint64_t num_sent, std::optional<std::int64_t> proposal);
std::optional<std::int64_t> agreed_proposal(const Summary& agreed);
/// Throws what any rank failed with, then what cancelled the job. Collective.
void throw_block_failure(Context& context, const Summary& agreed, Superstep step);

/// Compute, exchange, barrier, until no rank sends or proposes anything.
template <BlockProgram P>
Ending drive_blocks(Context& context, const Block& block, P& program, const RunOptions& options,
                    Recorder& recorder) {
  Boundary<typename P::Message> boundary(context, block);
  std::optional<std::int64_t> agreed;
  for (Superstep step = 0; step < options.max_supersteps; ++step) {
    context.set_superstep(step);
    recorder.begin(step, 0);
    boundary.begin(step, agreed);
    std::optional<Failure> failure;
    try {
      program.compute(block, boundary);
    } catch (...) {
      failure = current_failure(0, context.rank());
      boundary.forget_sent();
    }
    recorder.computed(false);
    Summary summary = block_summary(boundary.num_sent(), boundary.proposal());
    boundary.exchange();
    recorder.exchanged();
    summary.num_computed = block.num_rows();
    summary.failure = std::move(failure);
    summary.wants_to_cancel = options.cancel.is_cancelled() ? 1 : 0;
    summary.wants_to_stop = options.snapshots.stop.is_cancelled() ? 1 : 0;
    summary.bytes_sent = recorder.bytes_sent(context);
    const Summary folded = barrier(context, summary);
    throw_block_failure(context, folded, step);
    if (folded.wants_to_stop > 0) throw_stopped(context, options.snapshots, step + 1, std::nullopt);
    agreed = agreed_proposal(folded);
    recorder.committed(folded, {}, Aggregators<>{});
    if (folded.num_sent == 0 && !agreed) return Ending::quiet;
  }
  return Ending::superstep_limit;
}

}  // namespace detail

/// Runs a block program until no rank sends or proposes anything, or `max_supersteps` is reached.
/// `options.direction` and `options.seed` mean nothing to it, and no snapshots are taken: a job
/// that is started again begins it anew. Collective. What `compute` throws on any rank, every rank
/// throws: of several failures in one superstep that of the lowest rank.
template <class E, BlockProgram P>
RunResult<typename P::Value> run(const Graph<E>& graph, const P& program,
                                 const RunOptions& options = {}) {
  const FloatEnvironment float_environment;
  Context& context = graph.context();
  const detail::SuperstepMark mark(context);
  context.expect(options.max_supersteps > 0, ErrorCode::usage,
                 "max_supersteps is 0; a block program has no values before its first superstep");
  context.expect(
      !options.ledger.is_on(), ErrorCode::usage,
      "ledger: found a block program, whose state is its own; expected a vertex program");
  if (!options.snapshots.directory.empty() && context.is_root()) {
    context.log(LogLevel::warning,
                "no snapshots are taken of a block program; started again, it begins anew");
  }
  try {
    const Block block(graph, along_edges_of<P>());
    P own = program;
    Recorder recorder(context, options);
    const Ending ending = detail::drive_blocks(context, block, own, options, recorder);
    RunReport report = recorder.finish(ending, false);
    PlainVector<detail::Cell<typename P::Value>> cells(block.num_rows());
    context.agree([&] {
      block.for_each_run([&](Row first, Row last) {
        for (Row row = first; row < last; ++row)
          cells[row].value = std::as_const(own).value(block, row);
      });
    });
    return {{context, graph.vertices(), graph.names(), std::move(cells)}, std::move(report)};
  } catch (...) {
    context.rethrow_for_all();  // between the agreed points the others are waiting
  }
}

}  // namespace weir
