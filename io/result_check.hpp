// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace weir::io {

/// When two results of `ID VALUE` lines are equal, as Graphalytics has it.
enum class Rule {
  exact,       ///< Equal values: as numbers where both are numbers (`3` is `3.0`), else as text.
  epsilon,     ///< |found - expected| <= epsilon * |expected|; infinity only equals infinity.
  equivalence  ///< Equal up to a renaming of the values, one to one.
};

struct Comparison {
  bool equal = false;
  std::uint64_t num_vertices = 0;    ///< Different ids in the reference.
  std::uint64_t num_mismatches = 0;  ///< Ids with another value, missing, surplus or repeated.
  std::string first_mismatch;        ///< One line, of the smallest such id; empty if equal.
};

/// Compares a result to a reference, both in any order of lines, plain or compressed.
///
/// Cost: O(n log n) time, 48 bytes a line. Throws Error{input} for a file that cannot be read or a
/// line that is not `ID VALUE`.
Comparison compare_results(const std::string& result_path, const std::string& reference_path,
                           Rule rule, double epsilon = 1e-4);

}  // namespace weir::io
