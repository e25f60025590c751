// SPDX-License-Identifier: Apache-2.0
#include <weir/io/metis_format.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/number_text.hpp>
#include <weir/io/output_file.hpp>

#include <algorithm>
#include <optional>

namespace weir::io {
namespace {

bool is_comment(std::string_view line) { return trimmed(line).starts_with('%'); }

class MetisReader : public FormatReader {
 public:
  explicit MetisReader(FileSet files);

  bool next_edges(std::vector<Edge<double>>& batch) override;
  using FormatReader::next_edges;
  void verify(const Tally& total) const override;

 private:
  void read_sizes(const Lines& lines);
  void read_format(const Lines& lines, std::string_view code, std::string_view constraints);
  std::uint64_t rows_before_part(LineStart body) const;
  bool open_row();

  std::uint64_t num_vertices_ = 0;
  std::uint64_t num_edges_ = 0;
  std::uint64_t values_per_vertex_ = 0;  ///< Numbers before the neighbors of a line.
  std::optional<Lines> lines_;
  VertexId row_ = 0;       ///< Vertex of the line at hand; before the first line, that before it.
  std::string_view rest_;  ///< What is left of it.
  EdgeOnce once_;
};

MetisReader::MetisReader(FileSet files) : FormatReader(std::move(files)) {
  header_.format = Format::metis;
  header_.directed = false;
  const Input& input = only_file();
  Lines lines(input);
  bool has_header = false;
  while (!has_header && lines.next()) {
    has_header = !trimmed(lines.text()).empty() && !is_comment(lines.text());
  }
  if (has_header) read_sizes(lines);
  header_.num_edges = num_edges_;
  set_vertices(1, num_vertices_);
  if (!has_header) return;  // a file without a word is the empty graph
  expect_weights();
  lines_.emplace(input, files_.part, lines.position());
  row_ = static_cast<VertexId>(rows_before_part(lines.position()));
}

void MetisReader::read_sizes(const Lines& lines) {
  constexpr std::string_view expected = "VERTICES EDGES [FORMAT [CONSTRAINTS]]";
  std::string_view rest = lines.text();
  num_vertices_ = read_count(lines, take_token(rest), expected);
  num_edges_ = read_count(lines, take_token(rest), expected);
  const std::string_view code = take_token(rest);
  const std::string_view constraints = take_token(rest);
  read_format(lines, code, constraints);
  if (!take_token(rest).empty()) lines.fail(shown(lines.text()), expected);
  const Input& input = only_file();
  const std::uint64_t most_unpacked = input.compression() == Compression::none ? 1 : 1u << 17;
  if (num_vertices_ > input.bytes().size() * most_unpacked) {
    lines.fail(std::to_string(num_vertices_) + " vertices in a file of " +
                   std::to_string(input.bytes().size()) + " bytes",
               "a line for each vertex");
  }
}

/// Three digits: vertex sizes, vertex weights, edge weights; leading zeros may be left out.
void MetisReader::read_format(const Lines& lines, std::string_view code,
                              std::string_view constraints) {
  if (code.size() > 3 || code.find_first_not_of("01") != std::string_view::npos) {
    lines.fail(shown(code), "a format of up to three digits 0 and 1");
  }
  const std::string digits = std::string(3 - code.size(), '0').append(code);
  const bool has_sizes = digits[0] == '1';
  const bool has_vertex_weights = digits[1] == '1';
  header_.has_weights = digits[2] == '1';
  std::uint64_t num_constraints = 1;
  if (!constraints.empty()) {
    constexpr std::string_view expected = "a number of weights per vertex, 1 to 100";
    num_constraints = read_count(lines, constraints, expected);
    if (num_constraints > 100) lines.fail(shown(constraints), expected);
  }
  values_per_vertex_ = (has_sizes ? 1 : 0) + (has_vertex_weights ? num_constraints : 0);
}

/// Lines stand for vertices by their position, so the lines before this part are counted.
std::uint64_t MetisReader::rows_before_part(LineStart body) const {
  std::uint64_t num_rows = 0;
  Part before;
  before.count = files_.part.count;
  const Input& input = only_file();
  if (input.compression() != Compression::none) return 0;
  for (; before.index < files_.part.index; ++before.index) {
    Lines lines(input, before, body);
    while (lines.next()) num_rows += is_comment(lines.text()) ? 0 : 1;
  }
  return num_rows;
}

bool MetisReader::open_row() {
  do {
    if (!lines_->next()) return false;
  } while (is_comment(lines_->text()));
  rest_ = trimmed(lines_->text());
  if (static_cast<std::uint64_t>(row_) >= num_vertices_) {
    if (rest_.empty()) return true;  // empty lines after the last vertex
    lines_->fail("a line after that of the last vertex",
                 std::to_string(num_vertices_) + " vertices");
  }
  ++row_;
  ++tally_.num_rows;
  for (std::uint64_t i = 0; i < values_per_vertex_ && !rest_.empty(); ++i) {
    const std::string_view token = take_token(rest_);
    if (!parse_finite(token)) lines_->fail(shown(token), "a vertex weight or size");
  }
  return true;
}

bool MetisReader::next_edges(std::vector<Edge<double>>& batch) {
  batch.clear();
  while (lines_ && batch.size() < batch_records) {
    const std::string_view token = take_token(rest_);
    if (token.empty()) {
      if (!open_row()) break;
      continue;
    }
    const VertexId neighbor = read_counted_id(*lines_, token);
    double weight = 1;
    if (header_.has_weights) {
      const std::string_view value = take_token(rest_);
      if (value.empty()) lines_->fail("no weight after neighbor " + shown(token), "a weight");
      if (files_.options.weighted) weight = read_weight(*lines_, value);
    }
    if (once_.keep(row_, neighbor, weight, tally_)) batch.push_back({row_, neighbor, weight});
  }
  return !batch.empty();
}

void MetisReader::verify(const Tally& total) const {
  verify_listed_twice(only_file(), num_edges_, total);
}

class MetisWriter : public CollectingWriter {
 public:
  using CollectingWriter::CollectingWriter;

  void commit() override {
    const std::uint64_t n = expect_counted_from_one();
    WEIR_EXPECT(header_.directed == false, usage,
                path_ + ": METIS files hold undirected graphs only");
    const std::uint64_t num_edges = edges_.size();
    for (std::size_t i = 0; i < num_edges; ++i) {
      const Edge<double> edge = edges_[i];
      edges_.push_back({edge.target, edge.source, edge.value});
    }
    std::stable_sort(edges_.begin(), edges_.end(),
                     [](const auto& a, const auto& b) { return a.source < b.source; });
    OutputFile file(path_);
    file.write(std::to_string(n) + ' ' + std::to_string(num_edges) +
               (header_.has_weights ? " 1\n" : "\n"));
    auto edge = edges_.begin();
    for (VertexId row = 1; row <= static_cast<VertexId>(n); ++row) {
      std::string text;
      for (; edge != edges_.end() && edge->source == row; ++edge) {
        append_number(text.empty() ? text : text += ' ', edge->target);
        if (header_.has_weights) append_number(text += ' ', edge->value);
      }
      file.write(text += '\n');
    }
    file.commit();
  }
};

}  // namespace

std::unique_ptr<FormatReader> read_metis(FileSet files) {
  return std::make_unique<MetisReader>(std::move(files));
}

std::unique_ptr<FormatWriter> write_metis(const std::string& path, const GraphHeader& header) {
  return std::make_unique<MetisWriter>(path, header);
}

}  // namespace weir::io
