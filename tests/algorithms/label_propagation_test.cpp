// SPDX-License-Identifier: Apache-2.0
// D numbers name cases reported by users of other engines.
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/label_propagation.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Ids = std::vector<VertexId>;

auto labels_after(Superstep iterations) {
  return [iterations](const auto& graph, const RunOptions& run) {
    return label_propagation(graph, {iterations, run});
  };
}

TEST(LabelPropagation, AgreesWithTheOracleInEveryCell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    for (const Superstep iterations : {3, 10}) {
      const auto found = run_matrix<NoValue>(graph, labels_after(iterations));
      expect_values(found, oracle, reference::cdlp(oracle, iterations));
    }
  }
}

TEST(LabelPropagation, StartsWithIds) {
  const TestGraph graph{"path", {}, edges_of({{1, 2}, {2, 3}}), false};
  EXPECT_EQ(run_matrix<NoValue>(graph, labels_after(0)).values, (Ids{1, 2, 3}));
}

TEST(LabelPropagation, TakesTheSmallestOfTiesAndEndsAtTheGivenCount) {  // D57
  const TestGraph tree{"D57", {}, edges_of({{1, 2}, {1, 3}, {2, 4}, {3, 5}}), false};
  EXPECT_EQ(run_matrix<NoValue>(tree, labels_after(1)).values, (Ids{2, 1, 1, 2, 3}));
  for (const Superstep odd : {3, 5, 11, 99})
    EXPECT_EQ(run_matrix<NoValue>(tree, labels_after(odd)).values, (Ids{2, 1, 1, 2, 2})) << odd;
  for (const Superstep even : {2, 4, 10, 100})
    EXPECT_EQ(run_matrix<NoValue>(tree, labels_after(even)).values, (Ids{1, 2, 2, 1, 1})) << even;
}

TEST(LabelPropagation, CountsAReciprocalPairTwice) {
  // 5 hears of 1 once, of 2 in both directions: 2 outweighs the smaller 1.
  const TestGraph graph{"reciprocal", {}, edges_of({{1, 5}, {2, 5}, {5, 2}})};
  EXPECT_EQ(run_matrix<NoValue>(graph, labels_after(1)).values, (Ids{5, 5, 2}));
}

TEST(LabelPropagation, CountsParallelEdgesAndLoops) {
  const TestGraph parallel{"parallel", {}, edges_of({{1, 5}, {2, 5}, {2, 5}})};
  EXPECT_EQ(run_matrix<NoValue>(parallel, labels_after(1)).values, (Ids{5, 5, 2}));
  const TestGraph loop{"loop", {}, edges_of({{1, 5}, {5, 5}})};
  EXPECT_EQ(run_matrix<NoValue>(loop, labels_after(1)).values, (Ids{5, 5}));
}

TEST(LabelPropagation, CountsLongLists) {  // more labels than fit on the stack
  TestGraph star{"star", {}, {}, false};
  for (VertexId leaf = 1; leaf <= 3000; ++leaf) star.edges.push_back({0, leaf, 1});
  const auto oracle = serial(star);
  for (const Superstep iterations : {1, 4}) {
    const auto found = run_matrix<double>(star, labels_after(iterations), few_cells());
    expect_values(found, oracle, reference::cdlp(oracle, iterations));
  }
}

TEST(LabelPropagation, RefusesANegativeCount) {
  const TestGraph graph{"path", {}, edges_of({{1, 2}})};
  expect_error<NoValue>(graph, ErrorCode::usage, "iterations", labels_after(-1));
}

}  // namespace
}  // namespace weir::test
