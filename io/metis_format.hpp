// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <weir/io/format_reader.hpp>
#include <weir/io/format_writer.hpp>

namespace weir::io {

/// METIS files: line i lists the neighbors of vertex i, and every edge stands in the lists of
/// both its end points; undirected, ids 1 to n.
std::unique_ptr<FormatReader> read_metis(FileSet files);
std::unique_ptr<FormatWriter> write_metis(const std::string& path, const GraphHeader& header);

}  // namespace weir::io
