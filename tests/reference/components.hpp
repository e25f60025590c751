// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Smallest id of the weakly connected component of each vertex, by union-find.
inline std::vector<VertexId> wcc(const SerialGraph& graph) {
  std::vector<std::size_t> parent(graph.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const auto& [u, weight] : graph.out[v]) {
      const std::size_t a = root(v), b = root(u);
      parent[std::max(a, b)] = std::min(a, b);  // a root is the smallest index and id of its tree
    }
  }
  std::vector<VertexId> labels(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) labels[v] = graph.ids[root(v)];
  return labels;
}

/// Smallest id of the strongly connected component of each vertex. Tarjan's algorithm without
/// recursion.
inline std::vector<VertexId> scc(const SerialGraph& graph) {
  const std::size_t n = graph.size();
  const std::size_t unseen = n;
  std::vector<std::size_t> order(n, unseen), low(n), next_arc(n, 0), stack, path;
  std::vector<bool> on_stack(n);
  std::vector<VertexId> labels(n);
  std::size_t num_seen = 0;
  for (std::size_t start = 0; start < n; ++start) {
    if (order[start] == unseen) path.push_back(start);
    while (!path.empty()) {
      const std::size_t v = path.back();
      if (order[v] == unseen) {
        order[v] = low[v] = num_seen++;
        stack.push_back(v);
        on_stack[v] = true;
      }
      if (next_arc[v] < graph.out[v].size()) {
        const std::size_t u = graph.out[v][next_arc[v]].first;
        if (order[u] == unseen) {
          path.push_back(u);  // the arc is looked at again when u is done
          continue;
        }
        if (on_stack[u]) low[v] = std::min(low[v], low[u]);
        ++next_arc[v];
        continue;
      }
      path.pop_back();
      if (low[v] != order[v]) continue;
      const auto first = std::find(stack.rbegin(), stack.rend(), v).base() - 1;
      const std::size_t smallest = *std::min_element(first, stack.end());
      for (auto member = first; member != stack.end(); ++member) {
        labels[*member] = graph.ids[smallest];
        on_stack[*member] = false;
      }
      stack.erase(first, stack.end());
    }
  }
  return labels;
}

}  // namespace weir::reference
