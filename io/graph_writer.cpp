// SPDX-License-Identifier: Apache-2.0
#include <weir/io/graph_writer.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/formats.hpp>

namespace weir::io {

GraphWriter::GraphWriter(const std::string& path, Format format, const GraphHeader& header) {
  const std::string_view extension = extension_of(path);
  if (format == Format::automatic) format = format_by_name(path);
  const FormatEntry& entry = entry_of(format);
  const bool is_serialized = extension == ".sg" || extension == ".wsg";
  WEIR_EXPECT(entry.write != nullptr && !is_serialized, usage,
              path + ": weir reads this format but does not write it");
  writer_ = entry.write(path, header);
}

GraphWriter::GraphWriter(GraphWriter&&) noexcept = default;
GraphWriter& GraphWriter::operator=(GraphWriter&&) noexcept = default;
GraphWriter::~GraphWriter() = default;

void GraphWriter::write(std::span<const Edge<double>> edges) { writer_->write(edges); }
void GraphWriter::write(std::span<const NamedEdge<double>> edges) { writer_->write(edges); }

void GraphWriter::write_vertices(std::span<const VertexId> vertices) {
  writer_->write_vertices(vertices);
}

void GraphWriter::write_vertices(std::span<const std::string> vertices) {
  writer_->write_vertices(vertices);
}

void GraphWriter::commit() { writer_->commit(); }

}  // namespace weir::io
