// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weir/io/graph_reader.hpp>

namespace weir::io {

/// One file format: what GraphWriter asks of it. Edge values are written if the header says that
/// there are any.
class FormatWriter {
 public:
  FormatWriter() = default;
  virtual ~FormatWriter() = default;
  FormatWriter(const FormatWriter&) = delete;
  FormatWriter& operator=(const FormatWriter&) = delete;

  virtual void write(std::span<const Edge<double>> edges) = 0;
  virtual void write(std::span<const NamedEdge<double>> edges) = 0;
  virtual void write_vertices(std::span<const VertexId> vertices) = 0;
  virtual void write_vertices(std::span<const std::string> vertices) = 0;

  /// Completes the files and puts them in place under their names.
  virtual void commit() = 0;
};

/// A writer that has to know the whole graph before its first byte. Holds it in memory.
class CollectingWriter : public FormatWriter {
 public:
  CollectingWriter(std::string path, GraphHeader header);

  void write(std::span<const Edge<double>> edges) override;
  void write(std::span<const NamedEdge<double>> edges) override;
  void write_vertices(std::span<const VertexId> vertices) override;
  void write_vertices(std::span<const std::string> vertices) override;

 protected:
  /// Sorts the vertices and adds the end points of the edges to them.
  void complete_vertices();

  /// The number n of vertices of a format that can hold the vertices 1 to n only; throws
  /// Error{usage} if the vertices are others.
  std::uint64_t expect_counted_from_one();

  std::string path_;
  GraphHeader header_;
  std::vector<VertexId> vertices_;
  std::vector<Edge<double>> edges_;
  std::vector<std::string> names_;  ///< Instead of vertices_, if vertices are named.
  std::vector<NamedEdge<double>> named_edges_;
};

}  // namespace weir::io
