// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/label_propagation.hpp>

namespace weir {

namespace {

template <class E>
RunResult<VertexId> propagate(const Graph<E>& graph, const LabelPropagationOptions& options) {
  graph.context().expect(options.iterations >= 0, ErrorCode::usage,
                         "cdlp: iterations must be 0 or more");
  return run(graph, LabelPropagationProgram{options.iterations}, options.run);
}

}  // namespace

RunResult<VertexId> label_propagation(const Graph<NoValue>& graph,
                                      const LabelPropagationOptions& options) {
  return propagate(graph, options);
}
RunResult<VertexId> label_propagation(const Graph<double>& graph,
                                      const LabelPropagationOptions& options) {
  return propagate(graph, options);
}

constinit const Algorithm label_propagation_algorithm{
    "cdlp", "communities by label propagation; --iterations", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [labels, report] =
            label_propagation(typed, {options.iterations.value_or(10), options.run});
        return make_result(labels, std::move(report), Values::vertex_ids);
      });
    }};

}  // namespace weir
