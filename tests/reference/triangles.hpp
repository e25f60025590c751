// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Number of triangles at each vertex: each counts at its three corners. Direction, loops and
/// repeats are ignored.
inline std::vector<std::int64_t> triangles(const SerialGraph& graph) {
  const auto neighbours = simple_neighbours(graph);
  std::vector<std::int64_t> counts(graph.size(), 0);
  for (std::size_t a = 0; a < graph.size(); ++a) {
    for (const std::size_t b : neighbours[a]) {
      if (b < a) continue;
      for (const std::size_t c : neighbours[b]) {  // a < b < c: each triangle is met once
        if (c < b || !std::binary_search(neighbours[a].begin(), neighbours[a].end(), c)) continue;
        ++counts[a], ++counts[b], ++counts[c];
      }
    }
  }
  return counts;
}

/// Number of triangles of the graph.
inline std::int64_t num_triangles(const SerialGraph& graph) {
  std::int64_t corners = 0;
  for (const std::int64_t count : triangles(graph)) corners += count;
  return corners / 3;
}

/// Local clustering coefficient: arcs among the neighbours N over |N| (|N| - 1), 0 when |N| < 2.
/// N holds in- and out-neighbours, each once; an undirected edge is two arcs; loops and repeats are
/// ignored. [Iosup16]
inline std::vector<double> lcc(const SerialGraph& graph) {
  const auto neighbours = simple_neighbours(graph);
  std::vector<double> coefficients(graph.size(), 0.0);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& around = neighbours[v];
    std::int64_t num_arcs = 0;
    for (const std::size_t u : around) {
      std::size_t previous = u;  // parallel arcs are adjacent; a loop equals the start value
      for (const auto& [w, weight] : graph.out[u]) {
        if (w == u || w == previous) continue;
        previous = w;
        if (std::binary_search(around.begin(), around.end(), w)) ++num_arcs;
      }
    }
    const auto k = static_cast<double>(around.size());
    if (around.size() > 1) coefficients[v] = static_cast<double>(num_arcs) / (k * (k - 1));
  }
  return coefficients;
}

}  // namespace weir::reference
