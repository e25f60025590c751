// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/model/check.hpp>
#include <weir/io/edge_list_format.hpp>
#include <weir/io/formats.hpp>
#include <weir/io/number_text.hpp>
#include <weir/io/output_file.hpp>

#include <algorithm>
#include <filesystem>

namespace weir::io {
namespace {

/// Writes `SOURCE TARGET [WEIGHT]` lines as they come.
class EdgeListWriter : public FormatWriter {
 public:
  EdgeListWriter(const std::string& path, const GraphHeader& header, char separator)
      : path_(path), file_(path), separator_(separator), is_weighted_(header.has_weights) {
    WEIR_EXPECT(!is_weighted_ || extension_of(path) != ".el", usage,
                path + ": .el files hold no edge values, use .wel");
  }

  void write(std::span<const Edge<double>> edges) override {
    for (const Edge<double>& edge : edges) {
      append_number(line_, edge.source);
      append_number(line_ += separator_, edge.target);
      finish_line(edge.value);
    }
  }

  void write(std::span<const NamedEdge<double>> edges) override {
    for (const NamedEdge<double>& edge : edges) {
      line_ += expect_writable(edge.source);
      (line_ += separator_) += expect_writable(edge.target);
      finish_line(edge.value);
    }
  }

  /// Edge lists have no place for vertices.
  void write_vertices(std::span<const VertexId>) override {}
  void write_vertices(std::span<const std::string>) override {}

  void commit() override { file_.commit(); }

 protected:
  /// The name, if it reads back as the same name.
  const std::string& expect_writable(const std::string& name) const {
    const bool is_comment = name.starts_with('#') || name.starts_with('%') ||
                            name.starts_with("//") || name.starts_with('"');
    const bool is_one_column = std::none_of(name.begin(), name.end(), [&](char c) {
      return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == ',';
    });
    WEIR_EXPECT(!name.empty() && !is_comment && is_one_column, usage,
                path_ + ": the name " + shown(name) + " cannot be written as text, use .weir");
    return name;
  }

 private:
  void finish_line(double value) {
    if (is_weighted_) append_number(line_ += separator_, value);
    file_.write(line_ += '\n');
    line_.clear();
  }

  std::string path_;
  OutputFile file_;
  char separator_;
  bool is_weighted_;
  std::string line_;
};

/// `x.v`, `x.e` and `x.properties`. The vertices include all end points.
class GraphalyticsWriter : public EdgeListWriter {
 public:
  GraphalyticsWriter(const std::string& path, const GraphHeader& header)
      : EdgeListWriter(path, header, ' '),
        header_(header),
        stem_(without_compression(path).substr(
            0, without_compression(path).size() - extension_of(path).size())),
        suffix_(path.substr(without_compression(path).size())),
        vertex_file_(stem_ + ".v" + suffix_),
        properties_file_(stem_ + ".properties") {
    WEIR_EXPECT(extension_of(path) != ".v" && extension_of(path) != ".properties", usage,
                path + ": a Graphalytics graph is named by its .e file");
  }

  void write(std::span<const Edge<double>> edges) override {
    EdgeListWriter::write(edges);
    num_edges_ += edges.size();
    for (const Edge<double>& edge : edges) {
      vertices_.push_back(edge.source);
      vertices_.push_back(edge.target);
    }
    if (vertices_.size() > sort_at_) sort(vertices_);
  }

  void write(std::span<const NamedEdge<double>> edges) override {
    EdgeListWriter::write(edges);
    num_edges_ += edges.size();
    for (const NamedEdge<double>& edge : edges) {
      names_.push_back(edge.source);
      names_.push_back(edge.target);
    }
    if (names_.size() > sort_at_) sort(names_);
  }

  void write_vertices(std::span<const VertexId> vertices) override {
    vertices_.insert(vertices_.end(), vertices.begin(), vertices.end());
  }
  void write_vertices(std::span<const std::string> vertices) override {
    names_.insert(names_.end(), vertices.begin(), vertices.end());
  }

  void commit() override {
    sort(vertices_);
    sort(names_);
    for (const VertexId id : vertices_) vertex_file_.write(std::to_string(id) + '\n');
    for (const std::string& name : names_) vertex_file_.write(expect_writable(name) + '\n');
    write_properties();
    EdgeListWriter::commit();
    vertex_file_.commit();
    properties_file_.commit();
  }

 private:
  template <class T>
  void sort(std::vector<T>& vertices) {
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    sort_at_ = std::max(sort_at_, 2 * vertices.size());
  }

  void write_properties() {
    const std::string name = std::filesystem::path(stem_).filename().string();
    auto properties = header_.properties;
    properties["vertex-file"] = name + ".v" + suffix_;
    properties["edge-file"] = name + ".e" + suffix_;
    properties["meta.vertices"] = std::to_string(vertices_.size() + names_.size());
    properties["meta.edges"] = std::to_string(num_edges_);
    properties["directed"] = header_.directed.value_or(true) ? "true" : "false";
    if (header_.has_weights) {
      properties["edge-properties.names"] = "weight";
      properties["edge-properties.types"] = "real";
    }
    for (const auto& [key, value] : properties) {
      properties_file_.write("graph." + name + '.' + key + " = " + value + '\n');
    }
  }

  GraphHeader header_;
  std::string stem_, suffix_;
  OutputFile vertex_file_, properties_file_;
  std::vector<VertexId> vertices_;
  std::vector<std::string> names_;
  std::uint64_t num_edges_ = 0;
  std::size_t sort_at_ = std::size_t{1} << 22;
};

}  // namespace

std::unique_ptr<FormatWriter> write_edge_list(const std::string& path, const GraphHeader& header) {
  const char separator = extension_of(path) == ".tsv" ? '\t' : ' ';
  return std::make_unique<EdgeListWriter>(path, header, separator);
}

std::unique_ptr<FormatWriter> write_csv(const std::string& path, const GraphHeader& header) {
  return std::make_unique<EdgeListWriter>(path, header, ',');
}

std::unique_ptr<FormatWriter> write_graphalytics(const std::string& path,
                                                 const GraphHeader& header) {
  return std::make_unique<GraphalyticsWriter>(path, header);
}

}  // namespace weir::io
