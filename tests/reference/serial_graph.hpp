// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/ids.hpp>

/// Serial oracles: textbook algorithms on plain vectors, independent of the engine. What they
/// compute is what docs/semantics.md says; values are aligned with `SerialGraph::ids`.
namespace weir::reference {

enum class Direction { directed, undirected };

/// What the builder does with edges that have the same end points: keeps all, or one of the
/// smallest weight. In an undirected graph 1-2 and 2-1 are the same edge.
enum class Repeats { keep, merge };

enum class Loops { keep, drop };

struct BuildOptions {
  Direction direction = Direction::directed;
  Repeats repeats = Repeats::keep;
  Loops loops = Loops::keep;
};

/// A far end and a weight.
using SerialArc = std::pair<std::size_t, double>;

/// A graph as adjacency lists over indices into `ids`. An undirected edge is one arc at each end,
/// an undirected loop two arcs at its vertex; there `in` equals `out`. Lists ascend by (index,
/// weight).
struct SerialGraph {
  std::vector<VertexId> ids;  ///< ascending, each once
  std::vector<std::vector<SerialArc>> out;
  std::vector<std::vector<SerialArc>> in;
  bool directed = true;

  std::size_t size() const { return ids.size(); }

  /// Position of an id in `ids`. Throws std::invalid_argument when the graph does not have it.
  std::size_t index_of(VertexId id) const {
    const auto place = std::lower_bound(ids.begin(), ids.end(), id);
    if (place == ids.end() || *place != id) {
      throw std::invalid_argument("vertex " + std::to_string(id) + " not in graph");
    }
    return static_cast<std::size_t>(place - ids.begin());
  }
};

/// Builds a graph of the given vertices and the end points of the given edges.
inline SerialGraph serial_graph(std::vector<VertexId> vertices, std::vector<Edge<double>> edges,
                                BuildOptions options = {}) {
  SerialGraph graph;
  graph.directed = options.direction == Direction::directed;
  for (auto& edge : edges) {
    vertices.push_back(edge.source);
    vertices.push_back(edge.target);
    if (!graph.directed && edge.target < edge.source) std::swap(edge.source, edge.target);
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  graph.ids = std::move(vertices);

  if (options.loops == Loops::drop) {
    std::erase_if(edges, [](const auto& edge) { return edge.source == edge.target; });
  }
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
    return std::tie(a.source, a.target, a.value) < std::tie(b.source, b.target, b.value);
  });
  if (options.repeats == Repeats::merge) {
    const auto same_ends = [](const auto& a, const auto& b) {
      return a.source == b.source && a.target == b.target;
    };
    edges.erase(std::unique(edges.begin(), edges.end(), same_ends), edges.end());
  }

  graph.out.resize(graph.size());
  graph.in.resize(graph.size());
  const auto add_arc = [&](std::size_t from, std::size_t to, double weight) {
    graph.out[from].emplace_back(to, weight);
    graph.in[to].emplace_back(from, weight);
  };
  for (const auto& edge : edges) {
    const std::size_t source = graph.index_of(edge.source);
    const std::size_t target = graph.index_of(edge.target);
    add_arc(source, target, edge.value);
    if (!graph.directed) add_arc(target, source, edge.value);
  }
  for (auto* lists : {&graph.out, &graph.in}) {
    for (auto& list : *lists) std::sort(list.begin(), list.end());
  }
  return graph;
}

/// Neighbours of every vertex with direction, loops and repeats ignored: ascending, each once.
inline std::vector<std::vector<std::size_t>> simple_neighbours(const SerialGraph& graph) {
  std::vector<std::vector<std::size_t>> neighbours(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    auto& list = neighbours[v];
    for (const auto* arcs : {&graph.out[v], &graph.in[v]}) {
      for (const auto& [u, weight] : *arcs) {
        if (u != v) list.push_back(u);
      }
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

}  // namespace weir::reference
