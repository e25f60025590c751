// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weir/algorithms/strong_components.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Ids = std::vector<VertexId>;

const auto components = [](const auto& graph, const RunOptions& run) {
  return strong_components(graph, {.run = run});
};

TEST(StrongComponents, agrees_with_the_oracle_in_every_cell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto serial_graph = serial(graph);
    const auto found = run_matrix<NoValue>(graph, components);
    expect_values(found, serial_graph, reference::scc(serial_graph));
    EXPECT_EQ(reference::check_strong_components(serial_graph, found.values), "") << graph.name;
  }
}

TEST(StrongComponents, agrees_with_the_oracle_on_many_graphs) {
  for (const TestGraph& graph : random_graphs(11, 60)) {
    const auto serial_graph = serial(graph);
    const auto found = run_matrix<NoValue>(graph, components, {{3, 1, Direction::automatic}});
    expect_values(found, serial_graph, reference::scc(serial_graph));
  }
}

TEST(StrongComponents, D59_strong_and_weak_components_differ) {
  const TestGraph graph{
      "D59",
      {},
      edges_of({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {1, 2}, {2, 1}, {3, 1}, {4, 2}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, components).values, (Ids{1, 1, 3, 4, 5}));
  // Without direction they are the same.
  EXPECT_EQ(run_matrix<double>(as_undirected(graph), components).values, (Ids{1, 1, 1, 1, 5}));
  EXPECT_EQ(reference::wcc(serial(graph)), (Ids{1, 1, 1, 1, 5}));
}

TEST(StrongComponents, equal_the_weak_ones_of_undirected_graphs) {
  for (const TestGraph& graph : random_graphs(1, 10)) {
    if (graph.is_directed) continue;
    const auto found = run_matrix<NoValue>(graph, components, few_cells());
    expect_values(found, serial(graph), reference::wcc(serial(graph)));
  }
}

TEST(StrongComponents, a_vertex_with_loops_and_repeats_alone_is_trimmed) {
  const TestGraph graph{"trim", {}, edges_of({{1, 1}, {1, 2}, {1, 2}, {2, 2}, {2, 3}, {2, 3}})};
  const auto found = run_matrix<NoValue>(graph, components);
  EXPECT_EQ(found.values, (Ids{1, 2, 3}));
  EXPECT_LT(found.report.num_supersteps, 10U);
}

TEST(StrongComponents, one_cycle_of_extreme_ids) {
  constexpr VertexId least = std::numeric_limits<VertexId>::min();
  constexpr VertexId most = std::numeric_limits<VertexId>::max() - 1;
  const TestGraph graph{
      "extreme",
      {},
      edges_of({{0, most}, {most, least}, {least, 0}, {0, 5}, {5, most - 1}, {most - 1, 5}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, components).values, (Ids{least, least, 5, 5, least}));
}

// Turns go with and against the edges, so neither order of ids makes one turn per component.
TEST(StrongComponents, chains_of_pairs_take_few_supersteps) {
  constexpr VertexId num_pairs = 100;
  TestGraph ascending{"ascending", {}, {}}, descending{"descending", {}, {}};
  for (VertexId pair = 0; pair < num_pairs; ++pair) {
    for (TestGraph* graph : {&ascending, &descending}) {
      graph->edges.push_back({2 * pair, 2 * pair + 1, 1});
      graph->edges.push_back({2 * pair + 1, 2 * pair, 1});
    }
    if (pair == 0) continue;
    ascending.edges.push_back({2 * pair - 1, 2 * pair, 1});
    descending.edges.push_back({2 * pair, 2 * pair - 1, 1});
  }
  for (const TestGraph& graph : {ascending, descending}) {
    const auto found = run_matrix<NoValue>(graph, components, few_cells());
    expect_values(found, serial(graph), reference::scc(serial(graph)));
    EXPECT_LT(found.report.num_supersteps, 300U) << graph.name;
  }
}

}  // namespace
}  // namespace weir::test
