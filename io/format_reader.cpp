// SPDX-License-Identifier: Apache-2.0
#include <weir/io/format_reader.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/indexed_random.hpp>
#include <weir/io/number_text.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace weir::io {

FormatReader::FormatReader(FileSet files) : files_(std::move(files)) {
  header_.properties = files_.properties;
  if (files_.options.num_vertices) set_vertices(0, *files_.options.num_vertices);
}

void FormatReader::set_vertices(VertexId first, std::uint64_t count) {
  if (first == 1) num_counted_ = static_cast<VertexId>(count);
  if (files_.options.num_vertices) {
    first = 0;
    count = *files_.options.num_vertices;
  }
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<VertexId>::max()) - 1;
  WEIR_EXPECT(count <= most, usage, "num_vertices: found more than 2^63 - 2 vertices");
  header_.has_vertices = true;
  header_.num_vertices = count;
  next_vertex_ = first + static_cast<VertexId>(files_.part.begin_of(count));
  end_vertex_ = first + static_cast<VertexId>(files_.part.end_of(count));
}

void FormatReader::list_up_to(VertexId largest) {
  next_vertex_ = 0;
  end_vertex_ = largest + 1;
}

bool FormatReader::next_edges(std::vector<Edge<NoValue>>& batch) {
  next_edges(valued_edges_);
  batch.resize(valued_edges_.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    batch[i].source = valued_edges_[i].source;
    batch[i].target = valued_edges_[i].target;
  }
  return !batch.empty();
}

bool FormatReader::next_vertices(std::vector<VertexId>& batch) {
  batch.clear();
  while (next_vertex_ < end_vertex_ && batch.size() < batch_records) {
    batch.push_back(next_vertex_++);
  }
  return !batch.empty();
}

bool FormatReader::next_edges(std::vector<NamedEdge<double>>& batch) {
  batch.clear();
  next_edges(valued_edges_);
  for (const Edge<double>& edge : valued_edges_) {
    batch.push_back({std::to_string(edge.source), std::to_string(edge.target), edge.value});
  }
  return !batch.empty();
}

bool FormatReader::next_vertices(std::vector<std::string>& batch) {
  batch.clear();
  next_vertices(unnamed_vertices_);
  for (const VertexId id : unnamed_vertices_) batch.push_back(std::to_string(id));
  return !batch.empty();
}

void FormatReader::verify(const Tally&) const {}

const Input& FormatReader::only_file() const {
  WEIR_EXPECT(
      files_.edges.size() == 1, input,
      files_.edges.at(1).name() + ": found a second file; expected one file of this format");
  return files_.edges.front();
}

void FormatReader::expect_declared(const Lines& lines, VertexId id) const {
  const auto& count = files_.options.num_vertices;
  if (!count || (id >= 0 && static_cast<std::uint64_t>(id) < *count)) return;
  lines.fail("id " + std::to_string(id), "an id in [0," + std::to_string(*count) + ")");
}

void FormatReader::expect_declared(const Input& input, VertexId id) const {
  const auto& count = files_.options.num_vertices;
  if (!count || (id >= 0 && static_cast<std::uint64_t>(id) < *count)) return;
  input.fail("id " + std::to_string(id), "an id in [0," + std::to_string(*count) + ")");
}

VertexId FormatReader::read_id(const Lines& lines, std::string_view token) const {
  const auto id = parse_integer(token);
  if (!id) {
    const bool may_be_header = lines.number() == 1 && !files_.options.skip_header;
    lines.fail(token.empty() ? "no id" : shown(token),
               may_be_header ? "an integer id (use --ids string for names, --header if line 1 is "
                               "not data)"
                             : "an integer id (use --ids string for names)");
  }
  expect_declared(lines, *id);
  if (!files_.options.unlisted_vertex.empty()) expect_listed(lines, std::to_string(*id));
  return *id;
}

VertexId FormatReader::read_counted_id(const Lines& lines, std::string_view token) const {
  const auto id = parse_integer(token);
  if (!id || *id < 1 || *id > num_counted_) {
    lines.fail(token.empty() ? "no id" : shown(token),
               "an id from 1 to " + std::to_string(num_counted_));
  }
  expect_declared(lines, *id);
  return *id;
}

std::uint64_t FormatReader::read_count(const Lines& lines, std::string_view token,
                                       std::string_view expected) {
  const auto count = parse_integer(token);
  constexpr VertexId most = VertexId{1} << 62;
  if (!count || *count < 0 || *count > most) {
    lines.fail(token.empty() ? shown(trimmed(lines.text())) : shown(token), expected);
  }
  return static_cast<std::uint64_t>(*count);
}

void FormatReader::verify_num_entries(const Tally& total, std::uint64_t promised) const {
  if (total.num_entries == promised) return;
  only_file().fail(std::to_string(total.num_entries) + " entries",
                   std::to_string(promised) + " as the header says");
}

void FormatReader::expect_listed(const Lines& lines, std::string_view vertex) const {
  if (files_.options.unlisted_vertex.empty() || vertex != files_.options.unlisted_vertex) return;
  const std::string name = files_.options.string_ids ? shown(vertex) : std::string(vertex);
  lines.fail("an edge at vertex " + name, "only vertices of the vertex list");
}

double FormatReader::read_weight(const Lines& lines, std::string_view token) const {
  if (token.empty()) lines.fail("no edge value", "a weight after the two ids");
  const auto weight = parse_finite(token);
  if (!weight) lines.fail(shown(token), "a finite decimal weight");
  if (files_.options.non_negative && *weight < 0) lines.fail(shown(token), "a weight of 0 or more");
  return *weight;
}

void FormatReader::expect_weights() const {
  WEIR_EXPECT(!files_.options.weighted || header_.has_weights, input,
              files_.edges.front().name() + ": found no edge values; expected weights");
}

bool EdgeOnce::keep(VertexId row, VertexId neighbor, double weight, Tally& tally) {
  ++tally.num_entries;
  bool is_first = row < neighbor;
  if (row == neighbor) {
    is_loop_open_ = row != loop_row_ || !is_loop_open_;
    loop_row_ = row;
    is_first = is_loop_open_;
  }
  const auto low = static_cast<std::uint64_t>(std::min(row, neighbor));
  const auto high = static_cast<std::uint64_t>(std::max(row, neighbor));
  const std::uint64_t print =
      mix_bits(mix_bits(mix_bits(low) + high) + std::bit_cast<std::uint64_t>(weight));
  (is_first ? tally.first_halves : tally.second_halves) += print;
  return is_first;
}

void verify_listed_twice(const Input& input, std::uint64_t num_edges, const Tally& total) {
  const std::string edges = std::to_string(num_edges) + " edges";
  if (total.num_entries != 2 * num_edges) {
    const bool is_once = total.num_entries <= num_edges && total.num_entries > 0;
    input.fail(std::to_string(total.num_entries) + " neighbor entries" +
                   (is_once ? " (it seems to list each edge only once)" : ""),
               std::to_string(2 * num_edges) + ": each of the " + edges +
                   " in the lists of both its end points");
  }
  if (total.first_halves != total.second_halves) {
    input.fail("edges listed at one end point only, or with two weights",
               "each of the " + edges + " alike in the lists of both its end points");
  }
}

}  // namespace weir::io
