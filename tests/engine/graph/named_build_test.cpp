// SPDX-License-Identifier: Apache-2.0
// Graphs of named vertices, over ranks of this process.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/graph/named_build.hpp>
#include <weir/engine/graph/names_lookup.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir::test {

namespace {

using NamedEdges = std::vector<NamedEdge<double>>;

NamedEdges random_edges(std::size_t num_edges, unsigned num_names) {
  std::mt19937 random(7);
  NamedEdges edges;
  for (std::size_t i = 0; i < num_edges; ++i) {
    const auto name = [&] { return "v" + std::to_string(random() % num_names); };
    std::string source = name();
    edges.push_back({source, name(), static_cast<double>(i)});
  }
  return edges;
}

/// What every rank sees, put together: names by id.
template <class E>
std::vector<std::string> all_names(const Graph<E>& graph) {
  std::vector<std::string> own;
  for (const Row row : graph.vertices()->rows_by_id()) {
    own.emplace_back(graph.names()->name_of(graph.vertices()->id(row)));
  }
  return all_concatenate(graph.context(), std::span<const std::string>(own));
}

TEST(NamedBuild, NumbersNamesInBytewiseOrder) {
  const NamedEdges edges = random_edges(5000, 700);
  std::set<std::string> expected;
  for (const auto& edge : edges) expected.insert({edge.source, edge.target});
  for (const Rank ranks : {1, 2, 3, 7}) {
    run_in_process(ranks, {.threads = 1}, [&](Context& context) {
      NamedEdges own;
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (static_cast<Rank>(i % static_cast<std::size_t>(ranks)) == context.rank()) {
          own.push_back(edges[i]);
        }
      }
      const auto graph = build_named_graph<double>(context, in_memory(own));
      ASSERT_EQ(graph.num_edges(), edges.size());
      ASSERT_EQ(all_names(graph), std::vector<std::string>(expected.begin(), expected.end()));
    });
  }
}

TEST(NamedBuild, TakesEmptyRanksAndLists) {
  for (const Rank ranks : {1, 3, 7}) {
    run_in_process(ranks, {.threads = 1}, [&](Context& context) {
      NamedGraphBuilder<NoValue> builder(context, {});
      if (context.rank() == ranks - 1) {
        const std::vector<std::string> list{"solo", "b", "a"};
        const std::vector<NamedEdge<NoValue>> edges{{"b", "a", {}}};
        builder.add_vertices(list);
        builder.add_edges(edges);
      }
      builder.declare_vertex_list();
      const auto graph = builder.finish();
      EXPECT_EQ(all_names(graph), (std::vector<std::string>{"a", "b", "solo"}));
      const std::vector<std::string> wanted{"solo", "none", "a"};
      const auto ids = find_named(graph, std::span(wanted));
      EXPECT_EQ(ids[0], 2);
      EXPECT_EQ(ids[1], std::nullopt);
      EXPECT_EQ(ids[2], 0);
      const auto names = FetchedNames::fetch(graph, {2, 0, 2, 99, INT64_MAX});
      EXPECT_EQ(names.find(2), "solo");
      EXPECT_EQ(names.find(0), "a");
      EXPECT_EQ(names.find(99), "");
      EXPECT_EQ(names.find(INT64_MAX), "");
    });
  }
}

TEST(NamedBuild, NothingAtAll) {
  run_in_process(3, {.threads = 1}, [](Context& context) {
    const auto graph =
        build_named_graph<NoValue>(context, in_memory(std::span<const NamedEdge<NoValue>>{}));
    EXPECT_EQ(graph.num_vertices(), 0u);
    EXPECT_TRUE(all_names(graph).empty());
  });
}

TEST(NamedBuild, UnknownNames) {
  const std::vector<std::string> list{"a", "b"};
  const std::vector<NamedEdge<NoValue>> edges{{"a", "b", {}}, {"a", "c", {}}};
  const auto names_with = [&](Context& context, UnknownVertices unknown) {
    NamedGraphBuilder<NoValue> builder(context, {.unknown_vertices = unknown});
    builder.declare_vertex_list();
    if (context.rank() == 0) builder.add_vertices(list);
    if (context.is_root() || context.rank() == 1) builder.add_edges(edges);
    return all_names(builder.finish());
  };
  for (const Rank ranks : {1, 3}) {
    run_in_process(ranks, {.threads = 1}, [&](Context& context) {
      EXPECT_EQ(names_with(context, UnknownVertices::drop), list);
      EXPECT_EQ(names_with(context, UnknownVertices::add).size(), 3u);
      try {
        names_with(context, UnknownVertices::refuse);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input);
        EXPECT_NE(error.text().find("\"c\""), std::string_view::npos);
      }
    });
  }
}

TEST(NamedBuild, LoopsThatAreDroppedLeaveTheirVertex) {
  Context context({.threads = 1});
  const std::vector<NamedEdge<NoValue>> edges{{"a", "a", {}}, {"b", "c", {}}};
  const auto graph = build_named_graph<NoValue>(context, in_memory(edges), {.loops = Loops::drop});
  EXPECT_EQ(graph.num_edges(), 1u);
  EXPECT_EQ(all_names(graph), (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace

}  // namespace weir::test
