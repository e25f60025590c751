// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weir/algorithms/k_core.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

const auto cores = [](const auto& graph, const RunOptions& run) {
  return k_core(graph, {.run = run}).values;
};

TEST(KCore, agrees_with_the_oracle_in_every_cell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto serial_graph = serial(graph);
    const auto found = run_matrix<NoValue>(graph, cores);
    expect_values(found, serial_graph, reference::k_core(serial_graph));
    EXPECT_EQ(reference::check_cores(serial_graph, found.values), "") << graph.name;
  }
}

TEST(KCore, nested_cores) {
  // A clique of four, a cycle through one of its corners, a tail, a vertex alone.
  TestGraph graph{"nested",
                  {9},
                  edges_of({{1, 2},
                            {1, 3},
                            {1, 4},
                            {2, 3},
                            {2, 4},
                            {3, 4},
                            {4, 5},
                            {5, 6},
                            {6, 4},
                            {6, 7},
                            {7, 8}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, cores).values,
            (std::vector<std::int64_t>{3, 3, 3, 3, 2, 2, 1, 1, 0}));
}

TEST(KCore, direction_loops_repeats_and_edge_values_change_nothing) {
  const TestGraph simple{"simple", {}, edges_of({{1, 2}, {2, 3}, {3, 1}, {3, 4}}), false};
  const TestGraph multiple{"multiple",
                           {},
                           edges_of({{1, 2},
                                     {2, 1},
                                     {2, 1},
                                     {2, 3},
                                     {3, 2},
                                     {1, 3},
                                     {4, 3},
                                     {4, 3},
                                     {4, 4},
                                     {4, 4},
                                     {3, 3}})};
  const auto expected = run_matrix<NoValue>(simple, cores).values;
  EXPECT_EQ(expected, (std::vector<std::int64_t>{2, 2, 2, 1}));
  EXPECT_EQ(run_matrix<NoValue>(multiple, cores).values, expected);
  EXPECT_EQ(run_matrix<double>(as_undirected(multiple), cores).values, expected);
}

// Peeled from both ends, one vertex after another, over every boundary on the way.
TEST(KCore, a_long_path_is_one_level) {
  TestGraph path{"long path", {}, {}, false};
  for (VertexId v = 0; v < 200; ++v) path.edges.push_back({v, v + 1, 1});
  EXPECT_EQ(run_matrix<NoValue>(path, cores, few_cells()).values,
            std::vector<std::int64_t>(201, 1));
  std::uint64_t num_supersteps = 0;
  run_in_process(4, watched(1), [&](Context& context) {
    const auto report = k_core(engine_graph<NoValue>(context, path)).report;
    if (context.is_root()) num_supersteps = report.num_supersteps;
  });
  EXPECT_LE(num_supersteps, 8U);
}

TEST(KCore, D71_a_star_with_70000_leaves) {
  TestGraph star{"star", {}, {}, false};
  for (VertexId leaf = 1; leaf <= 70'000; ++leaf) star.edges.push_back({0, leaf, 1});
  const auto found = run_matrix<NoValue>(star, cores, few_cells());
  EXPECT_EQ(found.values, std::vector<std::int64_t>(70'001, 1));
}

}  // namespace
}  // namespace weir::test
