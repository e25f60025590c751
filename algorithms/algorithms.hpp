// SPDX-License-Identifier: Apache-2.0
// All ready-made algorithms.
#pragma once

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
