// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/model/error.hpp>

namespace weir::cli {

/// Throws the error again, with names in the place of ids where the graph has names: `vertex 17`
/// becomes `vertex "zoe"`. Called by a rank that caught an error of an algorithm. Collective if all
/// ranks threw the error together; one that this rank threw alone goes on as it is.
[[noreturn]] void throw_with_names(const AnyGraph& graph, const Error& error);

}  // namespace weir::cli
