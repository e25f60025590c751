// SPDX-License-Identifier: Apache-2.0
#include <weir/io/edge_list_format.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/number_text.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace weir::io {
namespace {

/// Blank lines and lines that begin with `#`, `%` or `//`.
bool is_skipped(std::string_view line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line.empty() || line.front() == '#' || line.front() == '%' || line.starts_with("//");
}

/// Walks the lines with data of this part of some files.
class DataLines {
 public:
  DataLines(const std::vector<Input>& inputs, Part part, bool skip_first_line)
      : inputs_(inputs), part_(part), skip_first_line_(skip_first_line) {}

  bool next() {
    for (;;) {
      while (lines_ && lines_->next()) {
        if (!is_skipped(lines_->text())) return true;
      }
      if (next_input_ == inputs_.size()) return false;
      open(inputs_[next_input_++]);
    }
  }

  const Lines& line() const { return *lines_; }

 private:
  void open(const Input& input) {
    LineStart body;
    if (skip_first_line_) {
      Lines header(input);
      if (header.next()) body = header.position();
    }
    lines_.emplace(input, part_, body);
  }

  const std::vector<Input>& inputs_;
  Part part_;
  bool skip_first_line_;
  std::size_t next_input_ = 0;
  std::optional<Lines> lines_;
};

enum class Vertices { of_edges, listed, up_to_largest };

struct Style {
  Separator separator = Separator::blanks;
  bool find_separator = false;  ///< A comma in the first line of data makes it a comma.
  Vertices vertices = Vertices::of_edges;
};

class EdgeListReader : public FormatReader {
 public:
  EdgeListReader(FileSet files, Format format, Style style);

  bool next_edges(std::vector<Edge<double>>& batch) override;
  bool next_edges(std::vector<NamedEdge<double>>& batch) override;
  bool next_vertices(std::vector<VertexId>& batch) override;
  bool next_vertices(std::vector<std::string>& batch) override;

 private:
  struct Row {
    std::string_view source, target, weight;
  };

  void look_at_first_line();
  Row split(const Lines& lines) const;
  double weight_of(const Lines& lines, const Row& row) const;
  VertexId read_end_point(const Lines& lines, std::string_view token) const;
  std::string read_name(const Lines& lines, std::string_view token) const;
  void count_up_to_largest();

  Style style_;
  Separator vertex_separator_ = Separator::blanks;
  DataLines edge_lines_;
  DataLines vertex_lines_;
  bool knows_largest_ = false;
};

EdgeListReader::EdgeListReader(FileSet files, Format format, Style style)
    : FormatReader(std::move(files)),
      style_(style),
      edge_lines_(files_.edges, files_.part, files_.options.skip_header),
      vertex_lines_(files_.vertices, files_.part, false) {
  header_.format = format;
  if (!files_.vertices.empty()) header_.has_vertices = true;
  if (files_.options.string_ids && style_.vertices == Vertices::up_to_largest) {
    style_.vertices = Vertices::of_edges;
  }
  if (files_.options.num_vertices) style_.vertices = Vertices::of_edges;
  if (style_.vertices == Vertices::up_to_largest) header_.has_vertices = true;
  const auto directed = header_.properties.find("directed");
  if (directed != header_.properties.end()) header_.directed = directed->second == "true";
  look_at_first_line();
}

void EdgeListReader::look_at_first_line() {
  const bool find_separator = style_.find_separator && !files_.options.string_ids;
  DataLines vertices(files_.vertices, {}, false);
  if (find_separator && vertices.next() &&
      vertices.line().text().find(',') != std::string_view::npos) {
    vertex_separator_ = Separator::comma;
  }
  DataLines edges(files_.edges, {}, files_.options.skip_header);
  if (!edges.next()) return;
  const std::string_view line = edges.line().text();
  if (find_separator && line.find(',') != std::string_view::npos) {
    style_.separator = Separator::comma;
  }
  Columns columns(line, style_.separator);
  std::string_view column;
  for (int i = 0; i < 3; ++i) columns.next(column);
  header_.has_weights = !column.empty();
}

EdgeListReader::Row EdgeListReader::split(const Lines& lines) const {
  const bool at_blanks = style_.separator == Separator::blanks;
  Columns columns(lines.text(), style_.separator);
  Row row;
  if (!columns.next(row.source) || !columns.next(row.target)) {
    std::string expected = at_blanks ? "two ids split at blanks" : "two ids split at commas";
    if (lines.number() == 1 && !files_.options.skip_header) {
      expected += " (use --header if line 1 is not data)";
    }
    lines.fail(shown(trimmed(lines.text())), expected);
  }
  std::string_view time;
  std::string_view fifth;
  if (columns.next(row.weight) && at_blanks && columns.next(time) && columns.next(fifth)) {
    lines.fail(shown(fifth) + " in column 5", "at most source, target, weight and time");
  }
  return row;
}

double EdgeListReader::weight_of(const Lines& lines, const Row& row) const {
  return files_.options.weighted ? read_weight(lines, row.weight) : 1.0;
}

VertexId EdgeListReader::read_end_point(const Lines& lines, std::string_view token) const {
  const VertexId id = read_id(lines, token);
  constexpr VertexId largest = std::numeric_limits<std::int32_t>::max();
  if (style_.vertices == Vertices::up_to_largest && (id < 0 || id > largest)) {
    lines.fail("id " + std::to_string(id), "ids from 0 to 2147483647, the range of this format");
  }
  return id;
}

std::string EdgeListReader::read_name(const Lines& lines, std::string_view token) const {
  if (token.empty()) lines.fail("an empty name", "a name");
  if (token.front() == '"' && style_.separator == Separator::comma) {
    lines.fail("a quoted name", "a name without quotes");
  }
  for (const char c : token) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) lines.fail(shown(token), "text");
  }
  expect_listed(lines, token);
  return std::string(token);
}

bool EdgeListReader::next_edges(std::vector<Edge<double>>& batch) {
  batch.clear();
  while (batch.size() < batch_records && edge_lines_.next()) {
    const Lines& lines = edge_lines_.line();
    const Row row = split(lines);
    const VertexId source = read_end_point(lines, row.source);
    batch.push_back({source, read_end_point(lines, row.target), weight_of(lines, row)});
  }
  return !batch.empty();
}

bool EdgeListReader::next_edges(std::vector<NamedEdge<double>>& batch) {
  if (!files_.options.string_ids) return FormatReader::next_edges(batch);
  batch.clear();
  while (batch.size() < batch_records && edge_lines_.next()) {
    const Lines& lines = edge_lines_.line();
    const Row row = split(lines);
    std::string source = read_name(lines, row.source);
    batch.push_back({std::move(source), read_name(lines, row.target), weight_of(lines, row)});
  }
  return !batch.empty();
}

bool EdgeListReader::next_vertices(std::vector<VertexId>& batch) {
  if (style_.vertices == Vertices::up_to_largest) count_up_to_largest();
  if (style_.vertices != Vertices::listed) return FormatReader::next_vertices(batch);
  batch.clear();
  while (batch.size() < batch_records && vertex_lines_.next()) {
    const Lines& lines = vertex_lines_.line();
    std::string_view id;
    Columns(lines.text(), vertex_separator_).next(id);
    batch.push_back(read_id(lines, id));
  }
  return !batch.empty();
}

bool EdgeListReader::next_vertices(std::vector<std::string>& batch) {
  if (!files_.options.string_ids) return FormatReader::next_vertices(batch);
  batch.clear();
  while (batch.size() < batch_records && vertex_lines_.next()) {
    const Lines& lines = vertex_lines_.line();
    std::string_view name;
    Columns(lines.text(), vertex_separator_).next(name);
    batch.push_back(read_name(lines, name));
  }
  return !batch.empty();
}

/// The largest id is known after a walk over all files, which every part does for itself.
void EdgeListReader::count_up_to_largest() {
  if (knows_largest_) return;
  knows_largest_ = true;
  VertexId largest = -1;
  DataLines lines(files_.edges, {}, files_.options.skip_header);
  while (lines.next()) {
    const Row row = split(lines.line());
    largest = std::max(largest, read_end_point(lines.line(), row.source));
    largest = std::max(largest, read_end_point(lines.line(), row.target));
  }
  set_vertices(0, static_cast<std::uint64_t>(largest) + 1);
}

}  // namespace

std::unique_ptr<FormatReader> read_edge_list(FileSet files) {
  return std::make_unique<EdgeListReader>(std::move(files), Format::edges, Style{});
}

std::unique_ptr<FormatReader> read_csv(FileSet files) {
  return std::make_unique<EdgeListReader>(std::move(files), Format::csv,
                                          Style{.separator = Separator::comma});
}

std::unique_ptr<FormatReader> read_graphalytics(FileSet files) {
  const bool is_listed = !files.vertices.empty();
  return std::make_unique<EdgeListReader>(
      std::move(files), Format::graphalytics,
      Style{.find_separator = true, .vertices = is_listed ? Vertices::listed : Vertices::of_edges});
}

std::unique_ptr<FormatReader> read_gap_edge_list(FileSet files) {
  return std::make_unique<EdgeListReader>(std::move(files), Format::gap,
                                          Style{.vertices = Vertices::up_to_largest});
}

}  // namespace weir::io
