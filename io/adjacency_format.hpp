// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <weir/io/format_reader.hpp>

namespace weir::io {

/// Adjacency lists, one vertex a line: `ID NEIGHBOR...`; `ID<tab>DEGREE NEIGHBOR...` as of Pregel+;
/// or `[ID,VALUE,[[TARGET,WEIGHT],...]]` as of Giraph.
std::unique_ptr<FormatReader> read_adjacency(FileSet files);

}  // namespace weir::io
