// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/shortest_paths.hpp>

#include <weir/algorithms/edge_values.hpp>

namespace weir {

namespace {

template <class E>
std::vector<VertexId> checked_sources(const Graph<E>& graph, const ShortestPathsOptions& options) {
  graph.context().expect(!options.sources.empty(), ErrorCode::usage,
                         "sssp: expected at least one source vertex");
  require_vertices(graph, options.sources, "source");
  require_non_negative(graph, "sssp");
  std::vector<VertexId> sources = options.sources;
  std::sort(sources.begin(), sources.end());
  return sources;
}

template <class E>
RunResult<double> find_distances(const Graph<E>& graph, const ShortestPathsOptions& options) {
  const std::vector<VertexId> sources = checked_sources(graph, options);
  return run(graph, ShortestPathsProgram{sources}, options.run);
}

template <class E>
RunResult<PathNode> find_tree(const Graph<E>& graph, const ShortestPathsOptions& options) {
  const std::vector<VertexId> sources = checked_sources(graph, options);
  return run(graph,
             Phases<PathDistances, PathParents>{{PathDistances{{sources}}, PathParents{{sources}}}},
             options.run);
}

}  // namespace

RunResult<double> shortest_paths(const Graph<NoValue>& graph, const ShortestPathsOptions& options) {
  return find_distances(graph, options);
}
RunResult<double> shortest_paths(const Graph<double>& graph, const ShortestPathsOptions& options) {
  return find_distances(graph, options);
}

RunResult<PathNode> shortest_path_tree(const Graph<NoValue>& graph,
                                       const ShortestPathsOptions& options) {
  return find_tree(graph, options);
}
RunResult<PathNode> shortest_path_tree(const Graph<double>& graph,
                                       const ShortestPathsOptions& options) {
  return find_tree(graph, options);
}

constinit const Algorithm shortest_paths_algorithm{
    "sssp", "least sum of edge values from the nearest source; --source, --weighted, --parents",
    true,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      const ShortestPathsOptions own{options.sources, options.run};
      return with_graph(graph, [&](const auto& typed) {
        if (options.parents) {
          auto [nodes, report] = shortest_path_tree(typed, own);
          return make_result(nodes.transform([](const PathNode& node) { return node.parent; }),
                             std::move(report), Values::vertex_ids);
        }
        auto [distances, report] = shortest_paths(typed, own);
        return make_result(distances, std::move(report));
      });
    },
    EdgeValues::non_negative};

}  // namespace weir
