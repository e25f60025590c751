// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Community label of each vertex after a number of synchronous steps: in each, a vertex takes the
/// label most frequent among its neighbours, the smallest of several. Each arc counts once at each
/// of its ends: reciprocal and parallel arcs count each. [Iosup16]
inline std::vector<VertexId> cdlp(const SerialGraph& graph, std::int64_t iterations) {
  std::vector<VertexId> labels = graph.ids;
  for (std::int64_t i = 0; i < iterations; ++i) {
    std::vector<VertexId> next = labels;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      std::map<VertexId, std::int64_t> counts;
      for (const auto& [u, weight] : graph.out[v]) ++counts[labels[u]];
      if (graph.directed) {
        for (const auto& [u, weight] : graph.in[v]) ++counts[labels[u]];
      }
      std::int64_t best = 0;
      for (const auto& [label, count] : counts) {
        if (count <= best) continue;  // labels ascend: the first of several is the smallest
        best = count;
        next[v] = label;
      }
    }
    labels = std::move(next);
  }
  return labels;
}

}  // namespace weir::reference
