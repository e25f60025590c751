// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <weir/io/format_reader.hpp>
#include <weir/io/format_writer.hpp>

namespace weir::io {

/// DIMACS shortest-path files: `p sp N M`, then arcs `a U V WEIGHT`; directed, ids 1 to n.
std::unique_ptr<FormatReader> read_dimacs(FileSet files);
std::unique_ptr<FormatWriter> write_dimacs(const std::string& path, const GraphHeader& header);

}  // namespace weir::io
