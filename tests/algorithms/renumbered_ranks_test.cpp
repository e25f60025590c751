// SPDX-License-Identifier: Apache-2.0
// Every listed algorithm gives the same digest whichever process is which rank.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/runtime/process_ports.hpp>
#include <weir/io/generator.hpp>
#include <weir/tests/algorithms/matrix.hpp>

namespace weir::test {
namespace {

TestGraph generated(const std::string& spec, bool is_directed) {
  TestGraph graph;
  graph.name = spec;
  graph.is_directed = is_directed;
  io::Generator generator(spec);
  std::vector<Edge<double>> batch;
  while (generator.next(batch)) graph.edges.insert(graph.edges.end(), batch.begin(), batch.end());
  return graph;
}

std::uint64_t digest_with(const std::vector<Rank>& process_of_rank, const Algorithm& algorithm,
                          const TestGraph& graph) {
  std::uint64_t digest = 0;
  const auto renumber = [&](std::unique_ptr<Port> port) {
    return make_renumbered_port(std::move(port), process_of_rank);
  };
  ContextOptions context_options;
  context_options.threads = 1;
  const auto ranks = static_cast<Rank>(process_of_rank.size());
  run_in_process(ranks, context_options, renumber, [&](Context& context) {
    const AnyGraph loaded = engine_graph<double>(context, graph);
    AlgorithmOptions options;
    if (algorithm.needs_sources) options.sources = {1};
    const AlgorithmResult result = algorithm.run(loaded, options);
    if (context.is_root()) digest = result.digest;
  });
  return digest;
}

TEST(RenumberedRanks, ChangeNoBitOfAnyAlgorithm) {
  const TestGraph web = generated("rmat:scale=7,edge_factor=4,seed=3,weights=9", true);
  const TestGraph grid = generated("grid:6x7", false);
  for (const Algorithm& algorithm : all_algorithms()) {
    const TestGraph& graph = algorithm.name == "matching" ? grid : web;
    const std::uint64_t alone = digest_with({0}, algorithm, graph);
    for (const std::vector<Rank>& processes :
         {std::vector<Rank>{1, 0}, {0, 2, 1, 3}, {3, 2, 1, 0}, {4, 0, 3, 1, 2}}) {
      EXPECT_EQ(digest_with(processes, algorithm, graph), alone)
          << algorithm.name << ", process of rank 0 is " << processes.front() << " of "
          << processes.size();
    }
  }
}

}  // namespace
}  // namespace weir::test
