// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include <gtest/gtest.h>

#include <weir/algorithms/betweenness.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Doubles = std::vector<double>;

/// Sums of fractions, added in another order than the oracle's.
constexpr double rounding = 1e-12;

auto from(std::vector<VertexId> sources) {
  return [sources = std::move(sources)](const auto& graph, const RunOptions& run) {
    return betweenness(graph, {.sources = sources, .run = run});
  };
}

TEST(Betweenness, agrees_with_the_oracle_in_every_cell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto serial_graph = serial(graph);
    const auto sources = some_vertices(serial_graph, 3);
    const auto found = run_matrix<NoValue>(graph, from(sources));
    if (sources.empty()) continue;
    expect_values(found, serial_graph, reference::betweenness(serial_graph, sources), rounding);
  }
}

TEST(Betweenness, agrees_with_the_oracle_from_every_vertex) {
  for (const TestGraph& graph : random_graphs(11, 16)) {
    const auto serial_graph = serial(graph);
    const auto found = run_matrix<NoValue>(graph, from({}), few_cells());
    expect_values(found, serial_graph, reference::betweenness(serial_graph, serial_graph.ids),
                  rounding);
  }
}

TEST(Betweenness, is_neither_halved_nor_normalised) {
  const TestGraph path{"path", {}, edges_of({{1, 2}, {2, 3}, {3, 4}}), false};
  EXPECT_EQ(run_matrix<NoValue>(path, from({})).values, (Doubles{0, 4, 4, 0}));
  EXPECT_EQ(run_matrix<NoValue>(path, from({1})).values, (Doubles{0, 2, 1, 0}));
  EXPECT_EQ(run_matrix<NoValue>(as_directed(path), from({})).values, (Doubles{0, 2, 2, 0}));
}

TEST(Betweenness, parallel_arcs_are_different_paths_and_values_are_not_read) {
  const TestGraph square{"square", {}, edges_of({{1, 2}, {1, 3}, {2, 4}, {3, 4}})};
  EXPECT_EQ(run_matrix<double>(square, from({})).values, (Doubles{0, .5, .5, 0}));
  TestGraph doubled = square;
  for (const Edge<double>& edge : square.edges) {
    if (edge.source == 2 || edge.target == 2) doubled.edges.push_back(edge);
  }
  const auto found = run_matrix<double>(doubled, from({1}));  // 4 paths through 2, one through 3
  EXPECT_EQ(found.values, (Doubles{0, .8, .2, 0}));
}

TEST(Betweenness, loops_are_on_no_shortest_path) {
  const TestGraph graph{"loops", {}, edges_of({{1, 1}, {1, 2}, {2, 2}, {2, 2}, {2, 3}, {3, 3}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, from({})).values, (Doubles{0, 1, 0}));
  EXPECT_EQ(run_matrix<NoValue>(as_undirected(graph), from({})).values, (Doubles{0, 2, 0}));
}

TEST(Betweenness, the_order_and_repetition_of_sources_change_no_bit) {
  const TestGraph graph = random_graphs(3, 3).back();
  const auto ids = serial(graph).ids;
  ASSERT_GE(ids.size(), 3U);
  const auto once = run_matrix<NoValue>(graph, from({ids[0], ids[1], ids[2]}), few_cells());
  const auto again =
      run_matrix<NoValue>(graph, from({ids[2], ids[0], ids[2], ids[1]}), few_cells());
  EXPECT_EQ(once.digest, again.digest);
}

TEST(Betweenness, D71_a_star_with_70000_leaves) {
  constexpr VertexId num_leaves = 70'000;
  TestGraph star{"star", {}, {}, false};
  for (VertexId leaf = 1; leaf <= num_leaves; ++leaf) star.edges.push_back({0, leaf, 1});
  const auto found = run_matrix<NoValue>(star, from({0, 1, num_leaves}), few_cells());
  Doubles expected(num_leaves + 1, 0.0);
  expected[0] = 2.0 * (num_leaves - 1);
  EXPECT_EQ(found.values, expected);
}

TEST(Betweenness, sums_to_the_inner_vertices_of_shortest_paths) {
  for (const TestGraph& graph : random_graphs(17, 20)) {
    const auto serial_graph = serial(graph);
    double expected = 0;
    for (const VertexId source : serial_graph.ids) {
      for (const std::int64_t level : reference::bfs(serial_graph, {source})) {
        if (level > 1 && level != reference::unreached_level)
          expected += static_cast<double>(level - 1);
      }
    }
    const auto found = run_matrix<NoValue>(graph, from({}), {{2, 1, Direction::automatic}});
    const double sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
    EXPECT_NEAR(sum, expected, rounding * (1 + expected)) << graph.name;
  }
}

TEST(Betweenness, a_source_must_be_in_the_graph) {
  const TestGraph path{"path", {}, edges_of({{1, 2}, {2, 3}})};
  expect_error<NoValue>(path, ErrorCode::input, "source vertex 4 is not in the graph",
                        from({1, 4}));
}

// Each square of the chain doubles the number of paths.
TEST(Betweenness, too_many_paths_are_an_error) {
  TestGraph chain{"chain", {}, {}};
  constexpr VertexId num_squares = 1024;
  for (VertexId i = 0; i < num_squares; ++i) {
    for (const VertexId side : {1, 2}) {
      chain.edges.push_back({3 * i, 3 * i + side, 1});
      chain.edges.push_back({3 * i + side, 3 * i + 3, 1});
    }
  }
  expect_error<NoValue>(chain, ErrorCode::input, "more shortest paths", from({0}));
}

}  // namespace
}  // namespace weir::test
