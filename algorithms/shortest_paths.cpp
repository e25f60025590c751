// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/shortest_paths.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include <weir/algorithms/edge_values.hpp>
#include <weir/engine/model/check.hpp>

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

double distance_of(double distance) { return distance; }
double distance_of(const PathNode& node) { return node.distance; }

/// Error{input} at a vertex whose distance float64 cannot hold. Collective.
template <class Value>
RunResult<Value> with_finite_distances(RunResult<Value> result) {
  result.values.context().agree([&] {
    result.values.for_each([](VertexId id, const Value& value) {
      WEIR_EXPECT(distance_of(value) != detail::greatest_distance, input,
                  "sssp: vertex " + std::to_string(id) +
                      ": found a path whose weights add up to more than float64 holds; expected "
                      "smaller weights");
    });
  });
  return result;
}

/// A bucket width for delta-stepping: by the mean weight and the degree that an arc meets, so that
/// a bucket holds a few steps of work without much of it done twice. Collective.
template <class E>
double choose_delta(const Graph<E>& graph) {
  if constexpr (std::is_same_v<E, NoValue>) {
    return 1;
  } else {
    struct Sums {
      double weight, arcs, squares;
    };
    Sums own{0, 0, 0};
    const Side<E>& side = graph.side_for(Edges::out);
    for (std::uint64_t i = 0; i < side.num_arcs(); i += 16) own.weight += side.values[i];
    own.weight *= 16;
    for (Row row = 0; row < graph.vertices()->size(); ++row) {
      const auto degree = static_cast<double>(graph.vertices()->out_degree(row));
      own.arcs += degree;
      own.squares += degree * degree;
    }
    Sums total{0, 0, 0};
    for (const Sums& each : all_gather(graph.context(), own))
      total = {total.weight + each.weight, total.arcs + each.arcs, total.squares + each.squares};
    const double mean_weight = total.weight / total.arcs;
    const double delta = 4 * mean_weight * total.arcs / total.squares;
    return delta > 0 && std::isfinite(delta) ? std::max(delta, mean_weight / 128) : 1;
  }
}

template <class E>
RunResult<double> find_distances(const Graph<E>& graph, const ShortestPathsOptions& options) {
  const std::vector<VertexId> sources = checked_sources(graph, options);
  return with_finite_distances(
      run(graph, ShortestPathsProgram{sources, choose_delta(graph)}, options.run));
}

template <class E>
RunResult<PathNode> find_tree(const Graph<E>& graph, const ShortestPathsOptions& options) {
  const std::vector<VertexId> sources = checked_sources(graph, options);
  const Phases<PathDistances, PathParents> phases{
      {PathDistances{{sources}}, PathParents{{sources}}}};
  auto [nodes, report] = run(graph, phases, options.run);
  return with_finite_distances<PathNode>(
      {nodes.transform([](const PathNode& node) {  // without the marks of the search
         return PathNode{std::abs(node.distance), node.parent};
       }),
       std::move(report)});
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
