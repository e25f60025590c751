// SPDX-License-Identifier: Apache-2.0
// D numbers name cases reported by users of other engines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/connected_components.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Ids = std::vector<VertexId>;

auto components() {
  return [](const auto& graph, const RunOptions& run) {
    return connected_components(graph, {run}).values;
  };
}

TEST(ConnectedComponents, AgreesWithTheOracleInEveryCell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    const auto found = run_matrix<NoValue>(graph, components());
    expect_values(found, oracle, reference::wcc(oracle));
    EXPECT_EQ(reference::check_weak_components(oracle, found.values), "");
  }
}

TEST(ConnectedComponents, IgnoresEdgeValues) {
  const TestGraph graph{"weighted", {9}, {{3, 2, 0}, {2, 5, -4}}};
  EXPECT_EQ(run_matrix<double>(graph, components()).values, (Ids{2, 2, 2, 9}));
}

TEST(ConnectedComponents, TakesAnyId) {
  constexpr VertexId low = std::numeric_limits<VertexId>::min();
  constexpr VertexId high = std::numeric_limits<VertexId>::max();
  const TestGraph graph{"extreme ids", {low, high}, edges_of({{high, 0}, {high, high}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, components()).values, (Ids{low, 0, 0}));
}

TEST(ConnectedComponents, KnowsVerticesThatOnlyOtherRanksRead) {
  // Lists name sources: the rank of the sources of a bipartite graph reads no vertex of another.
  TestGraph path{"directed path", {}, edges_of({{0, 1}, {1, 2}, {2, 3}, {3, 4}}), true};
  EXPECT_EQ(run_matrix<NoValue>(path, components()).values, (Ids{0, 0, 0, 0, 0}));
  TestGraph bipartite{"directed bipartite", {}, {}, true};
  for (VertexId i = 0; i < 600; ++i) bipartite.edges.push_back({i, 1000 + i / 3, 1});
  const auto oracle = serial(bipartite);
  expect_values(run_matrix<NoValue>(bipartite, components()), oracle, reference::wcc(oracle));
}

TEST(ConnectedComponents, IsNotTheStrongAnswer) {  // D59
  const TestGraph graph{
      "D59",
      {},
      edges_of({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {1, 2}, {2, 1}, {3, 1}, {4, 2}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, components()).values, (Ids{1, 1, 1, 1, 5}));
}

TEST(ConnectedComponents, FindsEveryOneOfTenThousand) {  // D55
  constexpr std::size_t num_vertices = 100000;
  reference::Dice dice(55);
  Ids ids(num_vertices);
  std::iota(ids.begin(), ids.end(), VertexId{0});
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[dice.below(i)]);
  TestGraph graph{"D55", {}, {}};
  for (std::size_t i = 0; i < num_vertices; ++i) {
    if (i % 10 != 0) graph.edges.push_back({ids[i], ids[i - 1 - dice.below(i % 10)], 1});
  }
  const auto oracle = serial(graph);
  const auto found = run_matrix<NoValue>(graph, components(), few_cells());
  expect_values(found, oracle, reference::wcc(oracle));
  const auto again = run_matrix<NoValue>(graph, components(), {{3, 2, Direction::automatic}});
  EXPECT_EQ(again.digest, found.digest);
  std::uint64_t num_found = 0;
  run_in_process(3, watched(1), [&](Context& context) {
    const auto loaded = engine_graph<NoValue>(context, graph);
    const std::uint64_t count = num_components(connected_components(loaded).values);
    if (context.is_root()) num_found = count;
  });
  EXPECT_EQ(num_found, 10000U);
}

TEST(ConnectedComponents, FindsTheOneArcBetweenLargestSets) {
  // The bridge is the last arc in the lists of both its ends, whose sets are the largest of theirs.
  TestGraph graph{"clubs", {}, {}};
  constexpr VertexId size = 52;
  for (VertexId club = 0; club < 5; ++club) {
    const VertexId first = club * size;
    graph.edges.push_back({first, first + 1, 1});
    for (VertexId guest = first + 2; guest < first + size; ++guest) {
      graph.edges.push_back({first, guest, 1});
      graph.edges.push_back({first + 1, guest, 1});
    }
    if (club > 0) graph.edges.push_back({first - 1, first + 2, 1});
  }
  EXPECT_EQ(run_matrix<NoValue>(graph, components()).values, Ids(5 * size, 0));
}

TEST(ConnectedComponents, FollowsALongPath) {  // one superstep per vertex, each nearly empty
  TestGraph graph{"long path", {}, {}};
  for (VertexId v = 0; v < 2000; ++v) graph.edges.push_back({v, v + 1, 1});
  const auto found = run_matrix<NoValue>(graph, components(), few_cells());
  EXPECT_EQ(found.values, Ids(2001, 0));
}

}  // namespace
}  // namespace weir::test
