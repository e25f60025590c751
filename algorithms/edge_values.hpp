// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <weir/engine/graph/graph.hpp>

namespace weir {

/// Error{input} at an edge whose value is negative or not finite; `algorithm` begins its text.
/// Collective.
void require_non_negative(const Graph<double>& graph, std::string_view algorithm);
/// Edges without values count 1.
inline void require_non_negative(const Graph<NoValue>&, std::string_view) {}

}  // namespace weir
