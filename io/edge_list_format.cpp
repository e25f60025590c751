// SPDX-License-Identifier: Apache-2.0
#include <weir/io/edge_list_format.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/number_text.hpp>
#include <weir/io/plain_edges.hpp>

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

  /// Takes plain lines that come next in the file at hand, until the batch holds `most` edges.
  template <class E>
  void take_plain(const PlainLine& line, std::vector<Edge<E>>& batch, std::size_t most) {
    if (!lines_) return;
    const auto [begin, stop, end] = lines_->ahead();
    const PlainText taken = read_plain_edges(begin, stop, end, line, batch, most);
    lines_->step_over(taken.end, taken.num_lines);
  }

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

/// Ids have 31 bits where vertices go up to the largest.
constexpr VertexId largest_of_format = std::numeric_limits<std::int32_t>::max();

enum class Vertices { of_edges, listed, up_to_largest };

struct Style {
  Separator separator = Separator::blanks;
  bool find_separator = false;  ///< A comma in the first line of data makes it a comma.
  Vertices vertices = Vertices::of_edges;
};

class EdgeListReader : public FormatReader {
 public:
  EdgeListReader(FileSet files, Format format, Style style);

  bool next_edges(std::vector<Edge<double>>& batch) override { return read_edges(batch); }
  bool next_edges(std::vector<Edge<NoValue>>& batch) override { return read_edges(batch); }
  bool next_edges(std::vector<NamedEdge<double>>& batch) override;
  bool next_vertices(std::vector<VertexId>& batch) override;
  bool next_vertices(std::vector<std::string>& batch) override;

 private:
  struct Row {
    std::string_view source, target, weight;
  };

  template <class E>
  bool read_edges(std::vector<Edge<E>>& batch);
  template <class E>
  bool read_edges(DataLines& data, std::vector<Edge<E>>& batch) const;
  void look_at_first_line();
  Row split(const Lines& lines) const;
  double weight_of(const Lines& lines, const Row& row) const;
  VertexId read_end_point(const Lines& lines, std::string_view token) const;
  std::string read_name(const Lines& lines, std::string_view token) const;
  PlainLine plain_line() const;
  void find_largest();

  Style style_;
  Separator vertex_separator_ = Separator::blanks;
  DataLines edge_lines_;
  DataLines vertex_lines_;
  VertexId largest_ = -1;             ///< Of the ids read, where vertices go up to the largest.
  bool has_read_all_ = false;         ///< No edge of this part is left.
  bool has_listed_vertices_ = false;  ///< The list of vertices up to the largest has begun.
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
  if (style_.vertices == Vertices::up_to_largest && (id < 0 || id > largest_of_format)) {
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

PlainLine EdgeListReader::plain_line() const {
  PlainLine line{.separator = style_.separator == Separator::comma ? ',' : ' ',
                 .largest = std::numeric_limits<VertexId>::max(),
                 .is_weighted = files_.options.weighted,
                 .non_negative = files_.options.non_negative};
  if (files_.options.num_vertices)
    line.largest = static_cast<VertexId>(*files_.options.num_vertices) - 1;
  if (style_.vertices == Vertices::up_to_largest) line.largest = largest_of_format;
  if (!files_.options.unlisted_vertex.empty()) line.largest = -1;  // every id is to be looked at
  return line;
}

/// Plain lines go a fast way; each other line goes the way that knows all shapes and all errors.
template <class E>
bool EdgeListReader::read_edges(DataLines& data, std::vector<Edge<E>>& batch) const {
  batch.clear();
  const PlainLine plain = plain_line();
  for (;;) {
    data.take_plain(plain, batch, batch_records);
    if (batch.size() == batch_records || !data.next()) return !batch.empty();
    const Lines& lines = data.line();
    const Row row = split(lines);
    const VertexId source = read_end_point(lines, row.source);
    const VertexId target = read_end_point(lines, row.target);
    const double weight = weight_of(lines, row);
    if constexpr (std::is_same_v<E, NoValue>) {
      batch.push_back({source, target, {}});
    } else {
      batch.push_back({source, target, weight});
    }
  }
}

template <class E>
bool EdgeListReader::read_edges(std::vector<Edge<E>>& batch) {
  has_read_all_ = !read_edges(edge_lines_, batch);
  if (style_.vertices == Vertices::up_to_largest) {
    for (const auto& edge : batch) largest_ = std::max({largest_, edge.source, edge.target});
  }
  return !has_read_all_;
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
  if (style_.vertices == Vertices::up_to_largest) find_largest();
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

/// Lists 0 to the largest id of this part; what all parts list goes up to the largest of all. Where
/// the edges are still to be read, it takes a walk over them.
void EdgeListReader::find_largest() {
  if (has_listed_vertices_) return;
  has_listed_vertices_ = true;
  if (!has_read_all_) {
    DataLines data(files_.edges, files_.part, files_.options.skip_header);
    std::vector<Edge<NoValue>> batch;
    while (read_edges(data, batch)) {
      for (const auto& edge : batch) largest_ = std::max({largest_, edge.source, edge.target});
    }
  }
  list_up_to(largest_);
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
