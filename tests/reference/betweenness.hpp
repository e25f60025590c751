// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <weir/tests/reference/distances.hpp>
#include <weir/tests/reference/serial_graph.hpp>

namespace weir::reference {

/// Betweenness of each vertex from the given sources: the sum over sources s and targets t, both
/// different from v, of the fraction of shortest s-t paths through v. Arcs have length 1; parallel
/// arcs are different paths. Neither normalised nor halved: with every vertex as a source, an
/// undirected graph gets twice the value that counts each pair {s, t} once. [Brandes01]
inline std::vector<double> betweenness(const SerialGraph& graph,
                                       const std::vector<VertexId>& sources) {
  std::vector<double> centrality(graph.size(), 0.0);
  for (const VertexId source : sources) {
    std::vector<std::int64_t> level(graph.size(), unreached_level);
    std::vector<double> paths(graph.size(), 0.0), dependency(graph.size(), 0.0);
    std::vector<std::size_t> reached{graph.index_of(source)};
    level[reached[0]] = 0;
    paths[reached[0]] = 1;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const std::size_t v = reached[i];
      for (const auto& [u, weight] : graph.out[v]) {
        if (level[u] == unreached_level) {
          level[u] = level[v] + 1;
          reached.push_back(u);
        }
        if (level[u] == level[v] + 1) paths[u] += paths[v];
      }
    }
    for (std::size_t i = reached.size(); i-- > 1;) {
      const std::size_t v = reached[i];
      for (const auto& [u, weight] : graph.in[v]) {
        if (level[u] != unreached_level && level[u] + 1 == level[v]) {
          dependency[u] += paths[u] / paths[v] * (1 + dependency[v]);
        }
      }
      centrality[v] += dependency[v];
    }
  }
  return centrality;
}

}  // namespace weir::reference
