// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <weir/cli/bench_report.hpp>

namespace weir::cli {

/// Two reports side by side.
struct BenchComparison {
  std::string table;                  ///< A line per kernel, and one above.
  std::vector<std::string> warnings;  ///< What the two do not share, as sentences.
  /// Whether some kernel gave different values from the same source of the same graph.
  bool has_different_results = false;
};

/// Ratios are after / before, trial by trial in order: below 1 is faster.
BenchComparison compare_benches(const ReadBench& before, const ReadBench& after);

}  // namespace weir::cli
