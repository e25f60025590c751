// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <weir/io/format_reader.hpp>
#include <weir/io/format_writer.hpp>

namespace weir::io {

/// Weir's own compact binary form: sorted vertices, edges by source, checksums; read in place.
std::unique_ptr<FormatReader> read_weir(FileSet files);
std::unique_ptr<FormatWriter> write_weir(const std::string& path, const GraphHeader& header);

}  // namespace weir::io
