// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/breadth_first_search.hpp>

namespace weir {

namespace {

template <class Program, class E>
RunResult<typename Program::Value> search(const Graph<E>& graph,
                                          const BreadthFirstSearchOptions& options) {
  graph.context().expect(!options.sources.empty(), ErrorCode::usage,
                         "bfs: expected at least one source vertex");
  require_vertices(graph, options.sources, "source");
  return run(graph, Program{options.sources}, options.run);
}

}  // namespace

RunResult<std::int64_t> breadth_first_search(const Graph<NoValue>& graph,
                                             const BreadthFirstSearchOptions& options) {
  return search<SearchLevelProgram>(graph, options);
}
RunResult<std::int64_t> breadth_first_search(const Graph<double>& graph,
                                             const BreadthFirstSearchOptions& options) {
  return search<SearchLevelProgram>(graph, options);
}

RunResult<SearchNode> breadth_first_tree(const Graph<NoValue>& graph,
                                         const BreadthFirstSearchOptions& options) {
  return search<SearchTreeProgram>(graph, options);
}
RunResult<SearchNode> breadth_first_tree(const Graph<double>& graph,
                                         const BreadthFirstSearchOptions& options) {
  return search<SearchTreeProgram>(graph, options);
}

constinit const Algorithm breadth_first_search_algorithm{
    "bfs", "arcs from the nearest source; --source, --parents", true,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      const BreadthFirstSearchOptions own{options.sources, options.run};
      return with_graph(graph, [&](const auto& typed) {
        if (options.parents) {
          auto [nodes, report] = breadth_first_tree(typed, own);
          return make_result(nodes.transform([](const SearchNode& node) { return node.parent; }),
                             std::move(report), Values::vertex_ids);
        }
        auto [levels, report] = breadth_first_search(typed, own);
        return make_result(levels, std::move(report));
      });
    }};

}  // namespace weir
