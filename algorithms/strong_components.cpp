// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/strong_components.hpp>

namespace weir {

namespace {

template <class E>
RunResult<VertexId> run_strong_components(const Graph<E>& graph,
                                          const StrongComponentsOptions& options) {
  auto [values, report] = run(graph, StrongComponents{}, options.run);
  return {values.transform([](const auto& value) { return value.colour; }), std::move(report)};
}

}  // namespace

RunResult<VertexId> strong_components(const Graph<NoValue>& graph,
                                      const StrongComponentsOptions& options) {
  return run_strong_components(graph, options);
}
RunResult<VertexId> strong_components(const Graph<double>& graph,
                                      const StrongComponentsOptions& options) {
  return run_strong_components(graph, options);
}

constinit const Algorithm strong_components_algorithm{
    "scc", "strongly connected components, named by their smallest id", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [values, report] = strong_components(typed, {.run = options.run});
        return make_result(values, std::move(report), Values::vertex_ids);
      });
    }};

}  // namespace weir
