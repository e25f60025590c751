// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// True when the vertices have two colours such that no edge joins equal ones.
inline bool is_bipartite(const SerialGraph& graph) {
  const auto neighbours = simple_neighbours(graph);
  std::vector<int> colour(graph.size(), 0);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const auto& [u, weight] : graph.out[v]) {
      if (u == v) return false;
    }
    if (colour[v] != 0) continue;
    colour[v] = 1;
    std::vector<std::size_t> reached{v};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const std::size_t u : neighbours[reached[i]]) {
        if (colour[u] == colour[reached[i]]) return false;
        if (colour[u] != 0) continue;
        colour[u] = -colour[reached[i]];
        reached.push_back(u);
      }
    }
  }
  return true;
}

/// A maximal matching taken greedily in id order. `result[v]` is the partner's id, v's own id when
/// v has none.
inline std::vector<VertexId> greedy_matching(const SerialGraph& graph) {
  const auto neighbours = simple_neighbours(graph);
  std::vector<VertexId> partners = graph.ids;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const std::size_t u : neighbours[v]) {
      if (partners[v] != graph.ids[v] || partners[u] != graph.ids[u]) continue;
      partners[v] = graph.ids[u];
      partners[u] = graph.ids[v];
    }
  }
  return partners;
}

}  // namespace weir::reference
