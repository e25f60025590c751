// SPDX-License-Identifier: Apache-2.0
// Frontiers that grow and shrink: breadth-first search on a grid, where each of a thousand levels
// holds a few hundred vertices, and on a skewed graph, where most vertices are in one of a few.
#include <array>
#include <string>

#include <benchmark/benchmark.h>

#include <weir/algorithms/breadth_first_search.hpp>
#include <weir/bench/micro/bench_graphs.hpp>

namespace weir::bench {

namespace {

/// The vertex of the most arcs; of several, any one, but always the same.
VertexId busiest(const Vertices& vertices) {
  Row best = 0;
  for (Row row = 1; row < vertices.size(); ++row) {
    if (vertices.out_degree(row) > vertices.out_degree(best)) best = row;
  }
  return vertices.id(best);
}

void search(benchmark::State& state, const std::string& spec) {
  Context context({.threads = static_cast<int>(state.range(0))});
  const auto graph = generated_graph(context, spec, {.is_directed = false});
  const std::array<VertexId, 1> sources{busiest(*graph.vertices())};
  std::uint64_t num_levels = 0;
  for (auto _ : state) {
    const auto result = run(graph, SearchLevelProgram{sources});
    state.SetIterationTime(result.report.seconds);
    num_levels += result.report.num_supersteps;
  }
  state.counters["per_level"] = benchmark::Counter(
      static_cast<double>(num_levels), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(search, grid, std::string("grid:512x512"))
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->MinTime(min_seconds);
BENCHMARK_CAPTURE(search, rmat, std::string("rmat:scale=16,seed=1"))
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->MinTime(min_seconds);

}  // namespace

}  // namespace weir::bench
