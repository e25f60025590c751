// SPDX-License-Identifier: Apache-2.0
// The algorithms on the graphs of the shared data, against the results that lie beside them.
// Integers are exact; the tolerance of doubles is relative: what the files print.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
#include <weir/tests/reference/reference_data.hpp>

namespace weir::test {

/// One graph and what its reference results were computed with.
struct ReferenceGraph {
  std::filesystem::path stem;
  bool is_directed = true;
  VertexId source = 0;
  std::int64_t pagerank_iterations = 20;
  std::int64_t cdlp_iterations = 10;
  double pagerank_epsilon = 1e-12;
  double lcc_epsilon = 1e-12;
  bool is_large = false;
  int num_results = 0;                            ///< beside the graph
  std::optional<std::int64_t> num_triangles{};    ///< as published
  bool counts_triangles = false;                  ///< against the oracle
  std::map<std::string, std::string> suffixes{};  ///< of other files than the usual ones
};

/// Runs the jobs of one reference graph by
///
///     runner.run<E>(graph, job, is_large)    MatrixResult of job(graph, run_options)
///     runner.is_judge()                      whether this process holds results and compares them
template <class Runner>
class ReferenceJobs {
 public:
  ReferenceJobs(const Runner& runner, const ReferenceGraph& reference)
      : runner_(runner), reference_(reference) {}

  /// Every job that has a result beside the graph.
  void compare() {
    SCOPED_TRACE(reference_.stem.filename().string());
    graph_ = data_graph(reference_.stem, reference_.is_directed);
    if (runner_.is_judge()) oracle_ = serial(graph_);
    compare_distances();
    compare_communities();
    compare_ranks();
    compare_components();
    EXPECT_EQ(num_compared_, reference_.num_results);
    if (reference_.counts_triangles) compare_triangles();
  }

 private:
  template <class E, class V, class Job>
  void compare_with_file(const char* algorithm, double epsilon, const Job& job) {
    const auto other = reference_.suffixes.find(algorithm);
    const std::filesystem::path file =
        reference_.stem.string() + "-" +
        (other == reference_.suffixes.end() ? algorithm : other->second);
    if (!std::filesystem::exists(file)) return;
    SCOPED_TRACE(file.filename().string());
    ++num_compared_;
    const auto found = runner_.template run<E>(graph_, job, reference_.is_large);
    if (!runner_.is_judge()) return;
    expect_values(found, oracle_, reference::read_values<V>(oracle_, file), epsilon);
  }

  void compare_distances() {
    compare_with_file<NoValue, std::int64_t>(
        "BFS", 0, [&](const auto& graph, const RunOptions& run) {
          return breadth_first_search(graph, {{reference_.source}, run});
        });
    compare_with_file<double, double>("SSSP", 1e-15, [&](const auto& graph, const RunOptions& run) {
      return shortest_paths(graph, {{reference_.source}, run});
    });
  }

  void compare_communities() {
    compare_with_file<NoValue, VertexId>("CDLP", 0, [&](const auto& graph, const RunOptions& run) {
      return label_propagation(graph, {reference_.cdlp_iterations, run});
    });
    compare_with_file<NoValue, double>("LCC", reference_.lcc_epsilon,
                                       [&](const auto& graph, const RunOptions& run) {
                                         return clustering_coefficient(graph, {run});
                                       });
  }

  void compare_ranks() {
    compare_with_file<NoValue, double>(
        "PR", reference_.pagerank_epsilon, [&](const auto& graph, const RunOptions& run) {
          return pagerank(graph, {.iterations = reference_.pagerank_iterations, .run = run});
        });
  }

  /// References name components freely: the partition is compared, the names with the oracle's.
  void compare_components() {
    const std::string file = reference_.stem.string() + "-WCC";
    if (!std::filesystem::exists(file)) return;
    ++num_compared_;
    const auto found = runner_.template run<NoValue>(
        graph_,
        [](const auto& graph, const RunOptions& run) { return connected_components(graph, {run}); },
        reference_.is_large);
    if (!runner_.is_judge()) return;
    expect_values(found, oracle_, reference::wcc(oracle_));
    const auto named = reference::read_values<VertexId>(oracle_, file);
    ASSERT_EQ(found.values.size(), named.size());
    std::map<VertexId, VertexId> to_found, to_named;
    for (std::size_t v = 0; v < named.size(); ++v) {
      ASSERT_EQ(to_found.emplace(named[v], found.values[v]).first->second, found.values[v]);
      ASSERT_EQ(to_named.emplace(found.values[v], named[v]).first->second, named[v]);
    }
  }

  /// Their numbers per vertex are those of the oracle, the total is the published one.
  void compare_triangles() {
    const auto found = runner_.template run<NoValue>(
        graph_,
        [](const auto& graph, const RunOptions& run) { return triangle_count(graph, {run}); },
        reference_.is_large);
    if (!runner_.is_judge()) return;
    expect_values(found, oracle_, reference::triangles(oracle_));
    std::int64_t num_corners = 0;
    for (const std::int64_t count : found.values) num_corners += count;
    if (reference_.num_triangles) {
      EXPECT_EQ(num_corners / 3, *reference_.num_triangles);
    }
  }

  const Runner& runner_;
  const ReferenceGraph& reference_;
  TestGraph graph_;
  reference::SerialGraph oracle_;
  int num_compared_ = 0;
};

/// The graphs of Graphalytics, by their property files.
inline std::vector<ReferenceGraph> graphalytics_graphs(const std::filesystem::path& folder) {
  std::vector<ReferenceGraph> graphs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
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
    graph.num_results = name.starts_with("example-") ? 6 : 1;
    graphs.push_back(graph);
  }
  // Folders list in any order; the ranks of a job need the same one.
  std::sort(graphs.begin(), graphs.end(),
            [](const ReferenceGraph& a, const ReferenceGraph& b) { return a.stem < b.stem; });
  return graphs;
}

/// The graphs whose results an independent implementation computed.
inline std::vector<ReferenceGraph> computed_graphs(const std::filesystem::path& folder) {
  struct Row {
    const char* name;
    bool is_directed;
    VertexId source;
    int num_results;
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
  std::vector<ReferenceGraph> graphs;
  for (const Row& row : rows) {
    ReferenceGraph graph;
    graph.stem = folder / row.name;
    graph.is_directed = row.is_directed;
    graph.source = row.source;
    graph.is_large = row.is_large;
    graph.num_results = row.num_results;
    graph.counts_triangles = true;
    graph.num_triangles = row.num_triangles;
    graphs.push_back(graph);
  }
  return graphs;
}

inline ReferenceGraph p2p_31_undirected(const std::filesystem::path& folder) {
  ReferenceGraph graph;
  graph.stem = folder / "p2p-31";
  graph.is_directed = false;
  graph.source = 6;
  graph.pagerank_iterations = 10;
  graph.is_large = true;
  graph.num_results = 6;
  graph.counts_triangles = true;
  graph.num_triangles = 2024;
  return graph;
}

inline ReferenceGraph p2p_31_directed(const std::filesystem::path& folder) {
  ReferenceGraph graph;
  graph.stem = folder / "p2p-31";
  graph.source = 6;
  graph.pagerank_iterations = 10;
  graph.is_large = true;
  graph.num_results = 4;  // components do not depend on direction
  const std::string none = "no such file";
  graph.suffixes = {{"BFS", "BFS-directed"},
                    {"SSSP", "SSSP-directed"},
                    {"PR", "PR-directed-corrected"},
                    {"CDLP", none},
                    {"LCC", none}};
  return graph;
}

template <class Runner>
void compare_reference(const Runner& runner, const ReferenceGraph& graph) {
  ReferenceJobs<Runner>(runner, graph).compare();
}

}  // namespace weir::test
