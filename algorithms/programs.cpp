// SPDX-License-Identifier: Apache-2.0
// The list of ready-made algorithms: one include and one line each.
#include <algorithm>
#include <array>

#include <weir/algorithms/algorithm.hpp>
#include <weir/algorithms/betweenness.hpp>
#include <weir/algorithms/bipartite_matching.hpp>
#include <weir/algorithms/breadth_first_search.hpp>
#include <weir/algorithms/clustering_coefficient.hpp>
#include <weir/algorithms/connected_components.hpp>
#include <weir/algorithms/k_core.hpp>
#include <weir/algorithms/label_propagation.hpp>
#include <weir/algorithms/pagerank.hpp>
#include <weir/algorithms/semi_clustering.hpp>
#include <weir/algorithms/shortest_paths.hpp>
#include <weir/algorithms/strong_components.hpp>
#include <weir/algorithms/triangle_count.hpp>

namespace weir {

std::span<const Algorithm> all_algorithms() {
  static const std::array algorithms = {
      pagerank_algorithm,           breadth_first_search_algorithm,
      shortest_paths_algorithm,     connected_components_algorithm,
      label_propagation_algorithm,  clustering_coefficient_algorithm,
      triangle_count_algorithm,     betweenness_algorithm,
      bipartite_matching_algorithm, k_core_algorithm,
      semi_clustering_algorithm,    strong_components_algorithm,
  };
  return algorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto all = all_algorithms();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace weir
