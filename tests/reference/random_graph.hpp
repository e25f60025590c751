// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/ids.hpp>
#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Random numbers that are the same everywhere (SplitMix64).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  /// 0 to bound - 1.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// Input of a property test.
struct RandomGraph {
  std::vector<VertexId> vertices;  ///< in no order, each once
  std::vector<Edge<double>> edges;
  bool directed = true;
};

/// A graph with what breaks engines: none, one or up to `most_vertices` vertices; dense, sparse,
/// negative or extreme ids; loops, repeats, reciprocal pairs, isolated vertices, star hubs. Weights
/// are multiples of 1/4 from 0 to 8, so that sums of them are exact. Equal seeds give equal graphs
/// on any platform.
inline RandomGraph random_graph(std::uint64_t seed, std::size_t most_vertices = 60) {
  Dice dice(seed);
  RandomGraph graph;
  graph.directed = !dice.one_in(2);
  const std::size_t num_vertices =
      dice.one_in(8) ? dice.below(3) : 2 + dice.below(most_vertices - 1);
  const std::size_t id_kind = dice.below(4);
  for (std::size_t i = 0; i < num_vertices; ++i) {
    const auto dense = static_cast<VertexId>(i);
    const auto bits = static_cast<VertexId>(dice.next() >> 1U);
    const VertexId ids[] = {dense, bits, -7 * dense, dense % 2 == 0 ? bits : ~bits};
    graph.vertices.push_back(ids[id_kind]);
  }
  if (id_kind == 3 && num_vertices > 1) {
    graph.vertices[0] = std::numeric_limits<VertexId>::min();
    graph.vertices[1] = std::numeric_limits<VertexId>::max() - 1;
  }
  std::sort(graph.vertices.begin(), graph.vertices.end());
  const auto repeated = std::unique(graph.vertices.begin(), graph.vertices.end());
  graph.vertices.erase(repeated, graph.vertices.end());
  for (std::size_t i = graph.vertices.size(); i > 1; --i) {
    std::swap(graph.vertices[i - 1], graph.vertices[dice.below(i)]);
  }
  if (graph.vertices.empty()) return graph;

  const auto any_weight = [&] { return static_cast<double>(dice.below(33)) / 4; };
  const std::size_t num_joined = 1 + dice.below(graph.vertices.size());  // the others stay isolated
  const auto any_vertex = [&] { return graph.vertices[dice.below(num_joined)]; };
  const std::size_t num_edges = dice.below(4 * num_joined);
  while (graph.edges.size() < num_edges) {
    const Edge<double> edge{any_vertex(), any_vertex(), any_weight()};
    graph.edges.push_back(edge);
    if (dice.one_in(8)) graph.edges.push_back({edge.source, edge.source, any_weight()});
    if (dice.one_in(8)) graph.edges.push_back({edge.source, edge.target, any_weight()});
    if (dice.one_in(8)) graph.edges.push_back({edge.target, edge.source, any_weight()});
  }
  if (dice.one_in(3)) {
    const VertexId hub = any_vertex();
    const bool points_in = dice.one_in(2);
    for (std::size_t i = 0; i < num_joined; ++i) {
      const VertexId leaf = graph.vertices[i];
      graph.edges.push_back({points_in ? leaf : hub, points_in ? hub : leaf, any_weight()});
    }
  }
  return graph;
}

/// The oracle's view of a random graph.
inline SerialGraph serial_graph(const RandomGraph& graph, Repeats repeats = Repeats::keep,
                                Loops loops = Loops::keep) {
  const auto direction = graph.directed ? Direction::directed : Direction::undirected;
  return serial_graph(graph.vertices, graph.edges, {direction, repeats, loops});
}

}  // namespace weir::reference
