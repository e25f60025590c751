// SPDX-License-Identifier: Apache-2.0
#include <weir/io/format_writer.hpp>

#include <weir/engine/model/check.hpp>

#include <algorithm>

namespace weir::io {
namespace {

template <class T>
void append(std::vector<T>& all, std::span<const T> some) {
  all.insert(all.end(), some.begin(), some.end());
}

template <class T, class E>
void add_end_points(std::vector<T>& vertices, const std::vector<E>& edges) {
  for (const E& edge : edges) {
    vertices.push_back(edge.source);
    vertices.push_back(edge.target);
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
}

}  // namespace

CollectingWriter::CollectingWriter(std::string path, GraphHeader header)
    : path_(std::move(path)), header_(std::move(header)) {}

void CollectingWriter::write(std::span<const Edge<double>> edges) { append(edges_, edges); }

void CollectingWriter::write(std::span<const NamedEdge<double>> edges) {
  append(named_edges_, edges);
}

void CollectingWriter::write_vertices(std::span<const VertexId> vertices) {
  append(vertices_, vertices);
}

void CollectingWriter::write_vertices(std::span<const std::string> vertices) {
  append(names_, vertices);
}

void CollectingWriter::complete_vertices() {
  add_end_points(vertices_, edges_);
  add_end_points(names_, named_edges_);
  WEIR_EXPECT(vertices_.empty() || names_.empty(), usage,
              path_ + ": found integer ids and names in one graph; expected one kind");
}

std::uint64_t CollectingWriter::expect_counted_from_one() {
  complete_vertices();
  WEIR_EXPECT(names_.empty(), usage,
              path_ + ": found vertices named by strings; this format holds ids 1 to n only");
  const auto n = static_cast<VertexId>(vertices_.size());
  WEIR_EXPECT(n == 0 || (vertices_.front() == 1 && vertices_.back() == n), usage,
              path_ + ": found " + std::to_string(n) + " vertices from " +
                  std::to_string(vertices_.empty() ? 0 : vertices_.front()) + " to " +
                  std::to_string(vertices_.empty() ? 0 : vertices_.back()) +
                  "; this format holds ids 1 to n only, use .e or .weir");
  return vertices_.size();
}

}  // namespace weir::io
