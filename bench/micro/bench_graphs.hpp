// SPDX-License-Identifier: Apache-2.0
// Graphs of the micro benchmarks: generated with fixed seeds, the same in every run.
#pragma once

#include <string>
#include <vector>

#include <weir/engine/engine.hpp>
#include <weir/io/generator.hpp>

namespace weir::bench {

/// Seconds that a benchmark runs at least, unless --benchmark_min_time says otherwise.
inline constexpr double min_seconds = 0.05;

/// All edges of a generator's graph.
inline std::vector<Edge<NoValue>> generated_edges(const std::string& spec) {
  io::Generator generator(spec);
  std::vector<Edge<NoValue>> edges;
  for (std::vector<Edge<NoValue>> batch; generator.next(batch);) {
    edges.insert(edges.end(), batch.begin(), batch.end());
  }
  return edges;
}

/// A generator's graph, built by all ranks. Collective.
inline Graph<NoValue> generated_graph(Context& context, const std::string& spec,
                                      const BuildOptions& options) {
  return build_graph<NoValue>(context, io::Generator(spec, {context.rank(), context.size()}),
                              options);
}

}  // namespace weir::bench
