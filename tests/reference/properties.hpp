// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <weir/tests/reference/distances.hpp>
#include <weir/tests/reference/pagerank.hpp>
#include <weir/tests/reference/serial_graph.hpp>

/// Checks of the defining property of a result, without computing it again. Each returns an empty
/// string when the property holds, else the first violation in words.
namespace weir::reference {

/// "vertex 7: text".
inline std::string violation(const SerialGraph& graph, std::size_t v, const std::string& text) {
  return "vertex " + std::to_string(graph.ids[v]) + ": " + text;
}

/// True when some arc leads from `u` to `v`.
inline bool has_arc(const SerialGraph& graph, std::size_t u, std::size_t v) {
  const auto& arcs = graph.out[u];
  const auto place =
      std::lower_bound(arcs.begin(), arcs.end(), v,
                       [](const SerialArc& arc, std::size_t x) { return arc.first < x; });
  return place != arcs.end() && place->first == v;
}

/// Level 0 exactly at the sources, no arc skips a level or leaves the reached part, and the parent
/// of each reached vertex is one level nearer along an arc. A source is its own parent; the parent
/// of an unreached vertex is not looked at.
inline std::string check_bfs_tree(const SerialGraph& graph, const std::vector<VertexId>& sources,
                                  const std::vector<std::int64_t>& levels,
                                  const std::vector<VertexId>& parents) {
  std::vector<bool> is_source(graph.size());
  for (const VertexId id : sources) is_source[graph.index_of(id)] = true;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (is_source[v] != (levels[v] == 0)) return violation(graph, v, "level 0 and source differ");
    if (levels[v] == unreached_level) continue;
    for (const auto& [u, weight] : graph.out[v]) {
      if (levels[u] > levels[v] + 1) return violation(graph, v, "an arc skips a level");
    }
    if (is_source[v]) {
      if (parents[v] != graph.ids[v]) return violation(graph, v, "source with another parent");
      continue;
    }
    const std::size_t parent = graph.index_of(parents[v]);
    if (levels[parent] == unreached_level || levels[parent] + 1 != levels[v]) {
      return violation(graph, v, "parent is not one level nearer");
    }
    if (!has_arc(graph, parent, v)) return violation(graph, v, "no arc from the parent");
  }
  return {};
}

/// Distance 0 at the sources, d[v] <= d[u] + w over every arc, and a tight arc into every other
/// reached vertex; equal means within `epsilon` relative. (Tight arcs of weight 0 could form a
/// cycle of their own: compare with `sssp` where such weights occur.)
inline std::string check_distances(const SerialGraph& graph, const std::vector<VertexId>& sources,
                                   const std::vector<double>& distances, double epsilon = 0) {
  std::vector<bool> has_reason(graph.size());
  for (const VertexId id : sources) {
    const std::size_t v = graph.index_of(id);
    if (distances[v] != 0) return violation(graph, v, "source with a distance");
    has_reason[v] = true;
  }
  for (std::size_t u = 0; u < graph.size(); ++u) {
    if (distances[u] == unreached_distance) continue;
    for (const auto& [v, weight] : graph.out[u]) {
      const double through_u = distances[u] + weight;
      const double slack = epsilon * through_u;
      if (distances[v] > through_u + slack) return violation(graph, v, "a shorter path exists");
      if (distances[v] >= through_u - slack) has_reason[v] = true;
    }
  }
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (!has_reason[v] && distances[v] != unreached_distance) {
      return violation(graph, v, "no arc gives this distance");
    }
  }
  return {};
}

/// Along the arc from each reached vertex's parent the distance is met within `epsilon` relative.
inline std::string check_distance_parents(const SerialGraph& graph,
                                          const std::vector<double>& distances,
                                          const std::vector<VertexId>& parents, double epsilon) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (distances[v] == unreached_distance || distances[v] == 0) continue;
    const std::size_t parent = graph.index_of(parents[v]);
    bool is_met = false;
    for (const auto& [u, weight] : graph.in[v]) {
      const double gap = std::abs(distances[parent] + weight - distances[v]);
      is_met |= u == parent && gap <= epsilon * distances[v];
    }
    if (!is_met) return violation(graph, v, "the parent's arc does not give this distance");
  }
  return {};
}

/// No rank is negative, the sum is 1 within `epsilon`, one more step changes at most `change` (L1).
inline std::string check_ranks(const SerialGraph& graph, const std::vector<double>& ranks,
                               double epsilon, double change, const PagerankOptions& options = {}) {
  double sum = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (!(ranks[v] >= 0)) return violation(graph, v, "rank is negative or NaN");
    sum += ranks[v];
  }
  if (graph.size() == 0) return {};
  if (std::abs(sum - 1) > epsilon) return "sum of ranks is " + std::to_string(sum);
  const double moved = l1_distance(pagerank_step(graph, ranks, options), ranks);
  if (moved > change) return "one more step changes " + std::to_string(moved);
  return {};
}

/// Number of vertices reached from `start` over both sets of arcs without leaving its label.
inline std::size_t num_reached_in_class(const std::vector<std::vector<SerialArc>>& first,
                                        const std::vector<std::vector<SerialArc>>& second,
                                        const std::vector<VertexId>& labels, std::size_t start) {
  std::vector<bool> seen(labels.size());
  std::vector<std::size_t> reached{start};
  seen[start] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const auto* arcs : {&first[reached[i]], &second[reached[i]]}) {
      for (const auto& [u, weight] : *arcs) {
        if (seen[u] || labels[u] != labels[start]) continue;
        seen[u] = true;
        reached.push_back(u);
      }
    }
  }
  return reached.size();
}

/// Every label is the smallest id that carries it. Fills the number of vertices of each label.
inline std::string check_smallest_labels(const SerialGraph& graph,
                                         const std::vector<VertexId>& labels,
                                         std::map<VertexId, std::size_t>& sizes) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const bool is_first = sizes[labels[v]]++ == 0;
    if (is_first && labels[v] != graph.ids[v]) {
      return violation(graph, v, "label is not the smallest id of its component");
    }
  }
  return {};
}

/// No edge joins two labels, each label is the smallest id that carries it, and the vertices of a
/// label hang together.
inline std::string check_weak_components(const SerialGraph& graph,
                                         const std::vector<VertexId>& labels) {
  std::map<VertexId, std::size_t> sizes;
  if (auto found = check_smallest_labels(graph, labels, sizes); !found.empty()) return found;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const auto& [u, weight] : graph.out[v]) {
      if (labels[u] != labels[v]) return violation(graph, v, "an edge joins two components");
    }
    if (labels[v] != graph.ids[v]) continue;
    if (num_reached_in_class(graph.out, graph.in, labels, v) != sizes[labels[v]]) {
      return violation(graph, v, "its component falls apart");
    }
  }
  return {};
}

/// Each label is the smallest id that carries it, the vertices of a label reach each other, and the
/// graph of labels has no cycle.
inline std::string check_strong_components(const SerialGraph& graph,
                                           const std::vector<VertexId>& labels) {
  std::map<VertexId, std::size_t> sizes;
  if (auto found = check_smallest_labels(graph, labels, sizes); !found.empty()) return found;
  std::map<VertexId, std::size_t> num_entering;  // arcs into each label from other labels
  std::map<VertexId, std::vector<VertexId>> leaving;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const auto& [u, weight] : graph.out[v]) {
      if (labels[u] == labels[v]) continue;
      ++num_entering[labels[u]];
      leaving[labels[v]].push_back(labels[u]);
    }
    if (labels[v] != graph.ids[v]) continue;
    if (num_reached_in_class(graph.out, graph.out, labels, v) != sizes[labels[v]] ||
        num_reached_in_class(graph.in, graph.in, labels, v) != sizes[labels[v]]) {
      return violation(graph, v, "its component is not strongly connected");
    }
  }
  std::vector<VertexId> free;  // labels in topological order
  for (const auto& [label, size] : sizes) {
    if (num_entering[label] == 0) free.push_back(label);
  }
  for (std::size_t i = 0; i < free.size(); ++i) {
    for (const VertexId label : leaving[free[i]]) {
      if (--num_entering[label] == 0) free.push_back(label);
    }
  }
  return free.size() == sizes.size() ? std::string{} : "two components lie on one cycle";
}

/// Each vertex has at least core[v] neighbours of at least its core number (so it is not too
/// large), and peeling by ascending core number never meets a larger remaining degree (nor too
/// small).
inline std::string check_cores(const SerialGraph& graph, const std::vector<std::int64_t>& cores) {
  const auto neighbours = simple_neighbours(graph);
  std::vector<std::int64_t> degree(graph.size());
  std::map<std::int64_t, std::vector<std::size_t>> layers;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    degree[v] = static_cast<std::int64_t>(neighbours[v].size());
    layers[cores[v]].push_back(v);
    std::int64_t num_inside = 0;
    for (const std::size_t u : neighbours[v]) num_inside += cores[u] >= cores[v] ? 1 : 0;
    if (num_inside < cores[v]) return violation(graph, v, "core number is too large");
  }
  std::vector<bool> removed(graph.size());
  for (const auto& [core, layer] : layers) {
    std::vector<std::size_t> ready = layer;  // a vertex is tried again when it loses a neighbour
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const std::size_t v = ready[i];
      if (removed[v] || degree[v] > core) continue;
      removed[v] = true;
      for (const std::size_t u : neighbours[v]) {
        --degree[u];
        if (cores[u] == core) ready.push_back(u);
      }
    }
    for (const std::size_t v : layer) {
      if (!removed[v]) return violation(graph, v, "core number is too small");
    }
  }
  return {};
}

/// Partners point at each other over an edge, and no edge joins two vertices without a partner. A
/// vertex without a partner holds its own id; loops are ignored.
inline std::string check_maximal_matching(const SerialGraph& graph,
                                          const std::vector<VertexId>& partners) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (partners[v] == graph.ids[v]) {
      for (const auto& [u, weight] : graph.out[v]) {
        if (u != v && partners[u] == graph.ids[u]) return violation(graph, v, "could be matched");
      }
      continue;
    }
    const std::size_t u = graph.index_of(partners[v]);
    if (partners[u] != graph.ids[v]) return violation(graph, v, "its partner has another");
    if (!has_arc(graph, u, v) && !has_arc(graph, v, u)) {
      return violation(graph, v, "no edge to its partner");
    }
  }
  return {};
}

}  // namespace weir::reference
