// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

struct PagerankOptions {
  std::int64_t iterations = 20;  ///< the count; the cap where `tolerance` is given
  double damping = 0.85;
  std::optional<double> tolerance{};  ///< stop after an iteration whose L1 change is at most this
  bool weighted = false;              ///< shares by weight instead of evenly over the out-arcs
  std::vector<VertexId> teleport{};   ///< teleport set; empty: every vertex
};

struct PagerankResult {
  std::vector<double> ranks;  ///< sums to 1 unless the graph is empty
  std::int64_t iterations = 0;
  double change = 0;  ///< L1 change of the last iteration
};

/// The share of each vertex of the teleport set: 1/|T| inside, 0 outside.
inline std::vector<double> teleport_shares(const SerialGraph& graph,
                                           const std::vector<VertexId>& teleport) {
  const std::size_t n = graph.size();
  if (teleport.empty()) return std::vector<double>(n, 1.0 / static_cast<double>(n));
  std::vector<bool> chosen(n);
  for (const VertexId id : teleport) chosen[graph.index_of(id)] = true;
  const auto count = static_cast<double>(std::count(chosen.begin(), chosen.end(), true));
  std::vector<double> shares(n);
  for (std::size_t v = 0; v < n; ++v) shares[v] = chosen[v] ? 1.0 / count : 0.0;
  return shares;
}

/// One step of PageRank: what the ranks become.
inline std::vector<double> pagerank_step(const SerialGraph& graph, const std::vector<double>& ranks,
                                         const PagerankOptions& options) {
  const auto shares = teleport_shares(graph, options.teleport);
  std::vector<double> arriving(graph.size(), 0.0);
  double dangling = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    double total = 0;
    for (const auto& [u, weight] : graph.out[v]) total += options.weighted ? weight : 1.0;
    if (total == 0) {
      dangling += ranks[v];
      continue;
    }
    for (const auto& [u, weight] : graph.out[v]) {
      arriving[u] += ranks[v] * (options.weighted ? weight : 1.0) / total;
    }
  }
  const double d = options.damping;
  std::vector<double> next(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    next[v] = (1 - d) * shares[v] + d * (arriving[v] + dangling * shares[v]);
  }
  return next;
}

/// Sum of |a - b|.
inline double l1_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t v = 0; v < a.size(); ++v) sum += std::abs(a[v] - b[v]);
  return sum;
}

/// PageRank from the teleport distribution (1/n each without a teleport set). The mass of vertices
/// without out-arcs goes back to the teleport set. Parallel arcs count each. [Page99]
inline PagerankResult pagerank(const SerialGraph& graph, const PagerankOptions& options = {}) {
  PagerankResult result{teleport_shares(graph, options.teleport)};
  while (result.iterations < options.iterations && graph.size() > 0) {
    auto next = pagerank_step(graph, result.ranks, options);
    result.change = l1_distance(next, result.ranks);
    result.ranks = std::move(next);
    ++result.iterations;
    if (options.tolerance && result.change <= *options.tolerance) break;
  }
  return result;
}

}  // namespace weir::reference
