// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/graph_facts.hpp>

#include <algorithm>

#include <weir/engine/runtime/collectives.hpp>

namespace weir::cli {

namespace {

/// Counts of one rank; an undirected edge that is no loop is seen at both of its ends.
struct SeenArcs {
  std::uint64_t num_loops = 0;
  std::uint64_t num_loop_repeats = 0;
  std::uint64_t num_other_repeats = 0;
};

/// Equal neighbours stand together in a list.
template <class E>
SeenArcs look_at_arcs(const Graph<E>& graph) {
  const Side<E>& side = graph.side_for(Edges::out);
  const std::uint64_t arcs_per_loop = graph.is_directed() ? 1 : 2;
  SeenArcs seen;
  for (Row row = 0; row < graph.vertices()->size(); ++row) {
    for (std::uint64_t begin = side.first(row), end = begin; begin < side.last(row); begin = end) {
      const Slot neighbour = side.neighbours[begin];
      while (end < side.last(row) && side.neighbours[end] == neighbour) ++end;
      if (neighbour == side.slots.of_rows[row]) {
        const std::uint64_t num_loops = (end - begin) / arcs_per_loop;
        seen.num_loops += num_loops;
        seen.num_loop_repeats += num_loops - 1;
      } else {
        seen.num_other_repeats += end - begin - 1;
      }
    }
  }
  return seen;
}

template <class E>
GraphFacts find_facts_of(const Graph<E>& graph) {
  GraphFacts facts;
  const Vertices& vertices = *graph.vertices();
  for (Row row = 0; row < vertices.size(); ++row) {
    const std::uint64_t in = vertices.in_degree(row);
    const std::uint64_t out = vertices.out_degree(row);
    if (in + out == 0) ++facts.num_isolated;
    facts.largest_in_degree = std::max(facts.largest_in_degree, in);
    facts.largest_out_degree = std::max(facts.largest_out_degree, out);
  }
  const SeenArcs own = look_at_arcs(graph);
  const auto sum = [&](std::uint64_t count) {
    return all_fold(graph.context(), Sum<std::uint64_t>{}, count);
  };
  const auto largest = [&](std::uint64_t count) {
    return all_fold(graph.context(), Max<std::uint64_t>{}, count);
  };
  facts.num_loops = sum(own.num_loops);
  facts.num_repeats =
      sum(own.num_loop_repeats) + sum(own.num_other_repeats) / (graph.is_directed() ? 1 : 2);
  facts.num_isolated = sum(facts.num_isolated);
  facts.largest_in_degree = largest(facts.largest_in_degree);
  facts.largest_out_degree = largest(facts.largest_out_degree);
  return facts;
}

}  // namespace

GraphFacts find_facts(const AnyGraph& graph) {
  return std::visit([](const auto& typed) { return find_facts_of(typed); }, graph);
}

}  // namespace weir::cli
