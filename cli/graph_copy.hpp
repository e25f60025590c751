// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/cli/job.hpp>
#include <weir/cli/signals.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/record_stream.hpp>
#include <weir/io/graph_reader.hpp>
#include <weir/io/graph_writer.hpp>

namespace weir::cli {

/// Where a copy of a graph goes, and what of it.
struct CopyOptions {
  std::string path;  ///< `-` is stdout.
  io::Format format = io::Format::automatic;
  std::optional<bool> is_directed{};  ///< Overrides what the input says.
  bool is_weighted = true;            ///< Edge values are kept where there are any.
  bool has_names = false;             ///< Vertices are named by strings.
};

struct CopyCount {
  std::uint64_t num_vertices = 0;  ///< Listed ones.
  std::uint64_t num_edges = 0;
};

/// Warns of what the format of the copy cannot say about the graph.
void warn_of_losses(const Job& job, const io::GraphHeader& header, const CopyOptions& options);

template <class Vertex, class EdgeRecord, class Reader>
CopyCount copy_records(const Job& job, Reader& reader, io::GraphWriter& writer,
                       const io::GraphHeader& header) {
  CopyCount count;
  if (header.has_vertices) {
    for (std::vector<Vertex> batch; reader.next(batch);) {
      job.throw_if_cancelled();
      writer.write_vertices(batch);
      count.num_vertices += batch.size();
    }
  }
  for (std::vector<EdgeRecord> batch; reader.next(batch);) {
    job.throw_if_cancelled();
    writer.write(batch);
    count.num_edges += batch.size();
    job.console.progress("writing: " + std::to_string(count.num_edges) + " edges");
  }
  return count;
}

/// Copies a whole graph to a file; for one rank.
template <class Reader>
CopyCount copy_graph_to(const std::string& path, const Job& job, Reader& reader,
                        const CopyOptions& options) {
  io::GraphHeader header = reader.header();
  header.directed = options.is_directed.value_or(header.directed.value_or(true));
  if (!options.is_weighted) header.has_weights = false;
  warn_of_losses(job, header, options);
  io::GraphWriter writer(path, options.format, header);
  CopyCount count;
  if constexpr (Source<Reader, NamedEdge<double>>) {
    count = options.has_names
                ? copy_records<std::string, NamedEdge<double>>(job, reader, writer, header)
                : copy_records<VertexId, Edge<double>>(job, reader, writer, header);
    reader.verify(reader.tally());
  } else {
    count = copy_records<VertexId, Edge<double>>(job, reader, writer, header);
  }
  job.throw_if_cancelled();
  writer.commit();
  job.console.end_progress();
  return count;
}

/// Copies a whole graph to a file or to stdout; for one rank.
template <class Reader>
CopyCount copy_graph(const Job& job, Reader& reader, const CopyOptions& options) {
  if (!is_standard_output(options.path)) {
    SignalWatch::will_write(options.path);
    return copy_graph_to(options.path, job, reader, options);
  }
  StandardOutputPath out;
  CopyCount count;
  try {
    count = copy_graph_to(out.path(), job, reader, options);
  } catch (...) {
    out.finish();  // says why, if stdout is at fault
    throw;
  }
  out.finish();
  return count;
}

}  // namespace weir::cli
