// SPDX-License-Identifier: Apache-2.0
#include <weir/io/adjacency_format.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/json_vertex.hpp>
#include <weir/io/number_text.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::io {
namespace {

enum class Dialect { plain, counted, json };

bool is_skipped(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.empty() || text.front() == '#' || text.front() == '%';
}

std::uint64_t count_tokens(std::string_view text) {
  std::uint64_t count = 0;
  while (!take_token(text).empty()) ++count;
  return count;
}

/// `ID<tab>DEGREE NEIGHBOR...` with as many neighbors as it says.
bool is_counted(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || tab == 0) return false;
  std::string_view rest = line.substr(tab + 1);
  const auto degree = parse_integer(take_token(rest));
  return line.find_first_of(" \t") == tab && degree && *degree >= 0 &&
         static_cast<std::uint64_t>(*degree) == count_tokens(rest);
}

class AdjacencyReader : public FormatReader {
 public:
  explicit AdjacencyReader(FileSet files);

  bool next_edges(std::vector<Edge<double>>& batch) override;
  bool next_vertices(std::vector<VertexId>& batch) override;
  using FormatReader::next_edges;
  using FormatReader::next_vertices;

 private:
  static bool next_line(std::optional<Lines>& lines, std::size_t& next_file, const FileSet& files);
  VertexId open_row(const Lines& lines, std::string_view& rest) const;
  bool next_edge(Edge<double>& edge);

  Dialect dialect_ = Dialect::plain;
  std::optional<Lines> edge_lines_, vertex_lines_;
  std::size_t next_edge_file_ = 0, next_vertex_file_ = 0;
  VertexId row_ = 0;
  std::string_view rest_;                ///< What is left of the line at hand.
  JsonVertex json_{std::string_view{}};  ///< The same, of a json line.
  bool is_row_open_ = false;
};

AdjacencyReader::AdjacencyReader(FileSet files) : FormatReader(std::move(files)) {
  header_.format = Format::adjacency;
  header_.has_vertices = true;
  FileSet& opened = files_;
  const Part part = std::exchange(opened.part, Part{});  // look at the whole of the files
  std::optional<Lines> lines;
  std::size_t next_file = 0;
  if (next_line(lines, next_file, opened)) {
    const std::string_view line = trimmed(lines->text());
    if (is_counted(line)) dialect_ = Dialect::counted;
    if (line.front() == '[') dialect_ = Dialect::json;
    header_.has_weights = dialect_ == Dialect::json;
    expect_weights();
  }
  opened.part = part;
}

bool AdjacencyReader::next_line(std::optional<Lines>& lines, std::size_t& next_file,
                                const FileSet& files) {
  for (;;) {
    while (lines && lines->next()) {
      if (!is_skipped(lines->text())) return true;
    }
    if (next_file == files.edges.size()) return false;
    lines.emplace(files.edges[next_file++], files.part);
  }
}

/// Reads the vertex of a line; the rest is its neighbors.
VertexId AdjacencyReader::open_row(const Lines& lines, std::string_view& rest) const {
  rest = trimmed(lines.text());
  if (dialect_ == Dialect::json) {
    JsonVertex json(rest);
    std::string_view id;
    if (!json.open(id)) lines.fail(shown(json.rest()), "[ID,VALUE,[[TARGET,WEIGHT],...]]");
    return read_id(lines, id);
  }
  if (dialect_ == Dialect::counted && !is_counted(rest)) {
    lines.fail(shown(rest), "ID, tab, number of neighbors, neighbors, as in line 1");
  }
  const VertexId id = read_id(lines, take_token(rest));
  if (dialect_ == Dialect::counted) take_token(rest);
  return id;
}

/// The next edge of the open row; closes the row at its end.
bool AdjacencyReader::next_edge(Edge<double>& edge) {
  std::string_view target, weight;
  if (dialect_ == Dialect::json) {
    const JsonVertex::Step step = json_.next(target, weight);
    if (step == JsonVertex::Step::malformed) {
      edge_lines_->fail(shown(json_.rest()), "[TARGET,WEIGHT] or the end of the list");
    }
    is_row_open_ = step == JsonVertex::Step::edge;
  } else {
    target = take_token(rest_);
    is_row_open_ = !target.empty();
  }
  if (!is_row_open_) return false;
  edge = {row_, read_id(*edge_lines_, target),
          files_.options.weighted ? read_weight(*edge_lines_, weight) : 1.0};
  return true;
}

bool AdjacencyReader::next_edges(std::vector<Edge<double>>& batch) {
  batch.clear();
  Edge<double> edge;
  while (batch.size() < batch_records) {
    if (is_row_open_) {
      if (next_edge(edge)) batch.push_back(edge);
      continue;
    }
    if (!next_line(edge_lines_, next_edge_file_, files_)) break;
    row_ = open_row(*edge_lines_, rest_);
    json_ = JsonVertex(rest_);
    std::string_view id;
    if (dialect_ == Dialect::json) json_.open(id);
    is_row_open_ = true;
    ++tally_.num_rows;
  }
  return !batch.empty();
}

bool AdjacencyReader::next_vertices(std::vector<VertexId>& batch) {
  if (files_.options.num_vertices) return FormatReader::next_vertices(batch);
  batch.clear();
  std::string_view rest;
  while (batch.size() < batch_records && next_line(vertex_lines_, next_vertex_file_, files_)) {
    batch.push_back(open_row(*vertex_lines_, rest));
  }
  return !batch.empty();
}

}  // namespace

std::unique_ptr<FormatReader> read_adjacency(FileSet files) {
  return std::make_unique<AdjacencyReader>(std::move(files));
}

}  // namespace weir::io
