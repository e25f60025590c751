// SPDX-License-Identifier: Apache-2.0
// The serial oracles on small graphs whose answers are worked out by hand or published.
// Integers are exact; the tolerance of doubles is relative and stated where it is used. D numbers
// name cases reported by users of other engines.
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/reference/oracle_cases.hpp>

namespace weir::reference {
namespace {

// Stated ranks have up to nine digits: 3e-8 relative at least.
constexpr double stated_digits = 3e-8;

TEST(ReferencePagerank, D33_D34_keeps_the_mass_of_sinks) {
  const auto path = graph_of({{1, 2, 1}, {2, 3, 1}});
  EXPECT_TRUE(
      near(path, pagerank_limit(path), {.184416782, .341171047, .474412172}, stated_digits));
  const auto after = [&](std::int64_t iterations) {
    return pagerank(path, {.iterations = iterations}).ranks;
  };
  EXPECT_TRUE(near(path, after(1), {.144444444, .427777778, .427777778}, stated_digits));
  EXPECT_TRUE(near(path, after(10), {.1842977, .34119919, .474503109}, stated_digits));
  EXPECT_NEAR(sum_of(after(10)), 1, 1e-15);
}

TEST(ReferencePagerank, D35_star) {
  std::vector<Edge<double>> edges;
  for (VertexId leaf = 1; leaf < 10; ++leaf) edges.push_back({leaf, 0, 1});
  const auto star = serial_graph({}, edges);
  Doubles expected(10, .056657224);
  expected[0] = .490084986;
  EXPECT_TRUE(near(star, pagerank_limit(star), expected, stated_digits));
}

TEST(ReferencePagerank, D36_two_sinks_and_a_teleport_set_of_one_sink) {
  const auto fork = graph_of({{1, 2, 1}, {2, 3, 1}, {2, 4, 1}});
  EXPECT_TRUE(near(fork, pagerank_limit(fork), {.155702608, .288049825, .278123784, .278123784},
                   stated_digits));
  EXPECT_EQ(pagerank(fork, {.iterations = 10, .teleport = {3}}).ranks, (Doubles{0, 0, 1, 0}));
}

TEST(ReferencePagerank, D37_seven_vertices_one_isolated) {
  constexpr VertexId a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
  const auto graph = graph_of(
      {{a, b, 1}, {b, c, 1}, {c, b, 1}, {f, c, 1}, {e, f, 1}, {e, d, 1}, {d, a, 1}, {a, e, 1}},
      directed, {g});
  EXPECT_TRUE(
      near(graph, pagerank(graph, {.iterations = 10}).ranks,
           {.06408436, .384650438, .382279017, .046467568, .051660806, .046467568, .024390244},
           stated_digits));
  const auto limit = pagerank_limit(graph);
  EXPECT_NEAR(limit[1], .38063829, 5e-9);
  EXPECT_NEAR(limit[2], .387257748, 5e-10);
}

TEST(ReferencePagerank, D38_nothing_leaks_out_of_the_teleport_set) {
  const auto edge = graph_of({{1, 2, 1}});
  EXPECT_EQ(pagerank(edge, {.iterations = 1, .teleport = {2}}).ranks, (Doubles{0, 1}));
  EXPECT_EQ(pagerank_limit(edge, {.teleport = {2}}), (Doubles{0, 1}));
}

TEST(ReferencePagerank, D40_weights_count_only_when_asked_for) {
  const auto graph = graph_of({{1, 2, 3}, {1, 3, 1}, {2, 1, 1}, {3, 1, 1}});
  EXPECT_TRUE(near(graph, pagerank_limit(graph, {.weighted = true}),
                   {.486486486, .360135135, .153378378}, stated_digits));
  const auto plain = pagerank_limit(graph);
  EXPECT_EQ(plain[1], plain[2]);
}

TEST(ReferencePagerank, D42_repeats_count_unless_merged) {
  const std::vector<Edge<double>> edges{{1, 2, 1}, {2, 3, 1}, {2, 3, 1}, {2, 1, 1}};
  const auto kept = serial_graph({}, edges);
  const auto merged = serial_graph({}, edges, {.repeats = Repeats::merge});
  EXPECT_TRUE(near(kept, pagerank_limit(kept), {.25974026, .374430764, .365828976}, stated_digits));
  EXPECT_TRUE(
      near(merged, pagerank_limit(merged), {.303191489, .393617021, .303191489}, stated_digits));
}

TEST(ReferencePagerank, tolerance_stops_early_and_iterations_cap) {
  const auto path = graph_of({{1, 2, 1}, {2, 3, 1}});
  const auto early = pagerank(path, {.iterations = 1000, .tolerance = 1e-6});
  EXPECT_LT(early.iterations, 1000);
  EXPECT_LE(early.change, 1e-6);
  EXPECT_EQ(pagerank(path, {.iterations = 3, .tolerance = 0.0}).iterations, 3);
  EXPECT_EQ(pagerank(path, {.iterations = 3}).ranks,
            pagerank(path, {.iterations = 3, .tolerance = 0.0}).ranks);
}

TEST(ReferenceClustering, D47_reciprocal_edges_are_no_parallel_edges) {
  const std::vector<Edge<double>> edges{{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {3, 1, 1}};
  EXPECT_EQ(lcc(serial_graph({}, edges, undirected)), (Doubles{1, 1, 1}));
  EXPECT_EQ(lcc(serial_graph({}, edges, directed)), (Doubles{.5, .5, 1}));
}

TEST(ReferenceClustering, D49_a_directed_triangle_is_half_closed) {
  const std::vector<Edge<double>> edges{{1, 2, 1}, {1, 3, 1}, {2, 3, 1}};
  EXPECT_EQ(mean_of(lcc(serial_graph({}, edges, directed))), .5);
  EXPECT_EQ(mean_of(lcc(serial_graph({}, edges, undirected))), 1);
}

TEST(ReferenceClustering, D54_open_neighbourhoods) {
  constexpr VertexId a = 1, b = 2, c = 3, d = 4, e = 5;
  const auto graph = graph_of(
      {{a, b, 1}, {a, c, 1}, {a, e, 1}, {b, c, 1}, {c, e, 1}, {c, d, 1}, {d, e, 1}}, undirected);
  EXPECT_EQ(lcc(graph), (Doubles{2. / 3, 1, .5, 1, 2. / 3}));
}

TEST(ReferenceTriangles, D50_common_neighbours_with_each_edge_once_and_twice) {
  std::vector<Edge<double>> edges{{1, 2, 1}};
  for (VertexId v = 3; v <= 12; ++v) {
    edges.push_back({1, v, 1});
    edges.push_back({v, 2, 1});
  }
  EXPECT_EQ(num_triangles(serial_graph({}, edges, undirected)), 10);
  const auto once = edges;
  edges.insert(edges.end(), once.begin(), once.end());
  EXPECT_EQ(num_triangles(serial_graph({}, edges, undirected)), 10);
}

TEST(ReferenceTriangles, D51_reverse_edges_and_loops_add_nothing) {
  const auto graph = graph_of({{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {3, 1, 1}, {1, 1, 1}});
  EXPECT_EQ(triangles(graph), (Counts{1, 1, 1}));
}

TEST(ReferenceTriangles, D52_a_directed_multigraph_with_one_triangle) {
  constexpr VertexId a = 1, b = 2, c = 3, d = 4, m = 5, x = 6;
  const auto graph = graph_of({{a, b, 1},
                               {a, c, 1},
                               {m, d, 1},
                               {b, x, 1},
                               {d, m, 1},
                               {x, a, 1},
                               {a, x, 1},
                               {b, a, 1},
                               {x, b, 1},
                               {c, d, 1}});
  EXPECT_EQ(triangles(graph), (Counts{1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(num_triangles(graph), 1);
}

TEST(ReferenceLabels, D57_labels_of_a_tree_oscillate_and_stop_at_the_count) {
  const auto tree = graph_of({{1, 2, 1}, {1, 3, 1}, {2, 4, 1}, {3, 5, 1}}, undirected);
  EXPECT_EQ(cdlp(tree, 1), (Ids{2, 1, 1, 2, 3}));
  for (const std::int64_t odd : {3, 5, 99}) EXPECT_EQ(cdlp(tree, odd), (Ids{2, 1, 1, 2, 2}));
  for (const std::int64_t even : {2, 4, 100}) EXPECT_EQ(cdlp(tree, even), (Ids{1, 2, 2, 1, 1}));
}

TEST(ReferenceComponents, D59_strong_and_weak_components_differ) {
  const auto graph = graph_of({{1, 1, 1},
                               {2, 2, 1},
                               {3, 3, 1},
                               {4, 4, 1},
                               {5, 5, 1},
                               {1, 2, 1},
                               {2, 1, 1},
                               {3, 1, 1},
                               {4, 2, 1}});
  EXPECT_EQ(scc(graph), (Ids{1, 1, 3, 4, 5}));
  EXPECT_EQ(wcc(graph), (Ids{1, 1, 1, 1, 5}));
}

TEST(ReferenceDistances, D61_D62_negative_weights_are_refused) {
  EXPECT_THROW(sssp(graph_of({{1, 2, 3}, {1, 3, 2}, {2, 3, -2}}), {1}), std::invalid_argument);
  EXPECT_THROW(sssp(graph_of({{1, 2, 3.5}, {1, 3, 2.25}, {2, 3, -2.5}}), {1}),
               std::invalid_argument);
}

TEST(ReferenceDistances, D63_unreachable_with_and_without_weights) {
  const auto graph = graph_of({{1, 2, 5}, {3, 2, 7}});
  EXPECT_EQ(bfs(graph, {3}), (Counts{unreached_level, 1, 0}));
  EXPECT_EQ(sssp(graph, {3}), (Doubles{unreached_distance, 7, 0}));
}

TEST(ReferenceDistances, D64_a_source_must_be_in_the_graph) {
  const auto graph = graph_of({{1, 2, 1}});
  EXPECT_THROW(bfs(graph, {0}), std::invalid_argument);
  EXPECT_THROW(sssp(graph, {99}), std::invalid_argument);
  EXPECT_TRUE(bfs(graph_of({}), {}).empty());
}

TEST(ReferenceDistances, D65_several_sources_give_the_nearest) {
  const auto path = graph_of({{1, 2, 2}, {2, 3, 2}, {3, 4, 2}, {4, 5, 2}}, undirected);
  EXPECT_EQ(bfs(path, {1, 4}), (Counts{0, 1, 1, 0, 1}));
  EXPECT_EQ(sssp(path, {1, 4}), (Doubles{0, 2, 2, 0, 2}));
}

TEST(ReferenceDistances, D66_parents_hold_relative_to_the_distance) {
  std::vector<Edge<double>> edges;
  Ids parents{0};
  for (VertexId v = 1; v < 2000; ++v) {
    edges.push_back({v - 1, v, .1 * static_cast<double>(v % 97)});
    parents.push_back(v - 1);
  }
  const auto path = serial_graph({}, edges);
  const auto distances = sssp(path, {0});
  EXPECT_EQ(check_distance_parents(path, distances, parents, 1e-12), "");
  parents[50] = 7;
  EXPECT_NE(check_distance_parents(path, distances, parents, 1e-12), "");
}

TEST(ReferenceDistances, giraph_tiny_graph) {
  const auto graph = graph_of({{0, 1, 1},
                               {0, 3, 3},
                               {1, 0, 1},
                               {1, 2, 2},
                               {1, 3, 1},
                               {2, 1, 2},
                               {2, 4, 4},
                               {3, 0, 3},
                               {3, 1, 1},
                               {3, 4, 4},
                               {4, 3, 4},
                               {4, 2, 4}});
  EXPECT_EQ(sssp(graph, {1}), (Doubles{1, 0, 2, 1, 5}));
}

TEST(ReferenceMaximumValue, the_figure_of_the_paper) {
  const auto graph = graph_of({{1, 2, 1}, {2, 1, 1}, {2, 4, 1}, {3, 2, 1}, {3, 4, 1}, {4, 3, 1}});
  EXPECT_EQ(maximum_value(graph, {3, 6, 2, 1}),
            (std::vector<Counts>{{3, 6, 2, 1}, {6, 6, 2, 6}, {6, 6, 6, 6}, {6, 6, 6, 6}}));
}

TEST(ReferenceCores, a_clique_with_a_tail) {
  const auto graph = graph_of({{1, 2, 1},
                               {1, 3, 1},
                               {1, 4, 1},
                               {2, 3, 1},
                               {2, 4, 1},
                               {3, 4, 1},
                               {4, 5, 1},
                               {5, 6, 1},
                               {6, 6, 1},
                               {5, 6, 1}},
                              undirected, {7});
  EXPECT_EQ(k_core(graph), (Counts{3, 3, 3, 3, 1, 1, 0}));
}

TEST(ReferenceBetweenness, a_path_a_square_and_a_parallel_edge) {
  const auto path = graph_of({{1, 2, 1}, {2, 3, 1}, {3, 4, 1}}, undirected);
  EXPECT_EQ(betweenness(path, path.ids), (Doubles{0, 4, 4, 0}));  // not halved
  EXPECT_EQ(betweenness(path, {1}), (Doubles{0, 2, 1, 0}));
  const auto square = graph_of({{1, 2, 1}, {1, 3, 1}, {2, 4, 1}, {3, 4, 1}});
  EXPECT_EQ(betweenness(square, square.ids), (Doubles{0, .5, .5, 0}));
  const auto doubled = graph_of({{1, 2, 1}, {1, 2, 1}, {1, 2, 1}, {1, 3, 1}, {2, 4, 1}, {3, 4, 1}});
  EXPECT_EQ(betweenness(doubled, doubled.ids), (Doubles{0, .75, .25, 0}));
}

TEST(ReferenceSemiClustering, a_strong_and_a_weak_edge) {
  const auto graph = graph_of({{1, 2, 4}, {2, 3, 1}}, undirected);
  const auto lists = semi_clustering(graph);
  const auto members = [&](std::size_t v) {
    std::vector<Ids> sets;
    for (const auto& cluster : lists[v]) sets.push_back(cluster.members);
    return sets;
  };
  EXPECT_EQ(members(0), (std::vector<Ids>{{1, 2}, {1, 2, 3}, {1}, {1, 3}}));
  EXPECT_EQ(members(1), (std::vector<Ids>{{1, 2}, {1, 2, 3}, {2}, {2, 3}}));
  EXPECT_EQ(members(2), (std::vector<Ids>{{1, 2, 3}, {3}, {2, 3}, {1, 3}}));
  EXPECT_EQ(lists[0][0].score(.5), 3.5);
  EXPECT_EQ(lists[0][1].score(.5), 5. / 3);
  EXPECT_EQ(lists[2][3].score(.5), -2.5);
}

TEST(ReferenceGraph, undirected_loops_count_twice_and_repeats_merge_to_the_smallest_weight) {
  const std::vector<Edge<double>> edges{{1, 1, 5}, {1, 2, 4}, {2, 1, 3}};
  const auto kept = serial_graph({}, edges, undirected);
  EXPECT_EQ(kept.out[0].size(), 4U);
  EXPECT_EQ(kept.out, kept.in);
  const auto merged = serial_graph({9}, edges, {Direction::undirected, Repeats::merge});
  EXPECT_EQ(merged.ids, (Ids{1, 2, 9}));
  EXPECT_EQ(merged.out[1], (std::vector<SerialArc>{{0, 3.0}}));
  EXPECT_EQ(serial_graph({}, edges, undirected_simple).out[0].size(), 1U);
  EXPECT_EQ(serial_graph({}, edges).in[0].size(), 2U);
}

}  // namespace
}  // namespace weir::reference
