// SPDX-License-Identifier: Apache-2.0
// Graphs from edges: docs/semantics.md, parts 2 and 4. D numbers name cases that users of other
// engines reported.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/engine/graph/graph_cases.hpp>

namespace weir {
namespace {

using cases::Input;
using cases::on_ranks;
using cases::rank_counts;

constexpr VertexId least = std::numeric_limits<VertexId>::min();
constexpr VertexId greatest = std::numeric_limits<VertexId>::max();

template <class E>
std::string described(const Input<E>& input, Rank ranks, int threads = 1) {
  return on_ranks(ranks, threads, [&](Context& context) {
    return cases::describe(cases::build(context, input));
  })[0];
}

/// The graph on one rank; on any other number it must be the same.
template <class E>
std::string described_everywhere(const Input<E>& input) {
  const std::string expected = described(input, 1);
  for (const Rank ranks : rank_counts) EXPECT_EQ(described(input, ranks), expected) << ranks;
  return expected;
}

/// The same from the text of docs/semantics.md: shards by prefix sums, rows and lists by heat.
std::string expected_description(const Input<double>& input) {
  using Far = std::pair<VertexId, double>;
  struct Lists {
    std::vector<Far> in, out;
  };
  std::map<VertexId, Lists> graph;
  for (const VertexId id : input.vertices) graph[id];
  const bool is_directed = input.options.is_directed;
  std::uint64_t num_arcs = 0;
  for (const auto& edge : input.edges) {
    graph[edge.target].in.emplace_back(edge.source, edge.value);
    graph[edge.source].out.emplace_back(edge.target, edge.value);
    ++num_arcs;
    if (is_directed) continue;
    graph[edge.source].in.emplace_back(edge.target, edge.value);
    graph[edge.target].out.emplace_back(edge.source, edge.value);
    ++num_arcs;
  }
  const std::uint64_t n = graph.size();
  std::uint64_t total = 0;
  for (const auto& [id, lists] : graph) total += 4 + lists.in.size() + lists.out.size();
  const std::uint64_t by_rule = std::clamp<std::uint64_t>(n, 1, 256);  // these graphs are small
  const std::uint64_t num_shards = input.options.num_shards.value_or(by_rule);
  std::vector<std::vector<VertexId>> shards(num_shards);
  std::uint64_t before = 0;
  for (const auto& [id, lists] : graph) {
    shards[before * num_shards / total].push_back(id);
    before += 4 + lists.in.size() + lists.out.size();
  }
  const auto heat = [&](VertexId id) { return graph[id].in.size() + graph[id].out.size(); };
  const auto hotter = [&](VertexId a, VertexId b) {
    return heat(a) != heat(b) ? heat(a) > heat(b) : a < b;
  };
  const auto list = [&](std::vector<Far> members) {
    std::sort(members.begin(), members.end(), [&](const Far& a, const Far& b) {
      if (a.first != b.first) return hotter(a.first, b.first);
      return std::memcmp(&a.second, &b.second, sizeof(double)) < 0;
    });
    std::string text = " [";
    for (const auto& [id, value] : members)
      text += std::to_string(id) + ":" + cases::text_of(value) + " ";
    return text + "]";
  };
  std::string text = std::to_string(n) + " vertices, " + std::to_string(input.edges.size()) +
                     " edges, " + std::to_string(num_arcs) + " arcs, " +
                     std::to_string(num_shards) + " shards\n";
  for (std::size_t s = 0; s < shards.size(); ++s) {
    text += "shard " + std::to_string(s) + "\n";
    std::sort(shards[s].begin(), shards[s].end(), hotter);
    for (const VertexId id : shards[s]) {
      const Lists& lists = graph[id];
      text += "  " + std::to_string(id) + " in " + std::to_string(lists.in.size()) + " out " +
              std::to_string(lists.out.size()) + list(lists.in) +
              list(is_directed ? lists.out : lists.in) + list(lists.in) +
              (is_directed ? list(lists.out) : " []") + "\n";
    }
  }
  return text;
}

TEST(Build, random_graphs_are_what_the_contract_says_at_any_number_of_ranks) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Input<double> input = cases::input_of(reference::random_graph(seed));
    if (seed % 3 == 0) input.options.num_shards = static_cast<std::uint32_t>(1 + seed % 11);
    const std::string expected = expected_description(input);
    for (const Rank ranks : rank_counts)
      ASSERT_EQ(described(input, ranks), expected) << "seed " << seed << " on " << ranks;
  }
}

TEST(Build, threads_change_nothing) {
  const Input<double> input = cases::input_of(reference::random_graph(7));
  EXPECT_EQ(described(input, 1, 4), described(input, 1, 1));
  EXPECT_EQ(described(input, 3, 2), described(input, 1, 1));
}

// D31: edges in any order, and dealt to ranks in any way, give the same graph.
TEST(Build, the_order_and_the_split_of_the_input_change_nothing) {
  Input<double> input = cases::input_of(reference::random_graph(11));
  const std::string expected = described(input, 1);
  std::reverse(input.edges.begin(), input.edges.end());
  std::rotate(input.vertices.begin(), input.vertices.begin() + 1, input.vertices.end());
  EXPECT_EQ(described_everywhere(input), expected);
  for (const Rank busy : {0, 1, 2}) {  // all on one rank, in two portions
    const auto texts = on_ranks(3, [&](Context& context) {
      GraphBuilder<double> builder(context, input.options);
      if (context.rank() == busy) {
        builder.add_vertices(input.vertices);
        const auto middle = input.edges.begin() + 3;
        builder.add_edges({input.edges.begin(), middle});
        builder.add_edges({middle, input.edges.end()});
      }
      return cases::describe(builder.finish());
    });
    EXPECT_EQ(texts[0], expected);
  }
}

TEST(Build, a_source_gives_the_same_graph_as_the_builder) {
  const Input<double> input{.edges = {{1, 2, 0.5}, {2, 3, 1.5}, {3, 1, 2.5}, {3, 3, 1}}};
  const auto texts = on_ranks(2, [&](Context& context) {
    const std::vector<Edge<double>> none;
    std::uint64_t num_read = 0;
    BuildOptions options;
    options.progress = [&](std::string_view phase, std::uint64_t count) {
      if (phase == "read") num_read = count;
    };
    const auto& mine = context.rank() == 1 ? input.edges : none;
    const auto graph = build_graph<double>(context, in_memory(mine), options);
    EXPECT_EQ(num_read, mine.size());
    return cases::describe(graph);
  });
  EXPECT_EQ(texts[0], described(input, 1));
}

TEST(Build, a_source_that_fails_on_one_rank_throws_the_same_error_on_all) {
  struct Broken {
    bool is_broken;
    bool next(std::vector<Edge<NoValue>>& batch) {
      batch.clear();
      WEIR_EXPECT(!is_broken, input, "part-1.e: cannot be opened");
      return false;
    }
  };
  const auto texts = on_ranks(4, [](Context& context) -> std::string {
    try {
      build_graph<NoValue>(context, Broken{context.rank() == 1});
    } catch (const Error& error) {
      return std::string(name_of(error.code())) + ": " + error.what();
    }
    return "no error";
  });
  for (const auto& text : texts) EXPECT_EQ(text, "input: rank 1: part-1.e: cannot be opened");
}

// D32: a loop counts two at an undirected vertex, one in each degree of a directed one.
TEST(Build, loops_are_two_arcs_undirected_and_one_directed) {
  Input<NoValue> input{.edges = {{1, 1, {}}, {1, 2, {}}}, .options = {.is_directed = false}};
  EXPECT_EQ(described_everywhere(input),
            "2 vertices, 2 edges, 4 arcs, 2 shards\n"
            "shard 0\n"
            "  1 in 3 out 3 [1:- 1:- 2:- ] [1:- 1:- 2:- ] [1:- 1:- 2:- ] []\n"
            "shard 1\n"
            "  2 in 1 out 1 [1:- ] [1:- ] [1:- ] []\n");
  input.options.is_directed = true;
  EXPECT_EQ(described_everywhere(input),
            "2 vertices, 2 edges, 2 arcs, 2 shards\n"
            "shard 0\n"
            "  1 in 1 out 2 [1:- ] [1:- 2:- ] [1:- ] [1:- 2:- ]\n"
            "shard 1\n"
            "  2 in 1 out 0 [1:- ] [] [1:- ] []\n");
}

TEST(Build, dropping_loops_keeps_their_vertices) {
  Input<NoValue> input{.edges = {{1, 1, {}}, {1, 2, {}}, {3, 3, {}}},
                       .vertices = {4},
                       .options = {.is_directed = false, .loops = Loops::drop}};
  const std::string text = described_everywhere(input);
  EXPECT_NE(text.find("4 vertices, 1 edges, 2 arcs"), std::string::npos) << text;
  EXPECT_NE(text.find("  3 in 0 out 0"), std::string::npos) << text;
  EXPECT_NE(text.find("  4 in 0 out 0"), std::string::npos) << text;
}

TEST(Build, repeats_are_kept_as_parallel_arcs_in_the_order_of_their_value_bits) {
  const Input<double> input{.edges = {{1, 2, 3.0}, {1, 2, 1.0}, {1, 2, 2.0}, {1, 2, 1.0}}};
  const std::string text = described_everywhere(input);
  EXPECT_NE(text.find("4 edges, 4 arcs"), std::string::npos) << text;
  EXPECT_EQ(text, expected_description(input));
}

TEST(Build, merging_repeats_keeps_the_smallest_weight) {
  Input<double> input{.edges = {{1, 2, 3.0}, {2, 1, 0.5}, {1, 2, 1.0}, {5, 5, 2.0}, {5, 5, -1.0}},
                      .options = {.repeats = Repeats::merge}};
  EXPECT_EQ(described_everywhere(input),
            expected_description({.edges = {{1, 2, 1.0}, {2, 1, 0.5}, {5, 5, -1.0}}}));
  // Undirected, 1-2 and 2-1 are one edge.
  input.options.is_directed = false;
  EXPECT_EQ(described_everywhere(input), expected_description({.edges = {{1, 2, 0.5}, {5, 5, -1.0}},
                                                               .options = {.is_directed = false}}));
}

TEST(Build, merging_orders_minus_zero_before_plus_zero) {
  const Input<double> input{.edges = {{1, 2, 0.0}, {1, 2, -0.0}},
                            .options = {.repeats = Repeats::merge}};
  EXPECT_NE(described_everywhere(input).find("[1:-0x0p+0 ]"), std::string::npos);
}

TEST(Build, values_keep_their_bits_in_however_few_bytes) {
  // The least that holds 255, 65,535, and 2^24 exactly; then nothing less than all eight bytes.
  const std::vector<std::pair<std::vector<double>, std::uint64_t>> cases{
      {{0.0, 1.0, 255.0}, 1}, {{7.0, 256.0, 65535.0}, 2}, {{65536.0, 16777216.0, 3.0}, 4},
      {{0.5, 2.0, 255.0}, 4}, {{-1.0, 2.0, 3.0}, 4},      {{-0.0, 0.0, 1.0}, 4},
      {{0.1, 2.0, 3.0}, 8},   {{16777217.0, 1.0, 2.0}, 8}};
  for (const auto& [values, bytes] : cases) {
    Input<double> input;
    for (VertexId v = 0; v < 200; ++v)
      input.edges.push_back({v, v + 1, values[static_cast<std::size_t>(v) % values.size()]});
    EXPECT_EQ(described_everywhere(input), expected_description(input));
    Input<NoValue> bare;
    for (const auto& edge : input.edges) bare.edges.push_back({edge.source, edge.target, {}});
    const auto memory = [](const auto& of) {
      return on_ranks(
          1, 1, [&](Context& context) { return cases::build(context, of).memory_bytes(); })[0];
    };
    EXPECT_EQ(memory(input) - memory(bare), 200 * bytes) << values.front();
  }
}

Input<NoValue> with_unknown_vertices(UnknownVertices unknown) {
  return {.edges = {{1, 2, {}}, {2, 9, {}}, {8, 1, {}}},
          .vertices = {1, 2, 3},
          .options = {.unknown_vertices = unknown},
          .has_vertex_list = true};
}

TEST(Build, unknown_vertices_are_refused_by_name_on_every_rank) {
  for (const Rank ranks : rank_counts) {
    const auto texts = on_ranks(ranks, [](Context& context) -> std::string {
      try {
        cases::build(context, with_unknown_vertices(UnknownVertices::refuse));
      } catch (const Error& error) {
        return std::string(name_of(error.code())) + ": " + error.what();
      }
      return "no error";
    });
    for (const auto& text : texts)
      EXPECT_EQ(text,
                "input: found an edge at vertex 8; expected only vertices of the vertex list");
  }
}

TEST(Build, unknown_vertices_can_be_added_or_dropped_with_their_edges) {
  EXPECT_NE(
      described_everywhere(with_unknown_vertices(UnknownVertices::add)).find("5 vertices, 3 e"),
      std::string::npos);
  EXPECT_EQ(described_everywhere(with_unknown_vertices(UnknownVertices::drop)),
            described(Input<NoValue>{.edges = {{1, 2, {}}}, .vertices = {3}}, 1));
}

TEST(Build, a_vertex_list_may_repeat_its_ids) {
  const Input<NoValue> input{.edges = {}, .vertices = {5, 5, 5, -5, 5}};
  EXPECT_NE(described_everywhere(input).find("2 vertices, 0 edges"), std::string::npos);
}

// D28, D29: ids are 64 bits wide.
TEST(Build, ids_of_any_size_and_sign_stay_what_they_are) {
  const Input<NoValue> input{.edges = {{4294967295, 4294967296, {}},
                                       {9007199254740993, 9223372036854775806, {}},
                                       {2147483648, 2147483649, {}},
                                       {least, greatest, {}},
                                       {-1, -2, {}}}};
  const std::string text = described_everywhere(input);
  EXPECT_NE(text.find("10 vertices, 5 edges"), std::string::npos);
  for (const char* id :
       {"4294967295", "4294967296", "9007199254740993", "9223372036854775806", "2147483648",
        "2147483649", "-9223372036854775808", "9223372036854775807", "-1", "-2"})
    EXPECT_NE(text.find("  " + std::string(id) + " in "), std::string::npos) << id;
}

// D76: no vertex, one vertex, no edges, more ranks than vertices.
TEST(Build, a_graph_may_be_empty) {
  EXPECT_EQ(described_everywhere(Input<NoValue>{}),
            "0 vertices, 0 edges, 0 arcs, 1 shards\nshard 0\n");
}

TEST(Build, a_graph_may_have_one_vertex) {
  EXPECT_EQ(described_everywhere(Input<NoValue>{.edges = {}, .vertices = {-3}}),
            "1 vertices, 0 edges, 0 arcs, 1 shards\nshard 0\n  -3 in 0 out 0 [] [] [] []\n");
}

TEST(Build, three_vertices_fit_on_forty_ranks) {
  const Input<NoValue> input{.edges = {{1, 2, {}}, {2, 3, {}}}};
  EXPECT_EQ(described(input, 40), described(input, 1));
}

TEST(Build, the_number_of_shards_can_be_chosen) {
  Input<double> input = cases::input_of(reference::random_graph(5));
  for (const std::uint32_t shards : {1U, 7U, 200U}) {
    input.options.num_shards = shards;
    EXPECT_EQ(described_everywhere(input), expected_description(input));
  }
  input.options.num_shards = 1U << 20;
  const auto counts = on_ranks(3, [&](Context& context) {
    const auto graph = cases::build(context, input);
    EXPECT_EQ(graph.num_vertices(), input.vertices.size());
    return graph.shards().num_shards();
  });
  EXPECT_EQ(counts, std::vector<ShardIndex>(3, 1U << 20));
}

TEST(Build, a_number_of_shards_out_of_range_is_an_error_of_usage_on_every_rank) {
  for (const std::uint32_t shards : {0U, (1U << 20) + 1, 4294967295U}) {
    const Input<NoValue> input{.edges = {{1, 2, {}}}, .options = {.num_shards = shards}};
    const auto texts = on_ranks(3, [&](Context& context) -> std::string {
      try {
        cases::build(context, input);
      } catch (const Error& error) {
        return std::string(name_of(error.code())) + ": " + error.what();
      }
      return "no error";
    });
    for (const auto& text : texts) {
      EXPECT_EQ(text, "usage: found " + std::to_string(shards) + " shards; expected 1 to 1048576");
    }
  }
}

TEST(Build, a_context_can_be_used_again_after_a_refused_graph) {
  const auto sizes = on_ranks(3, [](Context& context) {
    EXPECT_THROW(cases::build(context, with_unknown_vertices(UnknownVertices::refuse)), Error);
    return cases::build(context, with_unknown_vertices(UnknownVertices::add)).num_vertices();
  });
  EXPECT_EQ(sizes, std::vector<std::uint64_t>(3, 5));
}

// The weights decide: a hub fills shards alone, and shards beside it stay empty.
TEST(Build, a_hub_leaves_empty_shards_and_loses_nothing) {
  Input<double> input;
  for (VertexId leaf = 1; leaf <= 500; ++leaf) input.edges.push_back({leaf, 0, 1.0 / 3});
  EXPECT_EQ(described(input, 4), described(input, 1));
  input.options.num_shards = 256;
  EXPECT_EQ(described(input, 4), expected_description(input));
}

TEST(Build, a_larger_graph_is_equal_on_one_and_three_ranks) {
  reference::Dice dice(3);
  Input<double> input;
  for (int i = 0; i < 100'000; ++i) {
    const auto from = static_cast<VertexId>(dice.below(5'000) * dice.below(2'000));
    input.edges.push_back({from, static_cast<VertexId>(dice.below(300)), 0.25 * double(i % 7)});
  }
  EXPECT_EQ(described(input, 3, 2), described(input, 1));
}

// D81: every rank computes the same bounds, also where vertices weigh alike.
TEST(Graph, every_rank_names_the_same_owner_of_every_id_and_the_owner_has_it) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Input<double> input = cases::input_of(reference::random_graph(seed));
    std::vector<VertexId> ids = input.vertices;
    for (const VertexId id : {least, greatest, VertexId{0}, VertexId{-1}}) ids.push_back(id);
    const auto owners = on_ranks(7, [&](Context& context) {
      const auto graph = cases::build(context, input);
      std::vector<Rank> found;
      for (const VertexId id : ids) {
        found.push_back(graph.shards().owner_of(id));
        if (graph.vertices()->find(id)) {
          EXPECT_EQ(found.back(), context.rank());
        }
      }
      return found;
    });
    for (const auto& found : owners) EXPECT_EQ(found, owners[0]) << "seed " << seed;
  }
}

TEST(Graph, memory_of_a_side_is_counted_when_it_is_built) {
  const Input<double> input = cases::input_of(reference::random_graph(11));
  on_ranks(2, [&](Context& context) {
    const auto graph = cases::build(context, input);
    const std::uint64_t before = graph.memory_bytes();
    graph.side_for(Edges::both);
    EXPECT_GE(graph.memory_bytes(), before);
    return 0;
  });
}

TEST(Graph, links_of_two_ranks_name_the_same_vertices_in_the_same_order) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Input<double> input = cases::input_of(reference::random_graph(seed));
    const auto links = on_ranks(3, [&](Context& context) {
      const auto graph = cases::build(context, input);
      std::vector<std::vector<VertexId>> ids(6);
      const Slots& slots = graph.side_for(Edges::both).slots;
      for (const auto& link : slots.links) {
        const auto peer = static_cast<std::size_t>(link.peer);
        for (const Slot slot : link.sent) ids[peer].push_back(slots.ids[slot]);
        for (const Slot slot : link.received) ids[3 + peer].push_back(slots.ids[slot]);
      }
      return ids;
    });
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(links[a][b], links[b][3 + a]) << seed;
  }
}

}  // namespace
}  // namespace weir
