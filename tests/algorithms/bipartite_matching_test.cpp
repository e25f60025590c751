// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gtest/gtest.h>

#include <weir/algorithms/bipartite_matching.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Ids = std::vector<VertexId>;

auto seeded(std::uint64_t seed) {
  return [seed](const auto& graph, RunOptions run) {
    run.seed = seed;
    return bipartite_matching(graph, {.run = run});
  };
}

/// Left ids are even, right ids odd; with repeats and isolated vertices.
TestGraph random_bipartite(std::uint64_t seed) {
  reference::Dice dice(seed);
  TestGraph graph{"bipartite " + std::to_string(seed), {1000, 1001}, {}};
  const std::size_t num_left = 1 + dice.below(30), num_right = 1 + dice.below(30);
  const std::size_t num_edges = dice.below(3 * (num_left + num_right));
  for (std::size_t i = 0; i < num_edges; ++i) {
    const auto left = 2 * static_cast<VertexId>(dice.below(num_left));
    const auto right = 2 * static_cast<VertexId>(dice.below(num_right)) + 1;
    graph.edges.push_back({left, right, 1});
    if (dice.one_in(6)) graph.edges.push_back({left, right, 1});
  }
  return graph;
}

/// The same with the ends of some edges exchanged, for undirected graphs only.
TestGraph without_direction(TestGraph graph) {
  for (std::size_t i = 0; i < graph.edges.size(); i += 3)
    std::swap(graph.edges[i].source, graph.edges[i].target);
  return as_undirected(std::move(graph));
}

TEST(BipartiteMatching, is_a_maximal_matching_in_every_cell) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const TestGraph directed = random_bipartite(seed);
    for (const TestGraph& graph : {directed, without_direction(directed)}) {
      const auto found = run_matrix<NoValue>(graph, seeded(seed));
      ASSERT_EQ(found.ids, serial(graph).ids);
      EXPECT_EQ(reference::check_maximal_matching(serial(graph), found.values), "") << graph.name;
    }
  }
}

TEST(BipartiteMatching, is_a_maximal_matching_on_many_graphs) {
  for (std::uint64_t seed = 9; seed <= 80; ++seed) {
    const TestGraph graph = random_bipartite(seed);
    const auto found = run_matrix<NoValue>(graph, seeded(seed), {{3, 1, Direction::automatic}});
    EXPECT_EQ(reference::check_maximal_matching(serial(graph), found.values), "") << graph.name;
  }
}

/// Whether each edge of a directed graph leads from a left to a right vertex.
bool has_sides(const reference::SerialGraph& graph) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (!graph.in[v].empty() && !graph.out[v].empty()) return false;
  }
  return true;
}

TEST(BipartiteMatching, takes_bipartite_graphs_and_refuses_others) {
  for (const TestGraph& graph : small_graphs()) {
    const auto serial_graph = serial(graph);
    if (graph.is_directed ? has_sides(serial_graph) : reference::is_bipartite(serial_graph)) {
      const auto found = run_matrix<double>(graph, seeded(1), few_cells());
      EXPECT_EQ(reference::check_maximal_matching(serial_graph, found.values), "") << graph.name;
    } else {
      expect_error<NoValue>(graph, ErrorCode::input, graph.is_directed ? "edges in and out" : "odd",
                            seeded(1));
    }
  }
}

TEST(BipartiteMatching, names_the_smallest_vertex_with_two_sides) {
  const TestGraph path{"path", {}, edges_of({{1, 2}, {2, 3}, {3, 4}, {4, 5}})};
  expect_error<NoValue>(path, ErrorCode::input, "vertex 2: found edges in and out", seeded(1));
}

TEST(BipartiteMatching, odd_cycles_and_loops_have_no_sides) {
  for (const VertexId length : {3, 5, 31}) {
    TestGraph cycle{"cycle", {}, {}, false};
    for (VertexId v = 0; v < length; ++v) cycle.edges.push_back({v, (v + 1) % length, 1});
    expect_error<NoValue>(cycle, ErrorCode::input, "bipartite", seeded(1));
    cycle.edges.front() = {0, 0, 1};  // a path with a loop
    expect_error<NoValue>(cycle, ErrorCode::input, "bipartite", seeded(1));
  }
}

TEST(BipartiteMatching, an_edge_pairs_its_ends_and_others_hold_themselves) {
  const TestGraph graph{"pairs", {9}, edges_of({{1, 2}, {3, 4}, {3, 4}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, seeded(1)).values, (Ids{2, 1, 4, 3, 9}));
  EXPECT_EQ(run_matrix<NoValue>(as_undirected(graph), seeded(1)).values, (Ids{2, 1, 4, 3, 9}));
}

TEST(BipartiteMatching, the_hub_of_a_star_takes_a_leaf_that_the_seed_chooses) {
  TestGraph star{"star", {}, {}};
  for (VertexId leaf = 1; leaf <= 10; ++leaf) star.edges.push_back({leaf, 0, 1});
  std::set<VertexId> chosen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    chosen.insert(run_matrix<NoValue>(star, seeded(seed), {{2, 1, Direction::push}}).values[0]);
  EXPECT_GT(chosen.size(), 3U);
  EXPECT_FALSE(chosen.contains(0));
}

// Left 1 is answered by rivals only: it must ask again until no free neighbour is left.
TEST(BipartiteMatching, complete_graphs_are_matched_fully) {
  TestGraph graph{"complete", {}, {}};
  for (VertexId left = 0; left < 12; ++left) {
    for (VertexId right = 100; right < 112; ++right) graph.edges.push_back({left, right, 1});
  }
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto found = run_matrix<NoValue>(graph, seeded(seed), few_cells());
    for (std::size_t v = 0; v < found.ids.size(); ++v) EXPECT_NE(found.values[v], found.ids[v]);
  }
}

}  // namespace
}  // namespace weir::test
