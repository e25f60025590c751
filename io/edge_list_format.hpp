// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <weir/io/format_reader.hpp>
#include <weir/io/format_writer.hpp>

namespace weir::io {

/// Edge lists: `SOURCE TARGET [WEIGHT [TIME]]` a line, split at blanks or, as csv, at commas.
/// Graphalytics graphs are edge lists with a list of vertices, GAP's are edge lists whose vertices
/// are 0 to the largest id.
std::unique_ptr<FormatReader> read_edge_list(FileSet files);
std::unique_ptr<FormatReader> read_csv(FileSet files);
std::unique_ptr<FormatReader> read_graphalytics(FileSet files);
std::unique_ptr<FormatReader> read_gap_edge_list(FileSet files);

std::unique_ptr<FormatWriter> write_edge_list(const std::string& path, const GraphHeader& header);
std::unique_ptr<FormatWriter> write_csv(const std::string& path, const GraphHeader& header);
std::unique_ptr<FormatWriter> write_graphalytics(const std::string& path,
                                                 const GraphHeader& header);

}  // namespace weir::io
