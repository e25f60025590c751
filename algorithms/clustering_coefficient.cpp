// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/clustering_coefficient.hpp>

namespace weir {

namespace {

template <class E>
RunResult<double> coefficients(const Graph<E>& graph, const ClusteringCoefficientOptions& options) {
  auto [values, report] = run(graph, TriangleProgram(graph.is_directed()), options.run);
  const std::int64_t arcs_of_pair = graph.is_directed() ? 1 : 2;
  const auto coefficient = [&](const auto& value) {
    if (value.num_neighbours < 2) return 0.0;
    const auto size = static_cast<double>(value.num_neighbours);
    return static_cast<double>(arcs_of_pair * value.num_joined) / (size * (size - 1));
  };
  return {values.transform(coefficient), std::move(report)};
}

}  // namespace

RunResult<double> clustering_coefficient(const Graph<NoValue>& graph,
                                         const ClusteringCoefficientOptions& options) {
  return coefficients(graph, options);
}
RunResult<double> clustering_coefficient(const Graph<double>& graph,
                                         const ClusteringCoefficientOptions& options) {
  return coefficients(graph, options);
}

constinit const Algorithm clustering_coefficient_algorithm{
    "lcc", "local clustering coefficient", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [values, report] = clustering_coefficient(typed, {options.run});
        return make_result(values, std::move(report));
      });
    }};

}  // namespace weir
