// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/k_core.hpp>

namespace weir {

RunResult<std::int64_t> k_core(const Graph<NoValue>& graph, const KCoreOptions& options) {
  return run(graph, KCoreProgram{graph.is_directed()}, options.run);
}
RunResult<std::int64_t> k_core(const Graph<double>& graph, const KCoreOptions& options) {
  return run(graph, KCoreProgram{graph.is_directed()}, options.run);
}

constinit const Algorithm k_core_algorithm{
    "kcore", "core numbers; direction, loops and repeated edges are ignored", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [values, report] = k_core(typed, {.run = options.run});
        return make_result(values, std::move(report));
      });
    }};

}  // namespace weir
