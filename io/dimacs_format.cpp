// SPDX-License-Identifier: Apache-2.0
#include <weir/io/dimacs_format.hpp>

#include <weir/io/number_text.hpp>
#include <weir/io/output_file.hpp>

#include <optional>

namespace weir::io {
namespace {

bool is_skipped(std::string_view line) {
  const std::string_view first = take_token(line);
  return first.empty() || first.front() == 'c';
}

class DimacsReader : public FormatReader {
 public:
  explicit DimacsReader(FileSet files);

  bool next_edges(std::vector<Edge<double>>& batch) override;
  using FormatReader::next_edges;
  void verify(const Tally& total) const override { verify_num_entries(total, *header_.num_edges); }

 private:
  void read_problem(const Lines& lines);
  Edge<double> read_arc() const;

  std::optional<Lines> lines_;
};

DimacsReader::DimacsReader(FileSet files) : FormatReader(std::move(files)) {
  header_.format = Format::dimacs;
  header_.directed = true;
  header_.has_weights = true;
  const Input& input = only_file();
  Lines lines(input);
  do {
    if (!lines.next()) lines.fail("no problem line", "p sp VERTICES ARCS");
  } while (is_skipped(lines.text()));
  read_problem(lines);
  lines_.emplace(input, files_.part, lines.position());
}

void DimacsReader::read_problem(const Lines& lines) {
  constexpr std::string_view expected = "p sp VERTICES ARCS";
  std::string_view rest = lines.text();
  const std::string_view p = take_token(rest);
  const std::string_view sp = take_token(rest);
  if (p != "p" || sp != "sp") lines.fail(shown(lines.text()), expected);
  const std::uint64_t num_vertices = read_count(lines, take_token(rest), expected);
  header_.num_edges = read_count(lines, take_token(rest), expected);
  if (!take_token(rest).empty()) lines.fail(shown(lines.text()), expected);
  set_vertices(1, num_vertices);
}

bool DimacsReader::next_edges(std::vector<Edge<double>>& batch) {
  batch.clear();
  while (batch.size() < batch_records && lines_->next()) {
    if (is_skipped(lines_->text())) continue;
    batch.push_back(read_arc());
    ++tally_.num_entries;
  }
  return !batch.empty();
}

Edge<double> DimacsReader::read_arc() const {
  std::string_view rest = lines_->text();
  if (take_token(rest) != "a") lines_->fail(shown(lines_->text()), "an arc: a FROM TO WEIGHT");
  Edge<double> arc;
  arc.source = read_counted_id(*lines_, take_token(rest));
  arc.target = read_counted_id(*lines_, take_token(rest));
  const std::string_view weight = take_token(rest);
  arc.value = files_.options.weighted ? read_weight(*lines_, weight) : 1.0;
  if (const auto extra = take_token(rest); !extra.empty()) {
    lines_->fail(shown(extra), "an arc: a FROM TO WEIGHT");
  }
  return arc;
}

/// Arcs only: an undirected edge is written as two, a loop as one.
class DimacsWriter : public CollectingWriter {
 public:
  using CollectingWriter::CollectingWriter;

  void commit() override {
    const std::uint64_t n = expect_counted_from_one();
    const bool is_undirected = header_.directed == false;
    std::uint64_t num_arcs = edges_.size();
    for (const Edge<double>& edge : edges_) {
      if (is_undirected && edge.source != edge.target) ++num_arcs;
    }
    OutputFile file(path_);
    file.write("p sp " + std::to_string(n) + ' ' + std::to_string(num_arcs) + '\n');
    for (const Edge<double>& edge : edges_) {
      file.write(arc(edge.source, edge.target, edge.value));
      if (is_undirected && edge.source != edge.target) {
        file.write(arc(edge.target, edge.source, edge.value));
      }
    }
    file.commit();
  }

 private:
  std::string arc(VertexId source, VertexId target, double value) const {
    std::string text = "a ";
    append_number(text, source);
    append_number(text += ' ', target);
    append_number(text += ' ', header_.has_weights ? value : 1.0);
    return text += '\n';
  }
};

}  // namespace

std::unique_ptr<FormatReader> read_dimacs(FileSet files) {
  return std::make_unique<DimacsReader>(std::move(files));
}

std::unique_ptr<FormatWriter> write_dimacs(const std::string& path, const GraphHeader& header) {
  return std::make_unique<DimacsWriter>(path, header);
}

}  // namespace weir::io
