// SPDX-License-Identifier: Apache-2.0
// D numbers name cases reported by users of other engines.
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/shortest_paths.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Ids = std::vector<VertexId>;
using Doubles = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

auto distances_from(const Ids& sources) {
  return [sources](const auto& graph, const RunOptions& run) {
    return shortest_paths(graph, {sources, run});
  };
}
auto tree_from(const Ids& sources) {
  return [sources](const auto& graph, const RunOptions& run) {
    return shortest_path_tree(graph, {sources, run});
  };
}

TestGraph without_weights(TestGraph graph) {
  for (Edge<double>& edge : graph.edges) edge.value = 1;
  return graph;
}

/// The parents lead from every reached vertex to a source, each by an arc that gives its distance.
void expect_tree(const MatrixResult<PathNode>& found, const reference::SerialGraph& graph,
                 const Ids& sources) {
  Doubles distances;
  Ids parents;
  for (const PathNode& node : found.values) {
    distances.push_back(node.distance);
    parents.push_back(node.parent);
  }
  EXPECT_EQ(distances, reference::sssp(graph, sources));
  std::vector<bool> is_source(graph.size());
  for (const VertexId id : sources) is_source[graph.index_of(id)] = true;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (distances[v] == infinity) {
      ASSERT_EQ(parents[v], no_parent);
      continue;
    }
    if (is_source[v]) {
      ASSERT_EQ(parents[v], graph.ids[v]);
      continue;
    }
    bool is_met = false;
    const std::size_t parent = graph.index_of(parents[v]);
    for (const auto& [u, weight] : graph.in[v])
      is_met |= u == parent && distances[u] + weight == distances[v];
    ASSERT_TRUE(is_met) << "vertex " << graph.ids[v] << " parent " << parents[v];
    std::size_t at = v;
    for (std::size_t i = 0; i < graph.size() && !is_source[at]; ++i)
      at = graph.index_of(parents[at]);
    ASSERT_TRUE(is_source[at]) << "a circle at vertex " << graph.ids[v];
  }
}

TEST(ShortestPaths, AgreesWithTheOracleInEveryCell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    if (oracle.size() == 0) continue;
    for (const Ids& sources : {some_vertices(oracle, 1), some_vertices(oracle, 3)}) {
      const auto found = run_matrix<double>(graph, distances_from(sources));
      expect_values(found, oracle, reference::sssp(oracle, sources));
    }
  }
}

TEST(ShortestPaths, CountsArcsWithoutEdgeValues) {  // D67: equals breadth-first search
  for (const TestGraph& graph : random_graphs(1, 10)) {
    const auto oracle = serial(without_weights(graph));
    if (oracle.size() == 0) continue;
    const Ids sources = some_vertices(oracle, 1);
    const auto found = run_matrix<NoValue>(graph, distances_from(sources), few_cells());
    expect_values(found, oracle, reference::sssp(oracle, sources));
    const auto levels = reference::bfs(oracle, sources);
    for (std::size_t v = 0; v < levels.size(); ++v) {
      const bool is_reached = levels[v] != unreached_level;
      EXPECT_EQ(found.values[v], is_reached ? static_cast<double>(levels[v]) : infinity);
    }
  }
}

TEST(ShortestPaths, ParentsFormTrees) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    if (oracle.size() == 0) continue;
    SCOPED_TRACE(graph.name);
    const Ids sources = some_vertices(oracle, 2);
    expect_tree(run_matrix<double>(graph, tree_from(sources)), oracle, sources);
  }
}

TEST(ShortestPaths, ParentsFormTreesAlongEdgesOfLengthZero) {
  // A circle of length 0 beside the way in, with smaller ids than the way in.
  const TestGraph circle{
      "circle", {}, {{9, 3, 0}, {3, 2, 0}, {2, 1, 0}, {1, 3, 0}, {2, 3, 0}, {3, 1, 0}}};
  EXPECT_EQ(run_matrix<double>(circle, tree_from({9})).values,
            (std::vector<PathNode>{{0, 3}, {0, 3}, {0, 9}, {0, 9}}));
  // 1e-30 vanishes beside 1: arcs that are tight without being 0.
  const TestGraph tiny{
      "vanishing",
      {},
      {{9, 3, 1}, {3, 2, 1e-30}, {2, 1, 1e-30}, {1, 3, 1e-30}, {2, 3, 1e-30}, {3, 1, 1e-30}}};
  EXPECT_EQ(run_matrix<double>(tiny, tree_from({9})).values,
            (std::vector<PathNode>{{1, 3}, {1, 3}, {1, 9}, {0, 9}}));
}

TEST(ShortestPaths, TheLargestIdMayBeAParent) {  // it is also what stands for no parent
  constexpr VertexId high = std::numeric_limits<VertexId>::max();
  const TestGraph graph{
      "largest id",
      {},
      {{7, high, 1}, {high, 8, 0}, {8, 9, 0}, {6, 8, 0}, {9, 6, 0}, {99, 100, 1}}};
  const auto found = run_matrix<double>(graph, tree_from({7}));
  expect_tree(found, serial(graph), {7});
  const TestGraph pair{"largest id as source", {}, {{high, 5, 0}}, false};
  expect_tree(run_matrix<double>(pair, tree_from({high})), serial(pair), {high});
}

TEST(ShortestPaths, ParentsMeetDistancesInTenths) {  // D66
  reference::Dice dice(66);
  TestGraph graph{"tenths", {}, {}, false};
  for (VertexId v = 1; v < 400; ++v) {
    for (int i = 0; i < 3; ++i) {
      const auto far = static_cast<VertexId>(dice.below(static_cast<std::size_t>(v)));
      graph.edges.push_back({far, v, 0.1 * static_cast<double>(1 + dice.below(100000))});
    }
  }
  const auto oracle = serial(graph);
  const auto found = run_matrix<double>(graph, tree_from({0}), few_cells());
  expect_tree(found, oracle, {0});
  Doubles distances;
  Ids parents;
  for (const PathNode& node : found.values) {
    distances.push_back(node.distance);
    parents.push_back(node.parent);
  }
  EXPECT_EQ(reference::check_distance_parents(oracle, distances, parents, 1e-12), "");
}

TEST(ShortestPaths, FollowsArcsForwardsOnly) {  // D63
  const TestGraph graph{"D63", {}, {{1, 2, 1}, {3, 2, 1}}};
  EXPECT_EQ(run_matrix<double>(graph, distances_from({3})).values, (Doubles{infinity, 1, 0}));
  EXPECT_EQ(run_matrix<NoValue>(graph, distances_from({3})).values, (Doubles{infinity, 1, 0}));
}

TEST(ShortestPaths, TakesTheNearestOfSeveralSources) {  // D65
  const TestGraph path{"path", {}, {{1, 2, 2}, {2, 3, 1}, {3, 4, 2}, {4, 5, 2}}, false};
  EXPECT_EQ(run_matrix<double>(path, distances_from({3, 1})).values, (Doubles{0, 1, 0, 2, 4}));
}

TEST(ShortestPaths, RefusesNegativeWeights) {  // D61, D62
  const TestGraph whole{"D61", {}, {{1, 2, 3}, {1, 3, 2}, {2, 3, -2}}};
  expect_error<double>(whole, ErrorCode::input, "negative weight", distances_from({1}));
  expect_error<double>(whole, ErrorCode::input, "negative weight", tree_from({1}));
  const TestGraph fraction{"D62", {}, {{1, 2, 1.5}, {1, 3, 1}, {2, 3, -0.25}}};
  expect_error<double>(fraction, ErrorCode::input, "-0.25, on the edge from vertex 2 to vertex 3",
                       distances_from({1}));
  // Also where no source comes near.
  expect_error<double>(whole, ErrorCode::input, "negative weight", distances_from({3}));
}

TEST(ShortestPaths, RefusesWeightsThatAreNotFinite) {  // D60, in a graph that was not read
  for (const double weight : {std::nan(""), -std::nan(""), infinity, -infinity}) {
    const TestGraph graph{"D60", {}, {{1, 2, 1}, {2, 3, weight}}};
    expect_error<double>(graph, ErrorCode::input, "not finite", distances_from({1}));
  }
}

TEST(ShortestPaths, RefusesSumsBeyondDouble) {
  const TestGraph far{"far", {}, {{1, 2, 1e308}, {2, 3, 1e308}, {3, 4, 1}}};
  expect_error<double>(far, ErrorCode::input, "vertex 3: found a path", distances_from({1}));
  expect_error<double>(far, ErrorCode::input, "vertex 3: found a path", tree_from({1}));
  EXPECT_EQ(run_matrix<double>(far, distances_from({2})).values,
            (Doubles{infinity, 0, 1e308, 1e308}));
  // Nothing is wrong with a sum that is not the least one.
  const TestGraph detour{
      "detour", {}, {{1, 3, 1e308}, {3, 2, 1e308}, {1, 4, 1}, {4, 5, 1}, {5, 2, 1}}};
  EXPECT_EQ(run_matrix<double>(detour, distances_from({1})).values, (Doubles{0, 3, 1e308, 1, 2}));
}

TEST(ShortestPaths, RefusesASourceThatIsNoVertex) {  // D64
  const TestGraph graph{"ids from 1", {}, {{1, 2, 1}, {2, 3, 1}}};
  expect_error<double>(graph, ErrorCode::input, "source vertex 0 is not in the graph",
                       distances_from({0}));
  expect_error<double>(graph, ErrorCode::input, "source vertex 99 is not in the graph",
                       tree_from({99}));
  expect_error<double>({"empty", {}, {}}, ErrorCode::input, "source vertex 0", distances_from({0}));
  expect_error<double>(graph, ErrorCode::usage, "source", distances_from({}));
}

}  // namespace
}  // namespace weir::test
