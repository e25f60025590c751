// SPDX-License-Identifier: Apache-2.0
// D numbers name cases reported by users of other engines.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/triangle_count.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Counts = std::vector<std::int64_t>;

auto counts() {
  return
      [](const auto& graph, const RunOptions& run) { return triangle_count(graph, {run}).values; };
}

std::int64_t total(const MatrixResult<std::int64_t>& found) {
  std::int64_t corners = 0;
  for (const std::int64_t count : found.values) corners += count;
  return corners / 3;
}

TEST(TriangleCount, AgreesWithTheOracleInEveryCell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    expect_values(run_matrix<NoValue>(graph, counts()), oracle, reference::triangles(oracle));
  }
}

TEST(TriangleCount, IgnoresEdgeValues) {
  const TestGraph graph{"weighted", {}, {{1, 2, 0}, {2, 3, -1}, {1, 3, 5}}};
  EXPECT_EQ(run_matrix<double>(graph, counts()).values, (Counts{1, 1, 1}));
}

TEST(TriangleCount, CountsRepeatsOnce) {  // D50
  TestGraph graph{"D50", {}, edges_of({{1, 2}}), false};
  for (VertexId v = 3; v <= 12; ++v) {
    graph.edges.push_back({1, v, 1});
    graph.edges.push_back({v, 2, 1});
  }
  EXPECT_EQ(total(run_matrix<NoValue>(graph, counts())), 10);
  const auto once = graph.edges;
  for (const Edge<double>& edge : once) graph.edges.push_back({edge.target, edge.source, 1});
  EXPECT_EQ(total(run_matrix<NoValue>(graph, counts())), 10);
  EXPECT_EQ(total(run_matrix<NoValue>(as_directed(graph), counts())), 10);
}

TEST(TriangleCount, IgnoresReverseEdgesAndLoops) {  // D51
  const TestGraph graph{"D51", {}, edges_of({{1, 2}, {2, 1}, {2, 3}, {3, 1}, {1, 1}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, counts()).values, (Counts{1, 1, 1}));
  EXPECT_EQ(run_matrix<NoValue>(as_undirected(graph), counts()).values, (Counts{1, 1, 1}));
}

TEST(TriangleCount, CountsOncePerVertexInAMultigraph) {  // D52; A 1, B 2, C 3, D 4, M 5, X 6
  const TestGraph graph{
      "D52",
      {},
      edges_of({{1, 2}, {1, 3}, {5, 4}, {2, 6}, {4, 5}, {6, 1}, {1, 6}, {2, 1}, {6, 2}, {3, 4}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, counts()).values, (Counts{1, 1, 0, 0, 0, 1}));
}

TEST(TriangleCount, IsTheSameWithoutLoopsAndRepeats) {  // D53
  for (const TestGraph& graph : random_graphs(1, 10)) {
    TestGraph simple = graph;
    simple.loops = Loops::drop;
    simple.repeats = Repeats::merge;
    simple.vertices.clear();
    for (const VertexId id : serial(graph).ids) simple.vertices.push_back(id);
    EXPECT_EQ(run_matrix<NoValue>(graph, counts(), few_cells()).digest,
              run_matrix<NoValue>(simple, counts(), few_cells()).digest);
  }
}

TEST(TriangleCount, SurvivesAStarOf70000Leaves) {  // D71
  TestGraph star{"star", {}, {}, false};
  for (VertexId leaf = 1; leaf <= 70000; ++leaf) star.edges.push_back({0, leaf, 1});
  EXPECT_EQ(run_matrix<NoValue>(star, counts(), few_cells()).values, Counts(70001, 0));
}

TEST(TriangleCount, CountsInACompleteGraph) {
  TestGraph complete{"complete", {}, {}, false};
  for (VertexId a = 0; a < 200; ++a) {
    for (VertexId b = a + 1; b < 200; ++b) complete.edges.push_back({a, b, 1});
  }
  const auto found = run_matrix<NoValue>(complete, counts(), few_cells());
  EXPECT_EQ(found.values, Counts(200, 199 * 198 / 2));
  EXPECT_EQ(total(found), 1313400);
}

TEST(TriangleCount, TotalHas64Bits) {  // D71: as many triangles as a complete graph of 3000
  TestGraph graph{"no edges", {}, {}};
  for (VertexId v = 0; v < 3000; ++v) graph.vertices.push_back(v);
  run_in_process(3, watched(1), [&](Context& context) {
    const auto none = triangle_count(engine_graph<NoValue>(context, graph)).values;
    const auto many = none.transform([](std::int64_t) -> std::int64_t { return 2999 * 2998 / 2; });
    EXPECT_EQ(num_triangles(many), 4495501000U);
  });
}

TEST(TriangleCount, ListsOfOthersComeInPasses) {
  const TestGraph graph = random_graphs(3, 3)[1];
  const auto oracle = serial(graph);
  for (const std::size_t max_foreign_bytes : {std::size_t{0}, std::size_t{100}}) {
    std::uint64_t num_supersteps = 0;
    const auto passes = [&](const auto& loaded, const RunOptions& options) {
      auto [values, report] = run(loaded, TriangleProgram(false, max_foreign_bytes), options);
      if (loaded.context().is_root()) num_supersteps = report.num_supersteps;
      return values.transform([](const auto& value) { return value.num_joined; });
    };
    const auto found = run_matrix<NoValue>(graph, passes, few_cells());
    expect_values(found, oracle, reference::triangles(oracle));
    EXPECT_GT(num_supersteps, 4U);
  }
}

}  // namespace
}  // namespace weir::test
