// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <weir/io/format_reader.hpp>
#include <weir/io/format_writer.hpp>

namespace weir::io {

/// Matrix Market coordinate files: real, integer or pattern; general, symmetric or
/// skew-symmetric. Ids are 1 to n; a symmetric matrix is an undirected graph.
std::unique_ptr<FormatReader> read_matrix_market(FileSet files);
std::unique_ptr<FormatWriter> write_matrix_market(const std::string& path,
                                                  const GraphHeader& header);

}  // namespace weir::io
