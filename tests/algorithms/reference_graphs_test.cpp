// SPDX-License-Identifier: Apache-2.0
// The algorithms on the graphs of the shared data, against the results that lie beside them, in
// every cell of the matrix (large graphs: in some). Integers are exact; the tolerance of doubles is
// relative: what the files print.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/breadth_first_search.hpp>
#include <weir/algorithms/clustering_coefficient.hpp>
#include <weir/algorithms/connected_components.hpp>
#include <weir/algorithms/label_propagation.hpp>
#include <weir/algorithms/pagerank.hpp>
#include <weir/algorithms/shortest_paths.hpp>
#include <weir/algorithms/triangle_count.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

namespace fs = std::filesystem;

/// One graph and what its reference results were computed with.
struct ReferenceGraph {
  fs::path stem;
  bool is_directed = true;
  VertexId source = 0;
  std::int64_t pagerank_iterations = 20;
  std::int64_t cdlp_iterations = 10;
  double pagerank_epsilon = 1e-12;
  double lcc_epsilon = 1e-12;
  std::vector<Cell> cells = all_cells();
  std::map<std::string, std::string> suffixes{};  ///< of other files than the usual ones

  /// Runs every algorithm that has a result beside the graph; returns how many.
  int compare() const {
    graph_ = data_graph(stem, is_directed);
    oracle_ = serial(graph_);
    int num_compared = 0;
    const auto check = [&]<class E, class V>(const char* algorithm, E, V, const auto& job,
                                             double epsilon) {
      const auto other = suffixes.find(algorithm);
      const fs::path file =
          stem.string() + "-" + (other == suffixes.end() ? algorithm : other->second);
      if (!fs::exists(file)) return;
      SCOPED_TRACE(file.filename().string());
      const auto found = run_matrix<E>(graph_, job, cells);
      expect_values(found, oracle_, reference::read_values<V>(oracle_, file), epsilon);
      ++num_compared;
    };
    const auto none = NoValue{};
    check(
        "BFS", none, std::int64_t{},
        [&](const auto& graph, const RunOptions& run) {
          return breadth_first_search(graph, {{source}, run});
        },
        0);
    check(
        "SSSP", double{}, double{},
        [&](const auto& graph, const RunOptions& run) {
          return shortest_paths(graph, {{source}, run});
        },
        1e-15);
    check(
        "CDLP", none, VertexId{},
        [&](const auto& graph, const RunOptions& run) {
          return label_propagation(graph, {cdlp_iterations, run});
        },
        0);
    check(
        "LCC", none, double{},
        [&](const auto& graph, const RunOptions& run) {
          return clustering_coefficient(graph, {run});
        },
        lcc_epsilon);
    check(
        "PR", none, double{},
        [&](const auto& graph, const RunOptions& run) {
          return pagerank(graph, {.iterations = pagerank_iterations, .run = run});
        },
        pagerank_epsilon);
    if (fs::exists(stem.string() + "-WCC")) {
      compare_components();
      ++num_compared;
    }
    return num_compared;
  }

  /// The total of the triangles; their numbers per vertex are those of the oracle.
  std::int64_t compare_triangles() const {
    const auto found = run_matrix<NoValue>(
        graph_,
        [](const auto& graph, const RunOptions& run) { return triangle_count(graph, {run}); },
        cells);
    expect_values(found, oracle_, reference::triangles(oracle_));
    std::int64_t corners = 0;
    for (const std::int64_t count : found.values) corners += count;
    return corners / 3;
  }

 private:
  /// References name components freely: the partition is compared, the names with the oracle's.
  void compare_components() const {
    const auto found = run_matrix<NoValue>(
        graph_,
        [](const auto& graph, const RunOptions& run) { return connected_components(graph, {run}); },
        cells);
    expect_values(found, oracle_, reference::wcc(oracle_));
    const auto named = reference::read_values<VertexId>(oracle_, stem.string() + "-WCC");
    std::map<VertexId, VertexId> to_found, to_named;
    for (std::size_t v = 0; v < named.size(); ++v) {
      ASSERT_EQ(to_found.emplace(named[v], found.values[v]).first->second, found.values[v]);
      ASSERT_EQ(to_named.emplace(found.values[v], named[v]).first->second, named[v]);
    }
  }

  mutable TestGraph graph_;
  mutable reference::SerialGraph oracle_;
};

/// Skips, visibly, where there is no shared data.
class ReferenceGraphs : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = reference::data_folder();
    if (!folder) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
    graphs_ = *folder / "graphs";
  }

  fs::path graphs_;
};

TEST_F(ReferenceGraphs, OfGraphalyticsAreMet) {  // D45
  int num_graphs = 0, num_compared = 0;
  for (const auto& entry : fs::directory_iterator(graphs_ / "graphalytics")) {
    if (entry.path().extension() != ".properties") continue;
    const auto properties = reference::read_properties(entry.path());
    const auto number = [&](const char* key, std::int64_t otherwise) {
      const auto place = properties.find(key);
      return place == properties.end() ? otherwise : std::stoll(place->second);
    };
    ReferenceGraph graph;
    graph.stem = entry.path().parent_path() / entry.path().stem();
    graph.is_directed = properties.at("directed") == "true";
    graph.source = number("bfs.source-vertex", number("sssp.source-vertex", 0));
    graph.pagerank_iterations = number("pr.num-iterations", 0);
    graph.cdlp_iterations = number("cdlp.max-iterations", 0);
    const std::string name = graph.stem.filename().string();
    if (name == "test-pr-directed") graph.pagerank_epsilon = 1.3e-6;
    if (name == "test-pr-undirected") graph.pagerank_epsilon = 6e-8;
    if (name.starts_with("test-lcc")) graph.lcc_epsilon = 3e-12;
    num_compared += graph.compare();
    ++num_graphs;
  }
  EXPECT_EQ(num_graphs, 14);
  EXPECT_EQ(num_compared, 24);
}

TEST_F(ReferenceGraphs, ThatWereComputedAreMet) {
  struct Row {
    const char* name;
    bool is_directed;
    VertexId source;
    int num_files;
    std::optional<std::int64_t> num_triangles;
    bool is_large;
  };
  const std::vector<Row> rows{{"karate-undirected", false, 1, 5, 45, false},
                              {"jazz-undirected", false, 1, 5, 17899, false},
                              {"lesmis-undirected", false, 1, 6, 467, false},
                              {"power-undirected", false, 1, 5, 651, false},
                              {"polblogs-undirected", false, 1, 5, 101043, false},
                              {"ca-GrQc-undirected", false, 3466, 5, 48260, true},
                              {"rome99-directed", true, 1, 6, std::nullopt, false}};
  for (const Row& row : rows) {
    ReferenceGraph graph;
    graph.stem = graphs_ / "reference" / row.name;
    graph.is_directed = row.is_directed;
    graph.source = row.source;
    if (row.is_large) graph.cells = few_cells();
    EXPECT_EQ(graph.compare(), row.num_files) << row.name;
    const std::int64_t num_triangles = graph.compare_triangles();
    if (row.num_triangles) {
      EXPECT_EQ(num_triangles, *row.num_triangles) << row.name;
    }
  }
}

TEST_F(ReferenceGraphs, P2p31IsMetUndirected) {
  ReferenceGraph graph;
  graph.stem = graphs_ / "p2p-31" / "p2p-31";
  graph.is_directed = false;
  graph.source = 6;
  graph.pagerank_iterations = 10;
  graph.cells = few_cells();
  EXPECT_EQ(graph.compare(), 6);
  EXPECT_EQ(graph.compare_triangles(), 2024);
}

TEST_F(ReferenceGraphs, P2p31IsMetDirected) {
  ReferenceGraph graph;
  graph.stem = graphs_ / "p2p-31" / "p2p-31";
  graph.source = 6;
  graph.pagerank_iterations = 10;
  graph.cells = few_cells();
  const std::string none = "no such file";
  graph.suffixes = {{"BFS", "BFS-directed"},
                    {"SSSP", "SSSP-directed"},
                    {"PR", "PR-directed-corrected"},
                    {"CDLP", none},
                    {"LCC", none}};
  EXPECT_EQ(graph.compare(), 4);  // components do not depend on direction
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
