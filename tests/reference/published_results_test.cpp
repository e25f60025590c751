// SPDX-License-Identifier: Apache-2.0
// The serial oracles against published and independently computed results of public graphs.
// Integers are exact; the tolerance of doubles is relative and stated where it is used. D numbers
// name cases reported by users of other engines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/reference/oracle_cases.hpp>
#include <weir/tests/reference/reference_data.hpp>

namespace weir::reference {
namespace {

namespace fs = std::filesystem;

/// Compares every reference output that lies beside a graph. `stem` is its path without suffix.
struct ReferenceFiles {
  fs::path stem;
  SerialGraph graph;
  VertexId source = 0;
  std::int64_t pagerank_iterations = 20;
  std::int64_t cdlp_iterations = 10;
  double pagerank_epsilon = 1e-12;
  double lcc_epsilon = 1e-12;  // the references print 12 to 16 digits

  int compare() const {
    SCOPED_TRACE(stem.filename().string());
    int num_compared = 0;
    const auto with = [&](const char* suffix, auto check) {
      const fs::path file = stem.string() + suffix;
      if (!fs::exists(file)) return;
      check(file);
      ++num_compared;
    };
    with("-BFS", [&](const fs::path& file) {
      EXPECT_EQ(bfs(graph, {source}), read_values<std::int64_t>(graph, file));
    });
    with("-SSSP", [&](const fs::path& file) {
      const auto distances = sssp(graph, {source});
      EXPECT_TRUE(near(graph, distances, read_values<double>(graph, file), 1e-15));
      EXPECT_EQ(check_distances(graph, {source}, distances), "");
    });
    with("-WCC", [&](const fs::path& file) {
      const auto labels = wcc(graph);
      EXPECT_TRUE(equivalent(labels, read_values<VertexId>(graph, file)));
      EXPECT_EQ(check_weak_components(graph, labels), "");
    });
    with("-CDLP", [&](const fs::path& file) {
      EXPECT_EQ(cdlp(graph, cdlp_iterations), read_values<VertexId>(graph, file));
    });
    with("-LCC", [&](const fs::path& file) {
      EXPECT_TRUE(near(graph, lcc(graph), read_values<double>(graph, file), lcc_epsilon));
    });
    with("-PR", [&](const fs::path& file) {
      const auto ranks = pagerank(graph, {.iterations = pagerank_iterations}).ranks;
      EXPECT_TRUE(near(graph, ranks, read_values<double>(graph, file), pagerank_epsilon));
    });
    return num_compared;
  }
};

TEST_F(ReferenceData, graphalytics_graphs_match_their_reference_outputs) {
  int num_graphs = 0, num_compared = 0;
  for (const auto& entry : fs::directory_iterator(graphs_ / "graphalytics")) {
    if (entry.path().extension() != ".properties") continue;
    const auto properties = read_properties(entry.path());
    const auto number = [&](const char* key, std::int64_t otherwise) {
      const auto place = properties.find(key);
      return place == properties.end() ? otherwise : std::stoll(place->second);
    };
    ReferenceFiles files;
    files.stem = entry.path().parent_path() / entry.path().stem();
    files.graph =
        read_graph(files.stem, properties.at("directed") == "true" ? directed : undirected);
    files.source = number("bfs.source-vertex", number("sssp.source-vertex", 0));
    files.pagerank_iterations = number("pr.num-iterations", 0);
    files.cdlp_iterations = number("cdlp.max-iterations", 0);
    const std::string name = files.stem.filename().string();
    if (name == "test-pr-directed") files.pagerank_epsilon = 1.3e-6;
    if (name == "test-pr-undirected") files.pagerank_epsilon = 6e-8;
    if (name.starts_with("test-lcc")) files.lcc_epsilon = 3e-12;
    num_compared += files.compare();
    ++num_graphs;
  }
  EXPECT_EQ(num_graphs, 14);
  EXPECT_EQ(num_compared, 24);
}

TEST_F(ReferenceData, p2p_31_matches_its_undirected_reference_outputs) {
  ReferenceFiles files;
  files.stem = graphs_ / "p2p-31" / "p2p-31";
  files.graph = read_graph(files.stem, undirected);
  files.source = 6;
  files.pagerank_iterations = 10;
  EXPECT_EQ(files.compare(), 6);
  const auto& graph = files.graph;
  EXPECT_EQ(graph.size(), 62586U);
  EXPECT_EQ(num_triangles(graph), 2024);
  EXPECT_EQ(num_labels(wcc(graph)), 12U);
  const auto labels = cdlp(graph, 10);
  EXPECT_EQ(num_labels(labels), 11019U);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 2), 2637);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 1), 1516);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 7), 483);
  const auto coefficients = lcc(graph);
  EXPECT_EQ(coefficients.size() -
                static_cast<std::size_t>(std::count(coefficients.begin(), coefficients.end(), 0.0)),
            4343U);
  EXPECT_NEAR(mean_of(coefficients), 0.005463878874, 1e-12);
  const auto levels = bfs(graph, {6});
  const Counts sizes{1, 15, 142, 1472, 10430, 29451, 19929, 1110, 11};
  for (std::size_t level = 0; level < sizes.size(); ++level) {
    EXPECT_EQ(std::count(levels.begin(), levels.end(), static_cast<std::int64_t>(level)),
              sizes[level]);
  }
  EXPECT_EQ(std::count(levels.begin(), levels.end(), unreached_level), 25);
  EXPECT_EQ(check_cores(graph, k_core(graph)), "");
}

TEST_F(ReferenceData, p2p_31_matches_its_directed_reference_outputs) {
  const fs::path folder = graphs_ / "p2p-31";
  const auto graph = read_graph(folder / "p2p-31", directed);
  EXPECT_EQ(bfs(graph, {6}), read_values<std::int64_t>(graph, folder / "p2p-31-BFS-directed"));
  EXPECT_TRUE(near(graph, sssp(graph, {6}),
                   read_values<double>(graph, folder / "p2p-31-SSSP-directed"), 0));
  const auto ranks = pagerank(graph, {.iterations = 10}).ranks;
  EXPECT_TRUE(near(graph, ranks,
                   read_values<double>(graph, folder / "p2p-31-PR-directed-corrected"), 1e-12));
  EXPECT_NEAR(sum_of(ranks), 1, 1e-12);
  const auto largest = std::max_element(ranks.begin(), ranks.end()) - ranks.begin();
  EXPECT_EQ(graph.ids[static_cast<std::size_t>(largest)], 585);
  EXPECT_EQ(check_strong_components(graph, scc(graph)), "");
}

TEST_F(ReferenceData, computed_references_are_met) {
  struct Row {
    const char* name;
    BuildOptions options;
    VertexId source;
    std::size_t num_components, num_communities;
    double mean_lcc;
    int num_files;
  };
  const std::vector<Row> rows{{"karate-undirected", undirected, 1, 1, 1, 0.570638478, 5},
                              {"jazz-undirected", undirected, 1, 1, 4, 0.617450702, 5},
                              {"lesmis-undirected", undirected, 1, 1, 6, 0.573136750, 6},
                              {"power-undirected", undirected, 1, 1, 944, 0.080103611, 5},
                              {"polblogs-undirected", undirected, 1, 268, 273, 0.262651775, 5},
                              {"ca-GrQc-undirected", undirected, 3466, 355, 975, 0.529635811, 5},
                              {"rome99-directed", directed, 1, 1, 776, 0.026215330, 6}};
  for (const auto& row : rows) {
    ReferenceFiles files;
    files.stem = graphs_ / "reference" / row.name;
    files.graph = read_graph(files.stem, row.options);
    files.source = row.source;
    EXPECT_EQ(files.compare(), row.num_files) << row.name;
    EXPECT_EQ(num_labels(wcc(files.graph)), row.num_components) << row.name;
    EXPECT_EQ(num_labels(cdlp(files.graph, 10)), row.num_communities) << row.name;
    EXPECT_NEAR(mean_of(lcc(files.graph)), row.mean_lcc, 5e-10) << row.name;
    EXPECT_EQ(check_cores(files.graph, k_core(files.graph)), "") << row.name;
  }
}

TEST_F(ReferenceData, known_triangle_counts_and_distances_are_met) {
  const auto open = [&](const char* name, BuildOptions options) {
    return read_graph(graphs_ / "reference" / name, options);
  };
  EXPECT_EQ(num_triangles(open("karate-undirected", undirected)), 45);
  EXPECT_EQ(num_triangles(open("jazz-undirected", undirected)), 17899);
  EXPECT_EQ(num_triangles(open("lesmis-undirected", undirected)), 467);
  EXPECT_EQ(num_triangles(open("power-undirected", undirected)), 651);
  EXPECT_EQ(num_triangles(open("polblogs-undirected", undirected)), 101043);
  EXPECT_EQ(num_triangles(open("ca-GrQc-undirected", undirected)), 48260);
  EXPECT_EQ(sum_of(sssp(open("lesmis-undirected", undirected), {1})), 540);
  EXPECT_EQ(sum_of(sssp(open("rome99-directed", directed), {1})), 116006476);
}

TEST_F(ReferenceData, karate_label_sizes_are_met_after_each_number_of_steps) {
  const auto graph = read_graph(graphs_ / "reference" / "karate-undirected", undirected);
  const auto sizes_after = [&](std::int64_t iterations) {
    std::map<VertexId, int> sizes;
    for (const VertexId label : cdlp(graph, iterations)) ++sizes[label];
    return sizes;
  };
  using Sizes = std::map<VertexId, int>;
  EXPECT_EQ(sizes_after(1),
            (Sizes{{1, 16}, {2, 2}, {3, 4}, {6, 1}, {9, 1}, {24, 2}, {26, 2}, {30, 1}, {33, 5}}));
  EXPECT_EQ(sizes_after(2), (Sizes{{1, 19}, {2, 2}, {3, 8}, {9, 1}, {26, 2}, {33, 2}}));
  EXPECT_EQ(sizes_after(5), (Sizes{{1, 28}, {3, 4}, {26, 2}}));
  EXPECT_EQ(sizes_after(10), (Sizes{{1, 34}}));
}

// Not its stated 14 iterations. (test-pr-undirected does hold its 26, to 5.9e-8.)
TEST_F(ReferenceData, graphalytics_test_pr_directed_holds_the_fixed_point) {
  const fs::path stem = graphs_ / "graphalytics" / "test-pr-directed";
  const auto graph = read_graph(stem, directed);
  const auto expected = read_values<double>(graph, stem.string() + "-PR");
  EXPECT_TRUE(near(graph, pagerank_limit(graph), expected, 1e-14));
}

// The file lists each edge between two systems in both directions and has 1,323 loops. Its
// published fixed point, 701 .0517809 and 1239 .0254487, drops the loops; direction and repeats
// change nothing then. Kept, a loop is one arc of a directed graph and two of an undirected one.
TEST_F(ReferenceData, as20graph_has_its_published_ranks_with_loops_dropped) {
  const auto edges = read_edges(graphs_ / "edge-lists" / "as20graph.txt");
  const auto ranks_of = [&](BuildOptions options) {
    const auto graph = serial_graph({}, edges, options);
    const auto ranks = pagerank_limit(graph);
    return std::pair{ranks[graph.index_of(701)], ranks[graph.index_of(1239)]};
  };
  const auto expect = [&](BuildOptions options, double rank_of_701, double rank_of_1239) {
    const auto [found_701, found_1239] = ranks_of(options);
    EXPECT_NEAR(found_701, rank_of_701, 5e-8);
    EXPECT_NEAR(found_1239, rank_of_1239, 5e-8);
  };
  for (const auto direction : {Direction::directed, Direction::undirected}) {
    for (const auto repeats : {Repeats::keep, Repeats::merge}) {
      expect({direction, repeats, Loops::drop}, .0517809, .0254487);
    }
  }
  expect({Direction::directed, Repeats::merge, Loops::keep}, .0496689, .0242463);
  expect({Direction::undirected, Repeats::merge, Loops::keep}, .0479281, .0232564);
  EXPECT_EQ(num_triangles(serial_graph({}, edges, undirected)), 6584);
}

TEST_F(ReferenceData, D48_reciprocal_storage_changes_no_clustering_coefficient) {
  const fs::path stem = graphs_ / "reference" / "karate-undirected";
  auto edges = read_edges(stem.string() + ".e");
  for (std::size_t i = 0, once = edges.size(); i < once; ++i) {
    edges.push_back({edges[i].target, edges[i].source, edges[i].value});
  }
  EXPECT_NEAR(mean_of(lcc(serial_graph({}, edges, undirected))), 0.570638478, 5e-10);
  EXPECT_NEAR(mean_of(lcc(serial_graph({}, edges, directed))), 0.570638478, 5e-10);
}

TEST_F(ReferenceData, D67_unit_weight_distances_equal_levels_on_power) {
  const auto graph = read_graph(graphs_ / "reference" / "power-undirected", undirected);
  const auto levels = bfs(graph, {1});
  EXPECT_EQ(sssp(graph, {1}), Doubles(levels.begin(), levels.end()));
  EXPECT_EQ(*std::max_element(levels.begin(), levels.end()), 27);
  EXPECT_EQ(sum_of(levels), 74749);
}

}  // namespace
}  // namespace weir::reference
