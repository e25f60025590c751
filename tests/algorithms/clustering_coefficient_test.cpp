// SPDX-License-Identifier: Apache-2.0
// D numbers name cases reported by users of other engines.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/clustering_coefficient.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Doubles = std::vector<double>;

auto coefficients() {
  return [](const auto& graph, const RunOptions& run) {
    return clustering_coefficient(graph, {run}).values;
  };
}

double mean_of(const MatrixResult<double>& found) {
  const double sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
  return sum / static_cast<double>(found.values.size());
}

TEST(ClusteringCoefficient, AgreesWithTheOracleInEveryCell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    expect_values(run_matrix<NoValue>(graph, coefficients()), oracle, reference::lcc(oracle));
  }
}

TEST(ClusteringCoefficient, IgnoresEdgeValues) {
  const TestGraph graph{"weighted", {}, {{1, 2, 0}, {2, 3, -1}, {1, 3, 5}}, false};
  EXPECT_EQ(run_matrix<double>(graph, coefficients()).values, (Doubles{1, 1, 1}));
}

TEST(ClusteringCoefficient, CountsMutualEdgesOnce) {  // D47
  const TestGraph graph{"D47", {}, edges_of({{1, 2}, {2, 1}, {2, 3}, {3, 1}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, coefficients()).values, (Doubles{0.5, 0.5, 1}));
  EXPECT_EQ(run_matrix<NoValue>(as_undirected(graph), coefficients()).values, (Doubles{1, 1, 1}));
}

TEST(ClusteringCoefficient, CountsArcsOfDirectedGraphs) {  // D49
  const TestGraph graph{"D49", {}, edges_of({{1, 2}, {1, 3}, {2, 3}})};
  EXPECT_EQ(mean_of(run_matrix<NoValue>(graph, coefficients())), 0.5);
  EXPECT_EQ(mean_of(run_matrix<NoValue>(as_undirected(graph), coefficients())), 1.0);
}

TEST(ClusteringCoefficient, IsOfTheOpenNeighbourhood) {  // D54; a 1, b 2, c 3, d 4, e 5
  const TestGraph graph{
      "D54", {}, edges_of({{1, 2}, {1, 3}, {1, 5}, {2, 3}, {3, 5}, {3, 4}, {4, 5}}), false};
  EXPECT_EQ(run_matrix<NoValue>(graph, coefficients()).values,
            (Doubles{2.0 / 3, 1, 1.0 / 2, 1, 2.0 / 3}));
}

TEST(ClusteringCoefficient, IsTheSameForEdgesStoredBothWays) {  // D48
  for (const TestGraph& graph : random_graphs(1, 10)) {
    TestGraph both_ways = graph;
    for (const Edge<double>& edge : graph.edges)
      both_ways.edges.push_back({edge.target, edge.source, edge.value});
    const auto once = run_matrix<NoValue>(as_undirected(graph), coefficients(), few_cells());
    for (const TestGraph& twice : {as_undirected(both_ways), as_directed(both_ways)})
      EXPECT_EQ(run_matrix<NoValue>(twice, coefficients(), few_cells()).digest, once.digest);
  }
}

TEST(ClusteringCoefficient, SurvivesAStarOf70000Leaves) {  // D71
  TestGraph star{"star", {}, {}};
  for (VertexId leaf = 1; leaf <= 70000; ++leaf) star.edges.push_back({0, leaf, 1});
  star.edges.push_back({1, 2, 1});
  const auto found = run_matrix<NoValue>(star, coefficients(), few_cells());
  EXPECT_EQ(found.values[0], 1.0 / (70000.0 * 69999.0));  // more pairs than 32 bits count
  EXPECT_EQ(found.values[1], 0.5);
  EXPECT_EQ(found.values[3], 0.0);
}

}  // namespace
}  // namespace weir::test
