// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include <weir/io/graph_reader.hpp>

namespace weir::io {

class FormatWriter;

/// Writes a graph to a file of any format that weir writes.
///
/// The header says whether the edges are directed and have values. Matrix Market, METIS, DIMACS and
/// .weir files are collected in memory first; edge lists and csv hold edges only, so that vertices
/// without edges are not in them (see `holds_vertices`). Nothing stands under the final names
/// before `commit`. Throws Error{usage} for what the format cannot hold, Error{output} for what
/// cannot be written.
class GraphWriter {
 public:
  /// `Format::automatic` goes by the name; names that say nothing are edge lists.
  GraphWriter(const std::string& path, Format format, const GraphHeader& header);
  GraphWriter(GraphWriter&&) noexcept;
  GraphWriter& operator=(GraphWriter&&) noexcept;
  ~GraphWriter();

  /// Adds edges, each once; end points need not be listed as vertices.
  void write(std::span<const Edge<double>> edges);
  void write(std::span<const NamedEdge<double>> edges);

  /// Adds vertices.
  void write_vertices(std::span<const VertexId> vertices);
  void write_vertices(std::span<const std::string> vertices);

  /// Completes the files. To be called once, last.
  void commit();

 private:
  std::unique_ptr<FormatWriter> writer_;
};

}  // namespace weir::io
