// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Level of a vertex that breadth-first search does not reach.
inline constexpr std::int64_t unreached_level = std::numeric_limits<std::int64_t>::max();

/// Distance of a vertex that has no path from a source.
inline constexpr double unreached_distance = std::numeric_limits<double>::infinity();

/// Number of arcs on a shortest path from the nearest source.
inline std::vector<std::int64_t> bfs(const SerialGraph& graph,
                                     const std::vector<VertexId>& sources) {
  std::vector<std::int64_t> levels(graph.size(), unreached_level);
  std::queue<std::size_t> queue;
  for (const VertexId source : sources) {
    levels[graph.index_of(source)] = 0;
    queue.push(graph.index_of(source));
  }
  while (!queue.empty()) {
    const std::size_t v = queue.front();
    queue.pop();
    for (const auto& [u, weight] : graph.out[v]) {
      if (levels[u] != unreached_level) continue;
      levels[u] = levels[v] + 1;
      queue.push(u);
    }
  }
  return levels;
}

/// Smallest sum of weights on a path from the nearest source, by Dijkstra's algorithm. Throws
/// std::invalid_argument when any weight is negative or not finite.
inline std::vector<double> sssp(const SerialGraph& graph, const std::vector<VertexId>& sources) {
  for (const auto& arcs : graph.out) {
    for (const auto& [u, weight] : arcs) {
      if (!std::isfinite(weight)) throw std::invalid_argument("weight is not finite");
      if (weight < 0) throw std::invalid_argument("negative weight");
    }
  }
  std::vector<double> distances(graph.size(), unreached_distance);
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (const VertexId source : sources) {
    distances[graph.index_of(source)] = 0;
    queue.emplace(0.0, graph.index_of(source));
  }
  while (!queue.empty()) {
    const auto [distance, v] = queue.top();
    queue.pop();
    if (distance > distances[v]) continue;
    for (const auto& [u, weight] : graph.out[v]) {
      if (distance + weight >= distances[u]) continue;
      distances[u] = distance + weight;
      queue.emplace(distances[u], u);
    }
  }
  return distances;
}

}  // namespace weir::reference
