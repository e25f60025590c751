// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/connected_components.hpp>

namespace weir {

RunResult<VertexId> connected_components(const Graph<NoValue>& graph,
                                         const ConnectedComponentsOptions& options) {
  return run(graph, ConnectedComponentsProgram{}, options.run);
}
RunResult<VertexId> connected_components(const Graph<double>& graph,
                                         const ConnectedComponentsOptions& options) {
  return run(graph, ConnectedComponentsProgram{}, options.run);
}

std::uint64_t num_components(const VertexValues<VertexId>& labels) {
  std::uint64_t num_own = 0;
  labels.for_each([&](VertexId id, VertexId label) { num_own += id == label ? 1 : 0; });
  return all_fold(labels.context(), Sum<std::uint64_t>{}, num_own);
}

constinit const Algorithm connected_components_algorithm{
    "wcc", "smallest id of the weakly connected component", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [labels, report] = connected_components(typed, {options.run});
        AlgorithmResult result = make_result(labels, std::move(report), Values::vertex_ids);
        result.facts.emplace_back("components", std::to_string(num_components(labels)));
        return result;
      });
    }};

}  // namespace weir
