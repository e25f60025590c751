// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace weir::training {

/// A file of comma-separated numbers under one line of headings.
struct NumberTable {
  std::string path;
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> lines;  ///< Line of each row, from 1.
};

/// Reads such a file; a byte order mark, CRLF and empty lines are fine. Throws Error{input} naming
/// file and line where there are not `num_columns` finite numbers.
NumberTable read_number_table(const std::string& path, std::size_t num_columns);

}  // namespace weir::training
