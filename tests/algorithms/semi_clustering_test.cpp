// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include <weir/algorithms/semi_clustering.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

auto with(const SemiClusteringOptions& options) {
  return [options](const auto& graph, const RunOptions& run) {
    SemiClusteringOptions own = options;
    own.run = run;
    return semi_clustering(graph, own);
  };
}

reference::SemiClusteringOptions of_oracle(const SemiClusteringOptions& options) {
  return {options.max_clusters, options.max_members, options.boundary_factor, options.iterations};
}

/// Weights are multiples of 1/4, so sums and scores are exact.
void expect_clusters(const MatrixResult<std::vector<SemiCluster>>& found,
                     const reference::SerialGraph& graph, const SemiClusteringOptions& options) {
  const auto expected = reference::semi_clustering(graph, of_oracle(options));
  ASSERT_EQ(found.ids, graph.ids);
  for (std::size_t v = 0; v < expected.size(); ++v) {
    SCOPED_TRACE("vertex " + std::to_string(graph.ids[v]));
    ASSERT_EQ(found.values[v].size(), expected[v].size());
    for (std::size_t i = 0; i < expected[v].size(); ++i) {
      ASSERT_EQ(found.values[v][i].members, expected[v][i].members);
      ASSERT_EQ(found.values[v][i].inner, expected[v][i].inner);
      ASSERT_EQ(found.values[v][i].boundary, expected[v][i].boundary);
    }
  }
}

TEST(SemiClustering, agrees_with_the_oracle_in_every_cell) {
  const SemiClusteringOptions options{.max_clusters = 3, .max_members = 5, .iterations = 4};
  for (const TestGraph& graph : typed_graphs())
    expect_clusters(run_matrix<double>(graph, with(options)), serial(graph), options);
}

TEST(SemiClustering, agrees_with_the_oracle_on_random_graphs) {
  for (const SemiClusteringOptions& options :
       {SemiClusteringOptions{}, SemiClusteringOptions{.max_clusters = 2, .max_members = 3},
        SemiClusteringOptions{.boundary_factor = 0, .iterations = 3}}) {
    for (const TestGraph& graph : random_graphs(1, 6))
      expect_clusters(run_matrix<double>(graph, with(options), few_cells()), serial(graph),
                      options);
  }
}

TEST(SemiClustering, edges_without_values_weigh_one) {
  for (TestGraph graph : random_graphs(7, 10)) {
    const auto found = run_matrix<NoValue>(graph, with({}), few_cells());
    for (Edge<double>& edge : graph.edges) edge.value = 1;
    expect_clusters(found, serial(graph), {});
  }
}

TEST(SemiClustering, two_triangles_and_a_bridge) {
  const TestGraph graph{
      "bridge", {7}, edges_of({{1, 2}, {2, 3}, {3, 1}, {4, 5}, {5, 6}, {6, 4}, {3, 4}}), false};
  const auto found = run_matrix<double>(graph, with({}));
  using Members = std::vector<VertexId>;
  EXPECT_EQ(found.values[0].front(), (SemiCluster{Members{1}, 0, 2}));  // ties with score 1
  EXPECT_EQ(found.values[6], (std::vector<SemiCluster>{{Members{7}, 0, 0}}));
  bool has_triangle = false;
  for (const SemiCluster& cluster : found.values[0])
    has_triangle |= cluster == SemiCluster{Members{1, 2, 3}, 3, 1};
  EXPECT_TRUE(has_triangle);
}

TEST(SemiClustering, direction_loops_and_split_weights_change_nothing) {
  const TestGraph simple{"simple", {}, {{1, 2, 2}, {2, 3, 1}, {3, 1, 4}, {3, 4, 0.5}}, false};
  const TestGraph split{"split",
                        {},
                        {{2, 1, 1.5},
                         {1, 2, 0.5},
                         {2, 3, 1},
                         {1, 3, 4},
                         {4, 3, 0.25},
                         {4, 3, 0.25},
                         {4, 4, 9},
                         {1, 1, 2}},
                        true};
  const auto expected = run_matrix<double>(simple, with({})).values;
  EXPECT_EQ(run_matrix<double>(split, with({})).values, expected);
  EXPECT_EQ(run_matrix<double>(as_undirected(split), with({})).values, expected);
}

TEST(SemiClustering, no_iteration_leaves_everyone_alone) {
  const TestGraph path{"path", {}, {{1, 2, 2}, {2, 3, 1}}, false};
  const auto found = run_matrix<double>(path, with({.iterations = 0}));
  EXPECT_EQ(found.values[1], (std::vector<SemiCluster>{{{2}, 0, 3}}));
}

TEST(SemiClustering, ends_when_no_list_changes) {
  const TestGraph edge{"edge", {}, {{1, 2, 3}}, false};
  const auto found = run_matrix<double>(edge, with({.iterations = 1'000'000}));
  EXPECT_LT(found.report.num_supersteps, 8U);
  EXPECT_EQ(found.values[0], (std::vector<SemiCluster>{{{1, 2}, 3, 0}, {{1}, 0, 3}}));
}

TEST(SemiClustering, options_out_of_range_are_refused) {
  const TestGraph edge{"edge", {}, {{1, 2, 3}}, false};
  expect_error<double>(edge, ErrorCode::usage, "max_clusters", with({.max_clusters = 0}));
  expect_error<double>(edge, ErrorCode::usage, "max_members", with({.max_members = 0}));
  expect_error<double>(edge, ErrorCode::usage, "boundary_factor", with({.boundary_factor = 2}));
  expect_error<double>(edge, ErrorCode::usage, "iterations", with({.iterations = -1}));
}

TEST(SemiClustering, sums_that_are_not_finite_are_refused) {
  for (const double factor : {0.0, 0.5}) {
    const TestGraph heavy{"heavy", {}, {{1, 2, 1e308}, {2, 3, 1e308}}, false};
    expect_error<double>(heavy, ErrorCode::input, "vertex 2: found weights",
                         with({.boundary_factor = factor}));
    const TestGraph nan{"nan", {}, {{1, 2, 1}, {2, 3, std::nan("")}}, false};
    expect_error<double>(nan, ErrorCode::input, "vertex 2: found weights",
                         with({.boundary_factor = factor}));
  }
}

TEST(SemiClustering, as_text_each_cluster_is_its_score_and_its_members) {
  const AppendId append_id = [](VertexId id, std::string& text) {
    text += 'v' + std::to_string(id);
  };
  Context context;
  const TestGraph edge{"edge", {5}, {{1, 2, 3}}, false};
  const AnyGraph graph = engine_graph<double>(context, edge);
  const AlgorithmResult result = semi_clustering_algorithm.run(graph, {});
  std::vector<std::string> lines;
  for (const Row row : result.vertices->rows_by_id()) {
    lines.push_back(std::to_string(result.vertices->id(row)) + ' ');
    result.append_value(row, append_id, lines.back());
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"1 3:v1,v2 1:v1", "2 3:v1,v2 1:v2", "5 1:v5"}));
}

}  // namespace
}  // namespace weir::test
