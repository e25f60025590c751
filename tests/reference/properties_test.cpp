// SPDX-License-Identifier: Apache-2.0
// The serial oracles against each other and against the properties that define a result.
// Integers are exact; the tolerance of doubles is relative and stated where it is used. D numbers
// name cases reported by users of other engines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/reference/oracle_cases.hpp>

namespace weir::reference {
namespace {

/// Properties on random graphs: the same seeds everywhere.
class ReferenceOnRandomGraphs : public testing::Test {
 protected:
  template <class Check>
  void on_each(Check check) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const auto graph = serial_graph(random_graph(seed));
      Ids sources;
      for (std::size_t v = seed % 3; v < graph.size() && sources.size() < 3; v += 5) {
        sources.push_back(graph.ids[v]);
      }
      check(graph, sources);
      if (HasFailure()) return;
    }
  }
};

TEST_F(ReferenceOnRandomGraphs, the_generator_covers_what_it_promises) {
  int num_empty = 0, num_single = 0, num_negative = 0, num_extreme = 0, num_hubs = 0;
  int num_directed = 0, num_with_loops = 0, num_with_repeats = 0, num_with_isolated = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto random = random_graph(seed);
    const auto graph = serial_graph(random);
    const auto simple = serial_graph(random, Repeats::merge, Loops::drop);
    const auto no_loops = serial_graph(random, Repeats::keep, Loops::drop);
    EXPECT_EQ(random.edges, random_graph(seed).edges);
    std::size_t num_arcs = 0, num_simple = 0, num_no_loops = 0, largest = 0, num_isolated = 0;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      num_arcs += graph.out[v].size();
      num_simple += simple.out[v].size();
      num_no_loops += no_loops.out[v].size();
      largest = std::max({largest, simple.out[v].size(), simple.in[v].size()});
      num_isolated += graph.out[v].empty() && graph.in[v].empty() ? 1 : 0;
    }
    num_empty += graph.size() == 0;
    num_single += graph.size() == 1;
    num_negative += graph.size() > 0 && graph.ids[0] < 0;
    num_extreme += graph.size() > 0 && graph.ids[0] == std::numeric_limits<VertexId>::min();
    num_directed += graph.directed;
    num_with_loops += num_no_loops < num_arcs;
    num_with_repeats += num_simple < num_no_loops;
    num_with_isolated += num_isolated > 0;
    num_hubs += largest >= 10 && largest + 1 + num_isolated >= graph.size();
  }
  for (const int count : {num_empty, num_single, num_extreme, num_hubs}) EXPECT_GE(count, 10);
  for (const int count : {num_negative, num_with_loops, num_with_repeats, num_with_isolated,
                          num_directed, 400 - num_directed}) {
    EXPECT_GE(count, 100);
  }
}

TEST_F(ReferenceOnRandomGraphs, levels_and_distances_hold_their_properties) {
  on_each([](const SerialGraph& graph, const Ids& sources) {
    const auto levels = bfs(graph, sources);
    Ids parents = graph.ids;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      for (const auto& [u, weight] : graph.in[v]) {
        if (levels[u] != unreached_level && levels[u] + 1 == levels[v]) parents[v] = graph.ids[u];
      }
    }
    EXPECT_EQ(check_bfs_tree(graph, sources, levels, parents), "");
    const auto distances = sssp(graph, sources);
    EXPECT_EQ(check_distances(graph, sources, distances), "");
    Doubles relaxed(graph.size(), unreached_distance);  // Bellman-Ford
    for (const VertexId id : sources) relaxed[graph.index_of(id)] = 0;
    for (std::size_t round = 0; round < graph.size(); ++round) {
      for (std::size_t v = 0; v < graph.size(); ++v) {
        for (const auto& [u, weight] : graph.out[v]) {
          relaxed[u] = std::min(relaxed[u], relaxed[v] + weight);
        }
      }
    }
    EXPECT_EQ(distances, relaxed);
  });
}

TEST_F(ReferenceOnRandomGraphs, components_hold_their_properties) {
  on_each([](const SerialGraph& graph, const Ids&) {
    const auto strong = scc(graph);
    EXPECT_EQ(check_weak_components(graph, wcc(graph)), "");
    EXPECT_EQ(check_strong_components(graph, strong), "");
    if (!graph.directed) {
      EXPECT_EQ(strong, wcc(graph));
    }
    std::vector<Counts> levels;
    for (const VertexId id : graph.ids) levels.push_back(bfs(graph, {id}));
    for (std::size_t v = 0; v < graph.size(); ++v) {
      std::size_t smallest = 0;  // the first vertex that reaches v and is reached by it
      while (levels[v][smallest] == unreached_level || levels[smallest][v] == unreached_level) {
        ++smallest;
      }
      EXPECT_EQ(strong[v], graph.ids[smallest]);
    }
  });
}

TEST_F(ReferenceOnRandomGraphs, ranks_sum_to_one_and_converge) {
  on_each([](const SerialGraph& graph, const Ids& sources) {
    for (const bool weighted : {false, true}) {
      for (const auto& teleport : {Ids{}, sources}) {
        const PagerankOptions options{
            .iterations = 400, .weighted = weighted, .teleport = teleport};
        EXPECT_EQ(check_ranks(graph, pagerank(graph, options).ranks, 1e-12, 1e-12, options), "");
      }
    }
  });
}

TEST_F(ReferenceOnRandomGraphs, D53_loops_and_repeats_change_no_simple_measure) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto graph = serial_graph(random_graph(seed));
    const auto simple = serial_graph(random_graph(seed), Repeats::merge, Loops::drop);
    EXPECT_EQ(triangles(graph), triangles(simple)) << "seed " << seed;
    EXPECT_EQ(lcc(graph), lcc(simple)) << "seed " << seed;
    EXPECT_EQ(k_core(graph), k_core(simple)) << "seed " << seed;
    EXPECT_EQ(wcc(graph), wcc(simple)) << "seed " << seed;
    EXPECT_EQ(scc(graph), scc(simple)) << "seed " << seed;
  }
}

TEST_F(ReferenceOnRandomGraphs, triangles_and_coefficients_agree_with_counting_triples) {
  on_each([](const SerialGraph& graph, const Ids&) {
    const auto linked = [&](std::size_t u, std::size_t v) {
      return u != v && (has_arc(graph, u, v) || has_arc(graph, v, u));
    };
    const auto counts = triangles(graph);
    const auto coefficients = lcc(graph);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      int num_corners = 0, num_arcs = 0, degree = 0;
      for (std::size_t a = 0; a < graph.size(); ++a) {
        degree += linked(v, a) ? 1 : 0;
        for (std::size_t b = 0; b < graph.size(); ++b) {
          if (a == b || !linked(v, a) || !linked(v, b)) continue;
          num_arcs += has_arc(graph, a, b) ? 1 : 0;
          num_corners += a < b && linked(a, b) ? 1 : 0;
        }
      }
      EXPECT_EQ(counts[v], num_corners);
      EXPECT_EQ(coefficients[v], degree < 2 ? 0. : num_arcs / (degree * (degree - 1.)));
    }
  });
}

TEST_F(ReferenceOnRandomGraphs, cores_and_matchings_hold_their_properties) {
  on_each([](const SerialGraph& graph, const Ids&) {
    EXPECT_EQ(check_cores(graph, k_core(graph)), "");
    EXPECT_EQ(check_maximal_matching(graph, greedy_matching(graph)), "");
  });
}

// Over all sources and vertices, inner vertices of shortest paths: the sum of (distance - 1).
TEST_F(ReferenceOnRandomGraphs, betweenness_sums_to_the_inner_vertices_of_shortest_paths) {
  on_each([](const SerialGraph& graph, const Ids& sources) {
    double expected = 0;
    for (const VertexId source : sources) {
      for (const std::int64_t level : bfs(graph, {source})) {
        if (level != unreached_level && level > 0) expected += static_cast<double>(level - 1);
      }
    }
    EXPECT_NEAR(sum_of(betweenness(graph, sources)), expected, 1e-12 * (1 + expected));
  });
}

TEST_F(ReferenceOnRandomGraphs, semi_clusters_carry_exact_weights_and_keep_the_bounds) {
  const SemiClusteringOptions options{.max_clusters = 3, .max_members = 5, .max_iterations = 6};
  on_each([&](const SerialGraph& graph, const Ids&) {
    const auto lists = semi_clustering(graph, options);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      EXPECT_FALSE(lists[v].empty());
      EXPECT_LE(lists[v].size(), options.max_clusters);
      for (const auto& cluster : lists[v]) {
        const auto has = [&](std::size_t u) {
          return std::binary_search(cluster.members.begin(), cluster.members.end(), graph.ids[u]);
        };
        double inner = 0, boundary = 0;
        for (std::size_t a = 0; a < graph.size(); ++a) {
          for (const auto& [b, weight] : graph.out[a]) {
            const double once = graph.directed ? weight : weight / 2;
            if (a != b && has(a) && has(b)) inner += once;
            if (has(a) != has(b)) boundary += once;
          }
        }
        EXPECT_TRUE(has(v));
        EXPECT_LE(cluster.members.size(), options.max_members);
        EXPECT_EQ(cluster.inner, inner);
        EXPECT_EQ(cluster.boundary, boundary);
      }
    }
  });
}

TEST(ReferenceChecks, refuse_wrong_results) {
  const auto path = graph_of({{1, 2, 1}, {2, 3, 1}}, directed, {4});
  const std::int64_t far = unreached_level;
  EXPECT_EQ(check_bfs_tree(path, {1}, {0, 1, 2, far}, {1, 1, 2, 4}), "");
  EXPECT_NE(check_bfs_tree(path, {1}, {0, 1, 3, far}, {1, 1, 2, 4}), "");
  EXPECT_NE(check_bfs_tree(path, {1}, {0, 1, far, far}, {1, 1, 3, 4}), "");
  EXPECT_NE(check_bfs_tree(path, {1}, {0, 1, 2, far}, {1, 1, 1, 4}), "");
  EXPECT_NE(check_bfs_tree(path, {1}, {0, 0, 1, far}, {1, 2, 2, 4}), "");
  const double never = unreached_distance;
  EXPECT_EQ(check_distances(path, {1}, {0, 1, 2, never}), "");
  EXPECT_NE(check_distances(path, {1}, {0, 1, 3, never}), "");
  EXPECT_NE(check_distances(path, {1}, {0, .5, 1.5, never}), "");
  EXPECT_NE(check_distances(path, {1}, {0, 1, 2, 9}), "");
  EXPECT_NE(check_distances(path, {1}, {1, 2, 3, never}), "");
  const auto limit = pagerank_limit(path);
  EXPECT_EQ(check_ranks(path, limit, 1e-12, 1e-12), "");
  EXPECT_NE(check_ranks(path, {.25, .25, .25, .25}, 1e-12, 1e-12), "");
  EXPECT_NE(check_ranks(path, {.5, .5, .5, .5}, 1e-12, 10), "");
  EXPECT_NE(check_ranks(path, {1.5, -.5, 0, 0}, 1e-12, 10), "");
  EXPECT_EQ(check_weak_components(path, {1, 1, 1, 4}), "");
  EXPECT_NE(check_weak_components(path, {1, 1, 1, 1}), "");
  EXPECT_NE(check_weak_components(path, {1, 1, 3, 4}), "");
  EXPECT_NE(check_weak_components(path, {2, 2, 2, 4}), "");
  EXPECT_EQ(check_strong_components(path, {1, 2, 3, 4}), "");
  EXPECT_NE(check_strong_components(path, {1, 1, 3, 4}), "");
  const auto ring = graph_of({{1, 2, 1}, {2, 1, 1}});
  EXPECT_EQ(check_strong_components(ring, {1, 1}), "");
  EXPECT_NE(check_strong_components(ring, {1, 2}), "");
  EXPECT_EQ(check_cores(path, {1, 1, 1, 0}), "");
  EXPECT_NE(check_cores(path, {1, 1, 1, 1}), "");
  EXPECT_NE(check_cores(path, {1, 1, 0, 0}), "");
  EXPECT_NE(check_cores(path, {0, 0, 0, 0}), "");
  EXPECT_EQ(check_maximal_matching(path, {2, 1, 3, 4}), "");
  EXPECT_NE(check_maximal_matching(path, {1, 2, 3, 4}), "");
  EXPECT_NE(check_maximal_matching(path, {3, 2, 1, 4}), "");
  EXPECT_NE(check_maximal_matching(path, {2, 3, 2, 4}), "");
  EXPECT_TRUE(is_bipartite(path));
  EXPECT_FALSE(is_bipartite(graph_of({{1, 2, 1}, {2, 3, 1}, {3, 1, 1}})));
}

}  // namespace
}  // namespace weir::reference
