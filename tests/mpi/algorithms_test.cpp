// SPDX-License-Identifier: Apache-2.0
// ranks: 1 2 3 4
// Every listed algorithm under MPI gives the digest that one rank alone gives.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/runtime/mpi/mpi_comm.hpp>
#include <weir/tests/algorithms/matrix.hpp>
#include <weir/tests/launch/mpi_world.hpp>

namespace weir::test {
namespace {

/// What a run says, for comparison.
struct Outcome {
  std::uint64_t digest = 0;
  std::vector<std::pair<std::string, std::string>> facts;
  std::uint64_t num_supersteps = 0;
  std::uint64_t num_messages = 0;
  bool is_synchronous = true;
};

template <class E>
std::vector<Outcome> outcomes(Context& context, const Algorithm& algorithm, const TestGraph& graph,
                              AlgorithmOptions options) {
  const AnyGraph loaded = engine_graph<E>(context, graph);
  std::vector<Outcome> all;
  for (const auto direction : {Direction::automatic, Direction::push, Direction::pull}) {
    for (const bool parents : {false, true}) {
      options.run.direction = direction;
      options.parents = parents;
      const AlgorithmResult result = algorithm.run(loaded, options);
      all.push_back({result.digest, result.facts, result.report.num_supersteps,
                     result.report.num_messages, result.report.is_synchronous});
      if (algorithm.name != "bfs" && algorithm.name != "sssp") break;
    }
  }
  return all;
}

template <class E>
void expect_like_alone(const Algorithm& algorithm, const TestGraph& graph) {
  SCOPED_TRACE(std::string(algorithm.name) + " on " + graph.name);
  AlgorithmOptions options;
  if (algorithm.needs_sources) options.sources = some_vertices(serial(graph), 2);
  if (algorithm.needs_sources && options.sources.empty()) return;
  Context single(watched(1));
  const auto expected = outcomes<E>(single, algorithm, graph, options);
  for (const int threads : {1, 2}) {
    Context world(mpi_session().world_port(), watched(threads));
    const auto found = outcomes<E>(world, algorithm, graph, options);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].digest, expected[i].digest) << threads << " threads, case " << i;
      EXPECT_EQ(found[i].facts, expected[i].facts);
      if (!expected[i].is_synchronous) continue;
      EXPECT_EQ(found[i].num_supersteps, expected[i].num_supersteps);
      EXPECT_EQ(found[i].num_messages, expected[i].num_messages);
    }
  }
}

/// Two sides, so that every algorithm takes it.
TestGraph two_sides(VertexId num_left, VertexId num_right, std::size_t num_edges) {
  reference::Dice dice(7);
  TestGraph graph{"two sides", {}, {}, false};
  for (VertexId v = 0; v < num_left + num_right; ++v) graph.vertices.push_back(v);
  const auto below = [&](VertexId bound) {
    return static_cast<VertexId>(dice.below(static_cast<std::size_t>(bound)));
  };
  for (std::size_t i = 0; i < num_edges; ++i)
    graph.edges.push_back({below(num_left), num_left + below(num_right), 0.25});
  return graph;
}

TEST(MpiAlgorithms, GiveTheDigestsOfOneRankOnSmallGraphs) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.name == "matching") continue;  // below
    for (const TestGraph& graph : typed_graphs()) expect_like_alone<NoValue>(algorithm, graph);
    for (const TestGraph& graph : random_graphs(1, 4)) expect_like_alone<double>(algorithm, graph);
  }
}

TEST(MpiAlgorithms, GiveTheDigestsOfOneRankOnALargerGraph) {
  const TestGraph graph = two_sides(80, 120, 600);
  for (const Algorithm& algorithm : all_algorithms()) {
    expect_like_alone<NoValue>(algorithm, graph);
    expect_like_alone<double>(algorithm, graph);
  }
}

TEST(MpiAlgorithms, ThrowTheSameErrorOnEveryRank) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (!algorithm.needs_sources) continue;
    Context world(mpi_session().world_port(), watched(1));
    const AnyGraph loaded = engine_graph<NoValue>(world, {"path", {}, edges_of({{1, 2}, {2, 3}})});
    AlgorithmOptions options;
    options.sources = {99};
    try {
      algorithm.run(loaded, options);
      ADD_FAILURE() << algorithm.name << " took a source that is no vertex";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
      EXPECT_NE(std::string(error.what()).find("99"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace weir::test
