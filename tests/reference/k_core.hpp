// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Core number of each vertex: the largest k such that a subgraph in which every vertex has at
/// least k neighbours holds it. Direction, loops and repeats are ignored. [Batagelj03]
inline std::vector<std::int64_t> k_core(const SerialGraph& graph) {
  const auto neighbours = simple_neighbours(graph);
  std::size_t largest = 0;
  for (const auto& list : neighbours) largest = std::max(largest, list.size());
  std::vector<std::size_t> degree(graph.size());
  std::vector<std::vector<std::size_t>> bins(largest + 1);  // by remaining degree; may be stale
  for (std::size_t v = 0; v < graph.size(); ++v) {
    degree[v] = neighbours[v].size();
    bins[degree[v]].push_back(v);
  }
  std::vector<std::int64_t> cores(graph.size(), -1);
  for (std::size_t k = 0; k <= largest; ++k) {
    for (std::size_t i = 0; i < bins[k].size(); ++i) {  // the bin grows while it is peeled
      const std::size_t v = bins[k][i];
      if (cores[v] >= 0 || degree[v] != k) continue;
      cores[v] = static_cast<std::int64_t>(k);
      for (const std::size_t u : neighbours[v]) {
        if (degree[u] > k) bins[--degree[u]].push_back(u);
      }
    }
  }
  return cores;
}

}  // namespace weir::reference
