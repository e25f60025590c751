// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

struct SemiClusteringOptions {
  std::size_t max_clusters = 4;      ///< kept per vertex, and sent per superstep (C_max)
  std::size_t max_members = 8;       ///< of one cluster (V_max, M_max)
  double boundary_factor = 0.5;      ///< f_B
  std::int64_t max_iterations = 10;  ///< supersteps after superstep 0
};

/// A group of vertices and the weights of its inner and its boundary edges.
struct SemiCluster {
  std::vector<VertexId> members;  ///< ascending
  double inner = 0;               ///< I_c
  double boundary = 0;            ///< B_c

  /// (I_c - f_B B_c) / (V_c (V_c - 1) / 2); a single vertex has score 1.
  double score(double boundary_factor) const {
    const auto size = static_cast<double>(members.size());
    if (members.size() == 1) return 1;
    return (inner - boundary_factor * boundary) / (size * (size - 1) / 2);
  }
};

/// Semi-clusters of each vertex, best first: by score descending, then by members ascending
/// (lexicographic). Direction and loops are ignored, parallel edges add up. Scores are exact, and
/// so is the order, as long as sums of weights are (integers, say). [Malewicz10 §5.4]
inline std::vector<std::vector<SemiCluster>> semi_clustering(
    const SerialGraph& graph, const SemiClusteringOptions& options = {}) {
  std::vector<std::map<VertexId, double>> weights(graph.size());  // of the edges to each neighbour
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const auto* arcs : {&graph.out[v], graph.directed ? &graph.in[v] : nullptr}) {
      if (arcs == nullptr) continue;
      for (const auto& [u, weight] : *arcs) {
        if (u != v) weights[v][graph.ids[u]] += weight;
      }
    }
  }
  const auto joined = [&](SemiCluster cluster, std::size_t v) {
    double inside = 0, outside = 0;
    for (const auto& [u, weight] : weights[v]) {
      const bool is_member = std::binary_search(cluster.members.begin(), cluster.members.end(), u);
      (is_member ? inside : outside) += weight;
    }
    cluster.inner += inside;
    cluster.boundary += outside - inside;
    const VertexId id = graph.ids[v];
    cluster.members.insert(std::lower_bound(cluster.members.begin(), cluster.members.end(), id),
                           id);
    return cluster;
  };
  const auto keep_best = [&](std::vector<SemiCluster>& clusters) {
    std::sort(clusters.begin(), clusters.end(), [&](const auto& a, const auto& b) {
      const double score_a = a.score(options.boundary_factor);
      const double score_b = b.score(options.boundary_factor);
      return score_a != score_b ? score_a > score_b : a.members < b.members;
    });
    const auto same = [](const auto& a, const auto& b) { return a.members == b.members; };
    clusters.erase(std::unique(clusters.begin(), clusters.end(), same), clusters.end());
    if (clusters.size() > options.max_clusters) clusters.resize(options.max_clusters);
  };

  std::vector<std::vector<SemiCluster>> lists(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) lists[v] = {joined({}, v)};
  auto sent = lists;
  bool has_changed = true;
  for (std::int64_t i = 0; i < options.max_iterations && has_changed; ++i) {
    has_changed = false;
    auto sending = sent;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      std::vector<SemiCluster> candidates, own = lists[v];
      for (const auto& [u, weight] : weights[v]) {
        const auto& arrived = sent[graph.index_of(u)];
        candidates.insert(candidates.end(), arrived.begin(), arrived.end());
      }
      for (std::size_t c = 0, arrived = candidates.size(); c < arrived; ++c) {
        const auto& members = candidates[c].members;
        const bool has_v = std::binary_search(members.begin(), members.end(), graph.ids[v]);
        if (!has_v && members.size() < options.max_members) {
          candidates.push_back(joined(candidates[c], v));
        }
      }
      for (const auto& cluster : candidates) {
        const auto& members = cluster.members;
        if (std::binary_search(members.begin(), members.end(), graph.ids[v])) {
          own.push_back(cluster);
        }
      }
      keep_best(candidates);
      keep_best(own);
      const auto same = [](const auto& a, const auto& b) { return a.members == b.members; };
      has_changed |= !std::equal(own.begin(), own.end(), lists[v].begin(), lists[v].end(), same);
      sending[v] = std::move(candidates);
      lists[v] = std::move(own);
    }
    sent = std::move(sending);
  }
  return lists;
}

}  // namespace weir::reference
