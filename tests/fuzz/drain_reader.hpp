// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/model/error.hpp>
#include <weir/io/graph_reader.hpp>

namespace weir::io::fuzz {

/// Takes batches to the end; a list of vertices may be as long as its header says, so only its
/// beginning is taken.
template <class Record>
void drain(GraphReader& reader) {
  constexpr int most_batches = 64;
  std::vector<Record> batch;
  for (int i = 0; i < most_batches && reader.next(batch); ++i) {
  }
}

/// Reads bytes as a file of that name, in two parts, in the ways that the first byte picks.
/// Nothing but Error{input} or Error{usage} may come of it.
inline void read(const std::string& name, Format format, const std::uint8_t* data,
                 std::size_t size) {
  if (size == 0) return;
  GraphFileOptions options;
  options.format = format;
  options.weighted = (data[0] & 1) != 0;
  options.string_ids = (data[0] & 2) != 0;
  options.skip_header = (data[0] & 4) != 0;
  if ((data[0] & 8) != 0) options.num_vertices = 100;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    Tally total;
    for (Part part{0, 2}; part.index < 2; ++part.index) {
      GraphReader reader = GraphReader::from_memory(name, bytes, options, part);
      if (options.string_ids) {
        drain<NamedEdge<double>>(reader);
        drain<std::string>(reader);
      } else {
        drain<Edge<double>>(reader);
        drain<VertexId>(reader);
      }
      total += reader.tally();
      if (part.index == 1) reader.verify(total);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::input && error.code() != ErrorCode::usage) throw;
  }
}

}  // namespace weir::io::fuzz
