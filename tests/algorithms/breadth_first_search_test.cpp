// SPDX-License-Identifier: Apache-2.0
// D numbers name cases reported by users of other engines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/breadth_first_search.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Ids = std::vector<VertexId>;
using Levels = std::vector<std::int64_t>;

auto levels_from(const Ids& sources) {
  return [sources](const auto& graph, const RunOptions& run) {
    return breadth_first_search(graph, {sources, run});
  };
}
auto tree_from(const Ids& sources) {
  return [sources](const auto& graph, const RunOptions& run) {
    return breadth_first_tree(graph, {sources, run});
  };
}

/// The smallest id among the in-neighbours one level nearer.
Ids smallest_parents(const reference::SerialGraph& graph, const Levels& levels) {
  Ids parents(graph.size(), no_parent);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (levels[v] == 0) parents[v] = graph.ids[v];
    if (levels[v] == 0 || levels[v] == unreached_level) continue;
    for (const auto& [u, weight] : graph.in[v]) {
      if (levels[u] == levels[v] - 1) parents[v] = std::min(parents[v], graph.ids[u]);
    }
  }
  return parents;
}

/// Levels and parents against the oracle.
void expect_tree(const TestGraph& graph, const reference::SerialGraph& oracle, const Ids& sources,
                 const std::vector<Cell>& cells = all_cells()) {
  const auto found = run_matrix<NoValue>(graph, tree_from(sources), cells);
  ASSERT_EQ(found.ids, oracle.ids);
  Levels levels;
  Ids parents;
  for (const SearchNode& node : found.values) {
    levels.push_back(node.level);
    parents.push_back(node.parent);
  }
  EXPECT_EQ(levels, reference::bfs(oracle, sources)) << graph.name;
  EXPECT_EQ(parents, smallest_parents(oracle, levels)) << graph.name;
  EXPECT_EQ(reference::check_bfs_tree(oracle, sources, levels, parents), "") << graph.name;
}

TEST(BreadthFirstSearch, AgreesWithTheOracleInEveryCell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    if (oracle.size() == 0) continue;
    for (const Ids& sources : {some_vertices(oracle, 1), some_vertices(oracle, 3)}) {
      const auto found = run_matrix<NoValue>(graph, levels_from(sources));
      expect_values(found, oracle, reference::bfs(oracle, sources));
    }
  }
}

TEST(BreadthFirstSearch, FindsTheSmallestParents) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    if (oracle.size() > 0) expect_tree(graph, oracle, some_vertices(oracle, 2));
  }
}

TEST(BreadthFirstSearch, IgnoresEdgeValues) {
  const TestGraph graph{"weighted", {}, {{1, 2, 0}, {2, 3, 100}, {1, 3, 7}}};
  EXPECT_EQ(run_matrix<double>(graph, levels_from({1})).values, (Levels{0, 1, 1}));
}

TEST(BreadthFirstSearch, TakesAnyId) {  // also the one that stands for "none" elsewhere
  constexpr VertexId low = std::numeric_limits<VertexId>::min();
  constexpr VertexId high = std::numeric_limits<VertexId>::max();
  const TestGraph graph{"extreme ids", {}, edges_of({{high, low}, {low, 0}})};
  const auto found = run_matrix<NoValue>(graph, tree_from({high}));
  EXPECT_EQ(found.values, (std::vector<SearchNode>{{1, high}, {2, low}, {0, high}}));
}

TEST(BreadthFirstSearch, FollowsArcsForwardsOnly) {  // D63
  const TestGraph graph{"D63", {}, edges_of({{1, 2}, {3, 2}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, levels_from({3})).values, (Levels{unreached_level, 1, 0}));
}

TEST(BreadthFirstSearch, TakesTheNearestOfSeveralSources) {  // D65
  const TestGraph path{"path", {}, edges_of({{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}}), false};
  EXPECT_EQ(run_matrix<NoValue>(path, levels_from({1, 3})).values, (Levels{0, 1, 0, 1, 2, 3}));
  EXPECT_EQ(run_matrix<NoValue>(path, levels_from({3, 1, 3})).values, (Levels{0, 1, 0, 1, 2, 3}));
}

TEST(BreadthFirstSearch, RefusesASourceThatIsNoVertex) {  // D64
  const TestGraph graph{"ids from 1", {}, edges_of({{1, 2}, {2, 3}})};
  expect_error<NoValue>(graph, ErrorCode::input, "source vertex 0 is not in the graph",
                        levels_from({0}));
  expect_error<NoValue>(graph, ErrorCode::input, "source vertex 99 is not in the graph",
                        levels_from({1, 99}));
  expect_error<NoValue>(graph, ErrorCode::input, "source vertex 99 is not in the graph",
                        tree_from({99}));
  expect_error<NoValue>({"empty", {}, {}}, ErrorCode::input, "source vertex 0", levels_from({0}));
  expect_error<NoValue>(graph, ErrorCode::usage, "source", levels_from({}));
}

/// An undirected R-MAT graph with loops and repeats.
TestGraph kronecker(int scale, std::size_t num_edges) {
  reference::Dice dice(static_cast<std::uint64_t>(scale));
  TestGraph graph{"Kronecker " + std::to_string(scale), {}, {}, false};
  for (VertexId v = 0; v < VertexId{1} << scale; ++v) graph.vertices.push_back(v);
  for (std::size_t i = 0; i < num_edges; ++i) {
    VertexId source = 0, target = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const std::size_t corner = dice.below(100);  // .57 .19 .19 .05
      source = 2 * source + (corner >= 76 ? 1 : 0);
      target = 2 * target + ((corner >= 57 && corner < 76) || corner >= 95 ? 1 : 0);
    }
    graph.edges.push_back({source, target, 1});
  }
  return graph;
}

TEST(BreadthFirstSearch, GivesAValidTreeOfAKroneckerGraph) {  // D68
  const TestGraph small = kronecker(10, 10496);
  const auto oracle = serial(small);
  for (const VertexId source : some_vertices(oracle, 8))
    expect_tree(small, oracle, {source}, few_cells());
  const TestGraph large = kronecker(14, 200000);
  expect_tree(large, serial(large), {0}, few_cells());
}

TEST(BreadthFirstSearch, IsNeverWrongInManyRuns) {  // D69
  const TestGraph graph = kronecker(10, 10000);
  const auto expected = reference::bfs(serial(graph), {0});
  run_in_process(2, watched(2), [&](Context& context) {
    const auto loaded = engine_graph<NoValue>(context, graph);
    for (int i = 0; i < 100; ++i) {
      const auto values = breadth_first_search(loaded, {{0}, {}}).values;
      values.for_each([&](VertexId id, std::int64_t level) {
        ASSERT_EQ(level, expected[static_cast<std::size_t>(id)]) << id << " in run " << i;
      });
    }
  });
}

}  // namespace
}  // namespace weir::test
