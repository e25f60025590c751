// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/pagerank.hpp>

#include <weir/algorithms/edge_values.hpp>

namespace weir {

namespace {

template <class E>
RunResult<double> run_pagerank(const Graph<E>& graph, const PageRankOptions& options) {
  graph.context().expect(options.iterations >= 0, ErrorCode::usage,
                         "pagerank: iterations must be 0 or more");
  graph.context().expect(options.damping >= 0 && options.damping <= 1, ErrorCode::usage,
                         "pagerank: damping must lie in [0, 1]");
  graph.context().expect(!options.tolerance || *options.tolerance >= 0, ErrorCode::usage,
                         "pagerank: tolerance must be 0 or more");
  require_vertices(graph, options.teleport, "teleport");
  std::vector<VertexId> teleport = options.teleport;
  std::sort(teleport.begin(), teleport.end());
  teleport.erase(std::unique(teleport.begin(), teleport.end()), teleport.end());
  const auto run_program = [&](auto program) {
    program.iterations = options.iterations;
    program.tolerance = options.tolerance;
    program.damping = options.damping;
    program.teleport = teleport;
    return run(graph, program, options.run);
  };
  if constexpr (!std::is_same_v<E, NoValue>) {
    if (options.is_weighted) {
      require_non_negative(graph, "pagerank");
      auto [values, report] = run_program(PageRankProgram<true>{});
      return {values.transform([](const auto& value) { return value.rank; }), std::move(report)};
    }
  }
  graph.context().expect(!options.is_weighted, ErrorCode::usage,
                         "pagerank: weighted ranks need a graph with edge values");
  return run_program(PageRankProgram<false>{});
}

}  // namespace

RunResult<double> pagerank(const Graph<NoValue>& graph, const PageRankOptions& options) {
  return run_pagerank(graph, options);
}
RunResult<double> pagerank(const Graph<double>& graph, const PageRankOptions& options) {
  return run_pagerank(graph, options);
}

constinit const Algorithm pagerank_algorithm{
    "pagerank",
    "importance by random walks; --iterations, --tolerance, --damping, --source to personalise",
    false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&]<class E>(const Graph<E>& typed) {
        PageRankOptions own{.tolerance = options.tolerance,
                            .damping = options.damping,
                            .is_weighted = !std::is_same_v<E, NoValue>,
                            .teleport = options.sources,
                            .run = options.run};
        own.iterations = options.iterations.value_or(options.tolerance ? 1000 : 20);
        auto [values, report] = pagerank(typed, own);
        const bool has_converged =
            options.tolerance && !report.supersteps.empty() &&
            !report.supersteps.back().aggregates.empty() && report.num_supersteps > 1 &&
            report.supersteps.back().aggregates.front().second <= *options.tolerance;
        AlgorithmResult result = make_result(values, std::move(report));
        if (options.tolerance) result.has_converged = has_converged;
        return result;
      });
    },
    EdgeValues::non_negative};

}  // namespace weir
