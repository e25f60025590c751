// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/algorithms/algorithm.hpp>
#include <weir/algorithms/triangle_count.hpp>

namespace weir {

struct ClusteringCoefficientOptions {
  RunOptions run{};
};

/// Local clustering coefficient: with N the neighbours of a vertex over edges of either direction,
/// each once and without the vertex itself, the number of ordered pairs of N with an arc from the
/// first to the second, over |N| (|N| - 1); 0 when |N| < 2 ([Iosup16]). An undirected edge is an
/// arc both ways; loops and repeats are ignored. Collective.
RunResult<double> clustering_coefficient(const Graph<NoValue>& graph,
                                         const ClusteringCoefficientOptions& options = {});
RunResult<double> clustering_coefficient(const Graph<double>& graph,
                                         const ClusteringCoefficientOptions& options = {});

extern const Algorithm clustering_coefficient_algorithm;

}  // namespace weir
