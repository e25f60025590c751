// SPDX-License-Identifier: Apache-2.0
// The reference graphs in every cell of the matrix (large graphs: in some).
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/algorithms/reference_graphs.hpp>

namespace weir::test {
namespace {

namespace fs = std::filesystem;

/// Ranks are threads of this process.
struct InProcess {
  template <class E, class Job>
  auto run(const TestGraph& graph, const Job& job, bool is_large) const {
    return run_matrix<E>(graph, job, is_large ? few_cells() : all_cells());
  }
  bool is_judge() const { return true; }
};

class ReferenceGraphs : public reference::ReferenceData {};

TEST_F(ReferenceGraphs, OfGraphalyticsAreMet) {  // D45
  const auto graphs = graphalytics_graphs(graphs_ / "graphalytics");
  EXPECT_EQ(graphs.size(), 14U);
  for (const ReferenceGraph& graph : graphs) compare_reference(InProcess{}, graph);
}

TEST_F(ReferenceGraphs, ThatWereComputedAreMet) {
  for (const ReferenceGraph& graph : computed_graphs(graphs_ / "reference"))
    compare_reference(InProcess{}, graph);
}

TEST_F(ReferenceGraphs, P2p31IsMetUndirected) {
  compare_reference(InProcess{}, p2p_31_undirected(graphs_ / "p2p-31"));
}

TEST_F(ReferenceGraphs, P2p31IsMetDirected) {
  compare_reference(InProcess{}, p2p_31_directed(graphs_ / "p2p-31"));
}

TEST_F(ReferenceGraphs, Rome99HasTheTopTenOfItsReference) {  // D39
  const fs::path stem = graphs_ / "reference" / "rome99-directed";
  const TestGraph graph = data_graph(stem, true);
  const auto oracle = serial(graph);
  const auto found = run_matrix<NoValue>(
      graph, [](const auto& g, const RunOptions& run) { return pagerank(g, {.run = run}); },
      {{3, 1, Direction::automatic}});
  const auto top_ten = [&](const std::vector<double>& ranks) {
    std::vector<VertexId> ids = oracle.ids;
    std::partial_sort(ids.begin(), ids.begin() + 10, ids.end(), [&](VertexId a, VertexId b) {
      const double of_a = ranks[oracle.index_of(a)], of_b = ranks[oracle.index_of(b)];
      return of_a != of_b ? of_a > of_b : a < b;
    });
    ids.resize(10);
    return ids;
  };
  EXPECT_EQ(top_ten(found.values),
            top_ten(reference::read_values<double>(oracle, stem.string() + "-PR")));
}

TEST_F(ReferenceGraphs, UnitDistancesEqualLevelsOnPower) {  // D67
  const TestGraph graph = data_graph(graphs_ / "reference" / "power-undirected", false);
  const auto distances = run_matrix<NoValue>(
      graph,
      [](const auto& g, const RunOptions& run) {
        return shortest_paths(g, {{1}, run});
      },
      few_cells());
  const auto levels = run_matrix<NoValue>(
      graph,
      [](const auto& g, const RunOptions& run) {
        return breadth_first_search(g, {{1}, run});
      },
      few_cells());
  EXPECT_EQ(distances.values, std::vector<double>(levels.values.begin(), levels.values.end()));
  EXPECT_EQ(*std::max_element(levels.values.begin(), levels.values.end()), 27);
  std::int64_t sum = 0;
  for (const std::int64_t level : levels.values) sum += level;
  EXPECT_EQ(sum, 74749);
}

}  // namespace
}  // namespace weir::test
