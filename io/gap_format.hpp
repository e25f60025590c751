// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <weir/io/format_reader.hpp>

namespace weir::io {

/// The files of the GAP benchmark suite: edge lists (.el, .wel) whose vertices are 0 to the largest
/// id, and serialized graphs (.sg, .wsg) in little-endian binary.
std::unique_ptr<FormatReader> read_gap(FileSet files);

}  // namespace weir::io
