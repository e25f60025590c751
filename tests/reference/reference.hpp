// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/tests/reference/betweenness.hpp>
#include <weir/tests/reference/components.hpp>
#include <weir/tests/reference/distances.hpp>
#include <weir/tests/reference/graph_files.hpp>
#include <weir/tests/reference/k_core.hpp>
#include <weir/tests/reference/label_propagation.hpp>
#include <weir/tests/reference/matching.hpp>
#include <weir/tests/reference/maximum_value.hpp>
#include <weir/tests/reference/pagerank.hpp>
#include <weir/tests/reference/properties.hpp>
#include <weir/tests/reference/random_graph.hpp>
#include <weir/tests/reference/semi_clustering.hpp>
#include <weir/tests/reference/serial_graph.hpp>
#include <weir/tests/reference/triangles.hpp>
