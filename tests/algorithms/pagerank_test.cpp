// SPDX-License-Identifier: Apache-2.0
// D numbers name cases reported by users of other engines. "Limit" is the fixed point.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/pagerank.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

using Doubles = std::vector<double>;

auto ranks(PageRankOptions options = {}) {
  return [options](const auto& graph, const RunOptions& run) {
    PageRankOptions own = options;
    own.run = run;
    return pagerank(graph, own);
  };
}

/// Close to the fixed point.
PageRankOptions limit() { return {.iterations = 1000, .tolerance = 1e-14}; }

void expect_ranks(const MatrixResult<double>& found, const Doubles& expected,
                  double epsilon = 5e-9) {
  ASSERT_EQ(found.values.size(), expected.size());
  for (std::size_t v = 0; v < expected.size(); ++v)
    EXPECT_NEAR(found.values[v], expected[v], epsilon) << "vertex " << found.ids[v];
  EXPECT_NEAR(std::accumulate(found.values.begin(), found.values.end(), 0.0), 1, 1e-12);
}

TEST(PageRank, AgreesWithTheOracleInEveryCell) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    const auto found = run_matrix<NoValue>(graph, ranks());
    expect_values(found, oracle, reference::pagerank(oracle).ranks, 1e-12);
  }
}

TEST(PageRank, AgreesWithTheOracleByWeight) {
  for (const TestGraph& graph : small_graphs()) {
    const auto oracle = serial(graph);
    const auto found = run_matrix<double>(graph, ranks({.is_weighted = true}));
    expect_values(found, oracle, reference::pagerank(oracle, {.weighted = true}).ranks, 1e-12);
  }
}

TEST(PageRank, AgreesWithTheOracleFromATeleportSet) {
  for (const TestGraph& graph : random_graphs(1, 10)) {
    const auto oracle = serial(graph);
    const auto teleport = some_vertices(oracle, 3);
    const auto found = run_matrix<NoValue>(graph, ranks({.teleport = teleport}));
    reference::PagerankOptions options;
    options.teleport = teleport;
    expect_values(found, oracle, reference::pagerank(oracle, options).ranks, 1e-12);
  }
}

TEST(PageRank, StopsAtTheTolerance) {
  for (const TestGraph& graph : random_graphs(1, 10)) {
    const auto oracle = serial(graph);
    if (oracle.size() == 0) continue;
    const auto found = run_matrix<NoValue>(graph, ranks({.iterations = 100, .tolerance = 1e-6}));
    const auto expected = reference::pagerank(oracle, {.iterations = 100, .tolerance = 1e-6});
    expect_values(found, oracle, expected.ranks, 1e-12);
    // Superstep 0 starts; each further one is a step.
    EXPECT_EQ(found.report.num_supersteps, static_cast<std::uint64_t>(expected.iterations) + 1);
  }
}

TEST(PageRank, KeepsTheMassOfDeadEnds) {  // D33, D34
  const TestGraph graph{"D33", {}, edges_of({{1, 2}, {2, 3}})};
  expect_ranks(run_matrix<NoValue>(graph, ranks(limit())), {.184416782, .341171047, .474412172});
  expect_ranks(run_matrix<NoValue>(graph, ranks({.iterations = 1})),
               {.144444444, .427777778, .427777778});
  expect_ranks(run_matrix<NoValue>(graph, ranks({.iterations = 10})),
               {.1842977, .34119919, .474503109});
  expect_ranks(run_matrix<NoValue>(graph, ranks({.iterations = 0})), Doubles(3, 1.0 / 3));
}

TEST(PageRank, SpreadsTheMassOfAHub) {  // D35
  TestGraph star{"D35", {}, {}};
  for (VertexId leaf = 1; leaf <= 9; ++leaf) star.edges.push_back({leaf, 0, 1});
  Doubles expected(10, .056657224);
  expected[0] = .490084986;
  expect_ranks(run_matrix<NoValue>(star, ranks(limit())), expected);
}

TEST(PageRank, ReturnsMassToTheTeleportSet) {  // D36, D38
  const TestGraph graph{"D36", {}, edges_of({{1, 2}, {2, 3}, {2, 4}})};
  expect_ranks(run_matrix<NoValue>(graph, ranks(limit())),
               {.155702608, .288049825, .278123784, .278123784});
  PageRankOptions personalised = limit();
  personalised.teleport = {3};
  expect_ranks(run_matrix<NoValue>(graph, ranks(personalised)), {0, 0, 1, 0}, 0);
  const TestGraph pair{"D38", {}, edges_of({{1, 2}})};
  personalised.teleport = {2};
  expect_ranks(run_matrix<NoValue>(pair, ranks(personalised)), {0, 1}, 0);
}

TEST(PageRank, KeepsItsNumbers) {  // D37; a 1, ..., g 7
  const TestGraph graph{
      "D37", {7}, edges_of({{1, 2}, {2, 3}, {3, 2}, {6, 3}, {5, 6}, {5, 4}, {4, 1}, {1, 5}})};
  const auto ten = run_matrix<NoValue>(graph, ranks({.iterations = 10}));
  expect_ranks(ten,
               {.06408436, .384650438, .382279017, .046467568, .051660806, .046467568, .024390244});
  const auto found = run_matrix<NoValue>(graph, ranks(limit()));
  EXPECT_NEAR(found.values[1], .38063829, 5e-9);
  EXPECT_NEAR(found.values[2], .387257748, 5e-9);
}

TEST(PageRank, FollowsWeights) {  // D40
  const TestGraph graph{"D40", {}, {{1, 2, 3}, {1, 3, 1}, {2, 1, 1}, {3, 1, 1}}};
  PageRankOptions weighted = limit();
  weighted.is_weighted = true;
  expect_ranks(run_matrix<double>(graph, ranks(weighted)), {.486486486, .360135135, .153378378});
  const auto plain = run_matrix<double>(graph, ranks(limit()));
  EXPECT_EQ(plain.values[1], plain.values[2]);
  EXPECT_EQ(plain.digest, run_matrix<NoValue>(graph, ranks(limit())).digest);
}

TEST(PageRank, CountsParallelEdgesUnlessMerged) {  // D42
  TestGraph graph{"D42", {}, edges_of({{1, 2}, {2, 3}, {2, 3}, {2, 1}})};
  expect_ranks(run_matrix<NoValue>(graph, ranks(limit())), {.25974026, .374430764, .365828976});
  graph.repeats = Repeats::merge;
  expect_ranks(run_matrix<NoValue>(graph, ranks(limit())), {.303191489, .393617021, .303191489});
}

TEST(PageRank, GivesTheSameBitsInEveryRun) {  // D43
  const TestGraph cycle{"D43", {}, edges_of({{0, 1}, {1, 2}, {2, 0}})};
  const auto first = run_matrix<NoValue>(cycle, ranks());
  for (int i = 0; i < 9; ++i) EXPECT_EQ(run_matrix<NoValue>(cycle, ranks()).digest, first.digest);
  std::vector<Cell> four_threads;
  for (const Rank each : {1, 2, 4}) four_threads.push_back({each, 4, Direction::automatic});
  EXPECT_EQ(run_matrix<NoValue>(cycle, ranks(), four_threads).digest, first.digest);
}

TEST(PageRank, DoesNotTakeAWeightForADegree) {  // D44
  const TestGraph graph{"D44", {}, {{1, 2, 0}, {2, 3, 1e9}, {3, 1, 0.5}, {1, 3, 7}}};
  const auto oracle = serial(graph);
  const auto found = run_matrix<double>(graph, ranks());
  expect_ranks(found, reference::pagerank(oracle).ranks, 1e-12);
}

TEST(PageRank, IsExactOnALongRing) {  // D46
  TestGraph ring{"D46", {}, {}};
  for (VertexId v = 0; v < 100000; ++v) ring.edges.push_back({v, (v + 1) % 100000, 1});
  const auto found = run_matrix<NoValue>(ring, ranks(), few_cells());
  for (const double rank : found.values) ASSERT_NEAR(rank, 1e-5, 1e-17);
}

// An in-list of more than one block of the fold, with ranks that do not add up exactly.
TEST(PageRank, FoldsLongListsAlike) {
  TestGraph graph{"hub", {}, {}};
  for (VertexId v = 1; v <= 5000; ++v) {
    graph.edges.push_back({v, 0, 1});
    for (VertexId extra = 0; extra < v % 7; ++extra)
      graph.edges.push_back({v, 1 + (v * 31 + extra) % 5000, 1});
  }
  const auto oracle = serial(graph);
  const auto found = run_matrix<NoValue>(graph, ranks());
  expect_values(found, oracle, reference::pagerank(oracle).ranks, 1e-12);
}

TEST(PageRank, RefusesWhatMakesNoSense) {
  const TestGraph graph{"D33", {}, {{1, 2, 1}, {2, 3, -1}}};
  expect_error<double>(graph, ErrorCode::input, "negative weight", ranks({.is_weighted = true}));
  expect_error<NoValue>(graph, ErrorCode::usage, "edge values", ranks({.is_weighted = true}));
  expect_error<NoValue>(graph, ErrorCode::usage, "damping", ranks({.damping = 1.5}));
  expect_error<NoValue>(graph, ErrorCode::usage, "iterations", ranks({.iterations = -1}));
  expect_error<NoValue>(graph, ErrorCode::usage, "tolerance", ranks({.tolerance = -1e-9}));
  expect_error<NoValue>(graph, ErrorCode::input, "teleport vertex 9", ranks({.teleport = {9}}));
}

}  // namespace
}  // namespace weir::test
