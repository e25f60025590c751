// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/bipartite_matching.hpp>

namespace weir {

namespace {

/// Error{input} unless every vertex of a directed graph has edges of one direction only.
template <class E>
void require_directed_sides(const Graph<E>& graph) {
  graph.context().agree([&] {
    const Vertices& vertices = *graph.vertices();
    for (const Row row : vertices.rows_by_id()) {
      WEIR_EXPECT(
          vertices.in_degree(row) == 0 || vertices.out_degree(row) == 0, input,
          "vertex " + std::to_string(vertices.id(row)) +
              ": found edges in and out; matching on a directed graph expects every edge to "
              "lead from a left to a right vertex");
    }
  });
}

template <class E>
RunResult<MatchingBase::Value> run_matching(const Graph<E>& graph, const RunOptions& options) {
  if (graph.is_directed()) {
    require_directed_sides(graph);
    return run(graph, BipartiteMatching{}, options);
  }
  const auto sides = run(graph, SidesProgram{}, options).values;
  BipartiteMatching program;
  std::get<0>(program.phases).sides = &sides;
  return run(graph, program, options);
}

template <class E>
RunResult<VertexId> run_bipartite_matching(const Graph<E>& graph,
                                           const BipartiteMatchingOptions& options) {
  auto [values, report] = run_matching(graph, options.run);
  return {values.transform([](const auto& value) { return value.partner; }), std::move(report)};
}

}  // namespace

RunResult<VertexId> bipartite_matching(const Graph<NoValue>& graph,
                                       const BipartiteMatchingOptions& options) {
  return run_bipartite_matching(graph, options);
}
RunResult<VertexId> bipartite_matching(const Graph<double>& graph,
                                       const BipartiteMatchingOptions& options) {
  return run_bipartite_matching(graph, options);
}

constinit const Algorithm bipartite_matching_algorithm{
    "matching", "maximal matching of a bipartite graph, the id of each vertex's partner; --seed",
    false, [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [values, report] = bipartite_matching(typed, {.run = options.run});
        return make_result(values, std::move(report), Values::vertex_ids);
      });
    }};

}  // namespace weir
