// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weir/algorithms/betweenness.hpp>

namespace weir {

namespace {

/// The ids of the whole graph, ascending. Collective.
template <class E>
std::vector<VertexId> all_ids(const Graph<E>& graph) {
  std::vector<VertexId> own;
  const Vertices& vertices = *graph.vertices();
  for (const Row row : vertices.rows_by_id()) own.push_back(vertices.id(row));
  return all_concatenate(graph.context(), std::span<const VertexId>(own));
}

template <class E>
RunResult<double> run_betweenness(const Graph<E>& graph, const BetweennessOptions& options) {
  require_vertices(graph, options.sources, "source");
  std::vector<VertexId> sources = options.sources.empty() ? all_ids(graph) : options.sources;
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  const Phases<PathCounting, DependencyGathering> program{
      {PathCounting{{sources}}, DependencyGathering{{sources}}}};
  auto [values, report] = run(graph, program, options.run);
  return {values.transform([](const auto& value) { return value.centrality; }), std::move(report)};
}

}  // namespace

RunResult<double> betweenness(const Graph<NoValue>& graph, const BetweennessOptions& options) {
  return run_betweenness(graph, options);
}
RunResult<double> betweenness(const Graph<double>& graph, const BetweennessOptions& options) {
  return run_betweenness(graph, options);
}

constinit const Algorithm betweenness_algorithm{
    "betweenness",
    "share of shortest paths that pass a vertex; from --source, or from every vertex", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [values, report] =
            betweenness(typed, {.sources = options.sources, .run = options.run});
        return make_result(values, std::move(report));
      });
    }};

}  // namespace weir
