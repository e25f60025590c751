// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/semi_clustering.hpp>

namespace weir {

namespace {

template <class E>
RunResult<std::vector<SemiCluster>> run_semi_clustering(const Graph<E>& graph,
                                                        const SemiClusteringOptions& options) {
  graph.context().expect(options.max_clusters > 0, ErrorCode::usage,
                         "clustering: max_clusters must be 1 or more");
  graph.context().expect(options.max_members > 0, ErrorCode::usage,
                         "clustering: max_members must be 1 or more");
  graph.context().expect(options.boundary_factor >= 0 && options.boundary_factor <= 1,
                         ErrorCode::usage, "clustering: boundary_factor must lie in [0, 1]");
  graph.context().expect(options.iterations >= 0, ErrorCode::usage,
                         "clustering: iterations must be 0 or more");
  auto [values, report] = run(graph, SemiClusteringProgram{options}, options.run);
  return {values.transform([](const auto& value) { return value.clusters; }), std::move(report)};
}

void append_clusters(std::string& text, const std::vector<SemiCluster>& clusters,
                     double boundary_factor, const AppendId& append_id) {
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (i > 0) text += ' ';
    io::append_number(text, clusters[i].score(boundary_factor));
    char separator = ':';
    for (const VertexId member : clusters[i].members) {
      text += separator;
      append_id(member, text);
      separator = ',';
    }
  }
}

}  // namespace

RunResult<std::vector<SemiCluster>> semi_clustering(const Graph<NoValue>& graph,
                                                    const SemiClusteringOptions& options) {
  return run_semi_clustering(graph, options);
}
RunResult<std::vector<SemiCluster>> semi_clustering(const Graph<double>& graph,
                                                    const SemiClusteringOptions& options) {
  return run_semi_clustering(graph, options);
}

constinit const Algorithm semi_clustering_algorithm{
    "clustering", "overlapping groups, best first, each SCORE:MEMBER,MEMBER,...; --iterations",
    false, [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        SemiClusteringOptions own{.run = options.run};
        own.iterations = options.iterations.value_or(own.iterations);
        auto [values, report] = semi_clustering(typed, own);
        AlgorithmResult result;
        result.vertices = values.vertices();
        result.append_value = [values = values, factor = own.boundary_factor](
                                  Row row, const AppendId& append_id, std::string& text) {
          append_clusters(text, values.by_row(row), factor, append_id);
        };
        result.digest = values.digest();
        result.report = std::move(report);
        return result;
      });
    }};

}  // namespace weir
