// SPDX-License-Identifier: Apache-2.0
#include <weir/io/matrix_market_format.hpp>

#include <weir/io/number_text.hpp>
#include <weir/io/output_file.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace weir::io {
namespace {

enum class Symmetry { general, symmetric, skew };

std::string lower_case(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_skipped(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.empty() || text.front() == '%';
}

class MatrixMarketReader : public FormatReader {
 public:
  explicit MatrixMarketReader(FileSet files);

  bool next_edges(std::vector<Edge<double>>& batch) override;
  using FormatReader::next_edges;
  void verify(const Tally& total) const override { verify_num_entries(total, num_entries_); }

 private:
  void read_banner(const Lines& lines);
  void read_size(const Lines& lines);
  void read_entry(std::vector<Edge<double>>& batch);

  bool is_pattern_ = false;
  Symmetry symmetry_ = Symmetry::general;
  std::uint64_t num_entries_ = 0;
  std::optional<Lines> lines_;
};

MatrixMarketReader::MatrixMarketReader(FileSet files) : FormatReader(std::move(files)) {
  header_.format = Format::matrix_market;
  const Input& input = only_file();
  Lines lines(input);
  if (!lines.next()) lines.fail("an empty file", "%%MatrixMarket matrix coordinate ...");
  read_banner(lines);
  do {
    if (!lines.next()) lines.fail("the end of the file", "a line with rows, columns and entries");
  } while (is_skipped(lines.text()));
  read_size(lines);
  lines_.emplace(input, files_.part, lines.position());
}

void MatrixMarketReader::read_banner(const Lines& lines) {
  std::string_view rest = lines.text();
  std::array<std::string, 5> words;
  for (std::string& word : words) word = lower_case(take_token(rest));
  const auto expect = [&](bool holds, const std::string& found, const char* expected) {
    if (!holds) lines.fail(shown(found), expected);
  };
  if (words[0] != "%%matrixmarket") {
    lines.fail(shown(lines.text()), "%%MatrixMarket matrix coordinate ...");
  }
  expect(words[1] == "matrix", words[1], "matrix");
  expect(words[2] == "coordinate", words[2], "coordinate (a graph is a sparse matrix)");
  is_pattern_ = words[3] == "pattern";
  expect(is_pattern_ || words[3] == "real" || words[3] == "integer" || words[3] == "double",
         words[3], "real, integer or pattern");
  expect(words[4] == "general" || words[4] == "symmetric" || words[4] == "skew-symmetric", words[4],
         "general, symmetric or skew-symmetric");
  if (words[4] == "symmetric") symmetry_ = Symmetry::symmetric;
  if (words[4] == "skew-symmetric") symmetry_ = Symmetry::skew;
  expect(symmetry_ != Symmetry::skew || !is_pattern_, words[3],
         "real or integer in a skew-symmetric matrix");
  header_.directed = symmetry_ != Symmetry::symmetric;
  header_.has_weights = !is_pattern_;  // a weighted reading of a pattern gives 1 everywhere
}

void MatrixMarketReader::read_size(const Lines& lines) {
  constexpr std::string_view expected = "three numbers: rows, columns and entries";
  std::string_view rest = lines.text();
  std::array<std::uint64_t, 3> sizes{};
  for (std::uint64_t& size : sizes) size = read_count(lines, take_token(rest), expected);
  if (!take_token(rest).empty()) lines.fail(shown(lines.text()), expected);
  const auto [rows, columns, entries] = sizes;
  if (rows != columns) {
    lines.fail(std::to_string(rows) + " rows and " + std::to_string(columns) + " columns",
               "a square matrix");
  }
  num_entries_ = entries;
  header_.num_edges = symmetry_ == Symmetry::skew ? 2 * entries : entries;
  set_vertices(1, rows);
}

bool MatrixMarketReader::next_edges(std::vector<Edge<double>>& batch) {
  batch.clear();
  while (batch.size() + 2 <= batch_records && lines_->next()) {
    if (!is_skipped(lines_->text())) read_entry(batch);
  }
  return !batch.empty();
}

void MatrixMarketReader::read_entry(std::vector<Edge<double>>& batch) {
  std::string_view rest = lines_->text();
  const VertexId row = read_counted_id(*lines_, take_token(rest));
  const VertexId column = read_counted_id(*lines_, take_token(rest));
  double value = 1;
  if (!is_pattern_) {
    const std::string_view token = take_token(rest);
    if (token.empty()) lines_->fail("no value", "row, column and value");
    if (files_.options.weighted) value = read_weight(*lines_, token);
  }
  if (const auto extra = take_token(rest); !extra.empty()) {
    lines_->fail(shown(extra), is_pattern_ ? "row and column only" : "row, column and value only");
  }
  ++tally_.num_entries;
  batch.push_back({row, column, value});
  if (symmetry_ != Symmetry::skew) return;
  if (row == column) lines_->fail("an entry on the diagonal", "none in a skew-symmetric matrix");
  batch.push_back({column, row, files_.options.weighted ? -value : value});
}

class MatrixMarketWriter : public CollectingWriter {
 public:
  using CollectingWriter::CollectingWriter;

  void commit() override {
    const std::uint64_t n = expect_counted_from_one();
    const bool is_undirected = header_.directed == false;
    OutputFile file(path_);
    std::string text = "%%MatrixMarket matrix coordinate ";
    text += header_.has_weights ? "real " : "pattern ";
    text += is_undirected ? "symmetric\n" : "general\n";
    append_line(text, n, n, edges_.size());
    for (const Edge<double>& edge : edges_) {
      const VertexId low = std::min(edge.source, edge.target);
      const VertexId high = std::max(edge.source, edge.target);
      append_number(text, is_undirected ? high : edge.source);  // the lower triangle is stored
      text += ' ';
      append_number(text, is_undirected ? low : edge.target);
      if (header_.has_weights) append_number(text += ' ', edge.value);
      file.write(text += '\n');
      text.clear();
    }
    file.write(text);
    file.commit();
  }

 private:
  static void append_line(std::string& text, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    append_number(text, a);
    append_number(text += ' ', b);
    append_number(text += ' ', c);
    text += '\n';
  }
};

}  // namespace

std::unique_ptr<FormatReader> read_matrix_market(FileSet files) {
  return std::make_unique<MatrixMarketReader>(std::move(files));
}

std::unique_ptr<FormatWriter> write_matrix_market(const std::string& path,
                                                  const GraphHeader& header) {
  return std::make_unique<MatrixMarketWriter>(path, header);
}

}  // namespace weir::io
