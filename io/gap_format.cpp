// SPDX-License-Identifier: Apache-2.0
#include <weir/io/gap_format.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/edge_list_format.hpp>

#include <algorithm>
#include <cstring>

namespace weir::io {
namespace {

/// A serialized graph: `bool directed; int64 m; int64 n;` then `int64 offsets[n + 1]` and m
/// neighbors: int32, or pairs of int32 neighbor and weight. A directed graph repeats offsets and
/// neighbors for the incoming side. An undirected one lists every edge at both ends.
class GapReader : public FormatReader {
 public:
  explicit GapReader(FileSet files);

  bool next_edges(std::vector<Edge<double>>& batch) override;
  using FormatReader::next_edges;
  void verify(const Tally& total) const override;

 private:
  static constexpr std::size_t sizes_at = 1;
  static constexpr std::size_t offsets_at = 17;

  template <class T>
  T load(std::size_t offset) const {  // nothing in the file is aligned
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::uint64_t offset_of(std::uint64_t row) const {
    return load<std::uint64_t>(offsets_at + 8 * row);
  }
  void expect_size(std::uint64_t num_vertices, std::uint64_t num_arcs);
  std::uint64_t row_of(std::uint64_t arc) const;
  void open_row();

  std::string_view bytes_;
  std::uint64_t num_vertices_ = 0;
  std::uint64_t num_arcs_ = 0;
  std::size_t neighbors_at_ = 0;
  std::uint64_t row_ = 0, end_row_ = 0;  ///< Rows still to be read.
  std::uint64_t arc_ = 0, end_arc_ = 0;  ///< Arcs of the row before row_ still to be read.
  EdgeOnce once_;
};

GapReader::GapReader(FileSet files) : FormatReader(std::move(files)) {
  header_.format = Format::gap;
  const Input& input = only_file();
  WEIR_EXPECT(input.compression() == Compression::none, input,
              input.name() + ": found a compressed file; expected a serialized graph as it is");
  bytes_ = input.bytes();
  WEIR_EXPECT(bytes_.size() >= offsets_at + 8, input,
              input.name() + ": found " + std::to_string(bytes_.size()) +
                  " bytes; expected a serialized graph");
  const auto directed = load<unsigned char>(0);
  if (directed > 1) {
    input.fail("first byte " + std::to_string(directed), "0 or 1 (undirected or directed)");
  }
  header_.directed = directed == 1;
  num_arcs_ = load<std::uint64_t>(sizes_at);
  num_vertices_ = load<std::uint64_t>(sizes_at + 8);
  expect_size(num_vertices_, num_arcs_);
  expect_weights();
  if (offset_of(0) != 0 || offset_of(num_vertices_) != num_arcs_) {
    input.fail("offsets " + std::to_string(offset_of(0)) + " to " +
                   std::to_string(offset_of(num_vertices_)),
               "0 to " + std::to_string(num_arcs_));
  }
  set_vertices(0, num_vertices_);
  header_.num_edges = *header_.directed ? num_arcs_ : num_arcs_ / 2;
  row_ = row_of(files_.part.begin_of(num_arcs_ + 1));
  end_row_ = files_.part.index + 1 == files_.part.count ? num_vertices_
                                                        : row_of(files_.part.end_of(num_arcs_ + 1));
}

/// The file size tells weighted from unweighted, and any other size is refused.
void GapReader::expect_size(std::uint64_t num_vertices, std::uint64_t num_arcs) {
  __extension__ using Wide = unsigned __int128;
  const Wide sides = *header_.directed ? 2 : 1;
  const auto size_with = [&](unsigned arc_bytes) {
    return Wide{offsets_at} + sides * ((Wide{num_vertices} + 1) * 8 + Wide{num_arcs} * arc_bytes);
  };
  const Input& input = only_file();
  const bool is_weighted_name = without_compression(input.name()).ends_with(".wsg");
  const bool fits_plain = size_with(4) == bytes_.size();
  const bool fits_weighted = size_with(8) == bytes_.size();
  if (!fits_plain && !fits_weighted) {
    input.fail(std::to_string(bytes_.size()) + " bytes",
               "a serialized graph of " + std::to_string(num_vertices) + " vertices and " +
                   std::to_string(num_arcs) + " arcs");
  }
  header_.has_weights = fits_weighted && (!fits_plain || is_weighted_name);
  neighbors_at_ = offsets_at + 8 * (num_vertices + 1);
}

/// The first row whose arcs begin at or after `arc`; the order of the offsets is checked later.
std::uint64_t GapReader::row_of(std::uint64_t arc) const {
  std::uint64_t low = 0, high = num_vertices_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (offset_of(middle) < arc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void GapReader::open_row() {
  arc_ = offset_of(row_);
  end_arc_ = offset_of(row_ + 1);
  if (arc_ > end_arc_ || end_arc_ > num_arcs_) {
    only_file().fail("offsets " + std::to_string(arc_) + " to " + std::to_string(end_arc_) +
                         " of vertex " + std::to_string(row_),
                     "offsets that ascend to " + std::to_string(num_arcs_));
  }
  ++row_;
  ++tally_.num_rows;
}

bool GapReader::next_edges(std::vector<Edge<double>>& batch) {
  batch.clear();
  const std::size_t arc_bytes = header_.has_weights ? 8 : 4;
  while (batch.size() < batch_records) {
    if (arc_ == end_arc_) {
      if (row_ >= end_row_) break;
      open_row();
      continue;
    }
    const std::size_t at = neighbors_at_ + arc_bytes * arc_++;
    const auto source = static_cast<VertexId>(row_ - 1);
    const auto target = load<std::int32_t>(at);
    if (target < 0 || static_cast<std::uint64_t>(target) >= num_vertices_) {
      only_file().fail(
          "neighbor " + std::to_string(target) + " of vertex " + std::to_string(source),
          "a vertex below " + std::to_string(num_vertices_));
    }
    expect_declared(only_file(), std::max<VertexId>(source, target));
    const double weight = files_.options.weighted ? load<std::int32_t>(at + 4) : 1.0;
    if (*header_.directed) {
      ++tally_.num_entries;
      batch.push_back({source, target, weight});
    } else if (once_.keep(source, target, weight, tally_)) {
      batch.push_back({source, target, weight});
    }
  }
  return !batch.empty();
}

void GapReader::verify(const Tally& total) const {
  if (*header_.directed) {
    verify_num_entries(total, num_arcs_);
  } else {
    verify_listed_twice(only_file(), num_arcs_ / 2, total);
  }
}

}  // namespace

std::unique_ptr<FormatReader> read_gap(FileSet files) {
  const std::string_view name = without_compression(files.edges.front().name());
  if (!name.ends_with(".sg") && !name.ends_with(".wsg")) {
    return read_gap_edge_list(std::move(files));
  }
  return std::make_unique<GapReader>(std::move(files));
}

}  // namespace weir::io
