// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weir/algorithms/algorithm.hpp>
#include <weir/cli/job.hpp>

namespace weir::cli {

/// Throws Error{output} on all ranks when a file of this name cannot be created. Collective.
void expect_writable(Job& job, const std::string& path);

/// Writes `ID VALUE` lines, ids ascending, to one file from all ranks' values; names take the place
/// of ids where the graph has them. Root holds a piece of one rank's lines at a time. Collective.
void write_result(Job& job, const AnyGraph& graph, const AlgorithmResult& result,
                  const std::string& path);

}  // namespace weir::cli
