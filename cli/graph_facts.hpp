// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <weir/algorithms/algorithm.hpp>

namespace weir::cli {

/// Counts over a whole graph.
struct GraphFacts {
  std::uint64_t num_loops = 0;
  std::uint64_t num_repeats = 0;  ///< Edges beyond the first with the same end points.
  std::uint64_t num_isolated = 0;
  std::uint64_t largest_in_degree = 0;
  std::uint64_t largest_out_degree = 0;
};

/// Collective.
GraphFacts find_facts(const AnyGraph& graph);

}  // namespace weir::cli
