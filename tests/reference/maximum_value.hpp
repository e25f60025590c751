// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Values after each superstep of maximum-value propagation: superstep 0 sends every value along
/// the out-arcs, later ones send what has grown. The last row is the superstep in which nothing
/// grew. [Malewicz10, figure 2]
inline std::vector<std::vector<std::int64_t>> maximum_value(
    const SerialGraph& graph, const std::vector<std::int64_t>& values) {
  std::vector<std::vector<std::int64_t>> rows{values};
  std::vector<bool> sends(graph.size(), true);
  for (;;) {
    std::vector<std::int64_t> next = rows.back();
    bool has_message = false;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      for (const auto& [u, weight] : graph.out[v]) {
        if (!sends[v]) continue;
        has_message = true;
        next[u] = std::max(next[u], rows.back()[v]);
      }
    }
    if (!has_message) return rows;
    for (std::size_t v = 0; v < graph.size(); ++v) sends[v] = next[v] != rows.back()[v];
    rows.push_back(std::move(next));
  }
}

}  // namespace weir::reference
