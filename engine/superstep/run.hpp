// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/vertex_program.hpp>
#include <weir/engine/runtime/float_environment.hpp>
#include <weir/engine/superstep/cpu_executor.hpp>
#include <weir/engine/superstep/driver.hpp>
#include <weir/engine/superstep/fixed_point_executor.hpp>
#include <weir/engine/superstep/ledger.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/engine/superstep/recorder.hpp>
#include <weir/engine/superstep/snapshots.hpp>
#include <weir/engine/superstep/speculation.hpp>

namespace weir {

/// What a run gives back: `const auto [values, report] = weir::run(graph, program);`
template <class V>
struct RunResult {
  VertexValues<V> values;
  RunReport report;
};

namespace detail {

/// Frames name no superstep once the run is over.
struct SuperstepMark {
  explicit SuperstepMark(Context& of) : context(of) {}
  ~SuperstepMark() { context.set_superstep(-1); }
  SuperstepMark(const SuperstepMark&) = delete;
  SuperstepMark& operator=(const SuperstepMark&) = delete;
  Context& context;
};

template <class G, class First, class... Rest>
RunResult<weir::ValueOf<First>> run_phases(G& graph, const std::tuple<First, Rest...>& programs,
                                           const RunOptions& options,
                                           const VertexValues<weir::ValueOf<First>>* initial) {
  using E = typename G::EdgeValue;
  static_assert(check_program<First, E>() && (check_program<Rest, E, First>() && ...));
  static_assert(!MutatingProgram<First> || !std::is_const_v<G>,
                "weir: a program that mutates the topology needs a graph that is not const");
  if constexpr (VertexProgram<First, E> && (VertexProgram<Rest, E, First> && ...)) {
    const FloatEnvironment float_environment;
    const auto run_by = [&]<class Executor>(std::in_place_type_t<Executor>) {
      Context& context = graph.context();
      const SuperstepMark mark(context);
      try {
        Executor executor(graph, programs, options, initial);
        Agreed<First> agreed;
        agreed.summary.num_unhalted = executor.num_unhalted_of_all();
        Recorder recorder(context, options);
        RunSnapshots<Executor, First> snapshots(graph, executor, programs, options);
        RunSpeculation<Executor> speculation(context, executor, options);
        RunLedger<Executor, First> ledger(graph, executor, programs, options);
        const Ending ending = drive(
            context, executor, std::get<0>(programs), options, [&] { return graph.num_vertices(); },
            agreed, recorder, snapshots, speculation, ledger);
        ledger.finish();
        return RunResult<weir::ValueOf<First>>{executor.take_values(),
                                               recorder.finish(ending, Executor::is_synchronous)};
      } catch (...) {
        context.rethrow_for_all();  // between the agreed points the others are waiting
      }
    };
    if constexpr (sizeof...(Rest) == 0 && runs_to_fixed_point<First>) {
      if (options.direction == Direction::automatic &&
          options.max_supersteps == no_superstep_limit &&
          options.speculation.rule != schedule::StragglerRule::forced &&
          !options.ledger.is_verified)
        return run_by(std::in_place_type<FixedPointExecutor<G, First>>);
    }
    return run_by(std::in_place_type<CpuExecutor<G, First, Rest...>>);
  }
}

}  // namespace detail

/// Runs a vertex program until nothing is active and no message is in flight, the master halts, or
/// `max_supersteps` is reached. Collective. Every rank throws the same Error: of several failures
/// in one superstep, the one at the smallest vertex.
template <class E, class P>
RunResult<ValueOf<P>> run(const Graph<E>& graph, const P& program, const RunOptions& options = {}) {
  return detail::run_phases(graph, std::tuple<P>(program), options, nullptr);
}

/// The same for a program that changes the topology of `graph`.
template <class E, MutatingProgram P>
RunResult<ValueOf<P>> run(Graph<E>& graph, const P& program, const RunOptions& options = {}) {
  return detail::run_phases(graph, std::tuple<P>(program), options, nullptr);
}

/// Starts from given values instead of the program's `init`; they belong to the same graph.
template <class E, class P>
RunResult<ValueOf<P>> run(const Graph<E>& graph, const P& program, const RunOptions& options,
                          const VertexValues<ValueOf<P>>& initial) {
  return detail::run_phases(graph, std::tuple<P>(program), options, &initial);
}
template <class E, MutatingProgram P>
RunResult<ValueOf<P>> run(Graph<E>& graph, const P& program, const RunOptions& options,
                          const VertexValues<ValueOf<P>>& initial) {
  return detail::run_phases(graph, std::tuple<P>(program), options, &initial);
}

/// Runs the phases of one program; the master of the first chooses which.
template <class E, class First, class... Rest>
RunResult<ValueOf<First>> run(const Graph<E>& graph, const Phases<First, Rest...>& program,
                              const RunOptions& options = {}) {
  return detail::run_phases(graph, program.phases, options, nullptr);
}
template <class E, MutatingProgram First, class... Rest>
RunResult<ValueOf<First>> run(Graph<E>& graph, const Phases<First, Rest...>& program,
                              const RunOptions& options = {}) {
  return detail::run_phases(graph, program.phases, options, nullptr);
}

}  // namespace weir
