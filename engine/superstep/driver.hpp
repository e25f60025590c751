// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <weir/engine/superstep/decision.hpp>
#include <weir/engine/superstep/ledger.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/engine/superstep/recorder.hpp>
#include <weir/engine/superstep/snapshots.hpp>
#include <weir/engine/superstep/speculation.hpp>
#include <weir/engine/superstep/summary.hpp>

namespace weir {

/// Asks the master about the next superstep. Pure: every rank decides, or fails, alike.
template <class P>
Decision decide(Context& context, const P& program, Superstep step, std::size_t phase,
                std::size_t num_phases, std::uint64_t num_vertices, Agreed<P>& agreed) {
  Decision decision{.phase = phase};
  if constexpr (MasterProgram<P>) {
    const Summary& last = agreed.summary;
    MasterHandle<P> handle(step, last.num_unhalted, num_vertices,
                           last.num_scattered + last.num_sent, agreed.aggregated, phase);
    try {
      program.master(agreed.master, handle);
      WEIR_EXPECT(handle.phase() < num_phases, program,
                  "found phase " + std::to_string(handle.phase()) + "; expected less than " +
                      std::to_string(num_phases));
    } catch (...) {
      const Failure failure = current_failure(0, 0);
      context.throw_agreed(
          {failure.code, "superstep " + std::to_string(step) + ", master: " + failure.text});
    }
    decision = {handle.is_halted(), handle.wakes_all(), handle.phase()};
  }
  return decision;
}

/// The superstep loop: compute, exchange, barrier ([Malewicz10]). Collective; every rank returns
/// from the same superstep, or throws the same Error.
template <class Executor, class P>
Ending drive(Context& context, Executor& executor, const P& program, const RunOptions& options,
             const std::function<std::uint64_t()>& num_vertices, Agreed<P>& agreed,
             Recorder& recorder, RunSnapshots<Executor, P>& snapshots,
             RunSpeculation<Executor>& speculation, RunLedger<Executor, P>& ledger) {
  std::size_t phase = 0;
  const Superstep first = snapshots.resume(agreed, phase, recorder);
  ledger.begin(first, phase, agreed);
  for (Superstep step = first;; ++step) {
    const Decision decision =
        decide(context, program, step, phase, Executor::num_phases, num_vertices(), agreed);
    if (decision.is_halted) return Ending::halted;
    if (step > 0 && agreed.summary.is_quiet() && !decision.wakes_all) return Ending::quiet;
    if (step >= options.max_supersteps) return Ending::superstep_limit;
    phase = decision.phase;

    context.set_superstep(step);
    recorder.begin(step, phase);
    for (int pass = 0; pass < ledger.num_passes(); ++pass) {
      ledger.before_pass(step, pass);
      executor.begin(step, decision, agreed);               // which rows to visit
      speculation.run(agreed.summary, decision.wakes_all);  // fold, compute, publish
      ledger.after_pass(pass);
    }
    recorder.computed(executor.is_sparse());
    executor.exchange();  // published values to their readers
    recorder.exchanged();
    executor.summary().wants_to_cancel = options.cancel.is_cancelled() ? 1 : 0;
    executor.summary().bytes_sent = recorder.bytes_sent(context);
    snapshots.report(executor.summary());
    agreed.summary = barrier(context, executor.summary());  // one fold
    agreed.summary.throw_if_failed(context, step);
    agreed.aggregated = executor.fold_aggregates(agreed.summary.aggregates);

    std::uint64_t num_dropped = 0;
    const bool has_sends = agreed.summary.num_sent > 0;
    const bool has_mutations = agreed.summary.num_mutations > 0;
    for (int pass = 0; has_sends && pass < ledger.num_passes(); ++pass) {
      ledger.before_delivery(pass);
      num_dropped = executor.deliver_sends();
      ledger.after_delivery(pass);
    }
    executor.commit(has_sends);  // what was published can be read
    if constexpr (MutatingProgram<P>) {
      if (has_mutations) {
        executor.deliver();  // before the topology changes
        num_dropped += executor.mutate();
      }
    }
    if (has_sends || has_mutations)
      settle(context, agreed.summary, num_dropped,
             has_mutations ? executor.num_unhalted() : executor.summary().num_unhalted);
    ledger.committed(step, phase, agreed, has_mutations);
    recorder.committed(agreed.summary, agreed.aggregated, AggregatorsOf<P>{});
    snapshots.committed(step + 1, phase, agreed, recorder);
  }
}

}  // namespace weir
