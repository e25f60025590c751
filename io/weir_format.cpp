// SPDX-License-Identifier: Apache-2.0
#include <weir/io/weir_format.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/output_file.hpp>
#include <weir/io/weir_layout.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace weir::io {
namespace {

/// Reads the lists as edges: each with the vertex of its list as target, or undirected as source.
class WeirReader : public FormatReader {
 public:
  explicit WeirReader(FileSet files);

  bool next_edges(std::vector<Edge<double>>& batch) override { return next_edges_by_id(batch); }
  bool next_edges(std::vector<Edge<NoValue>>& batch) override { return next_edges_by_id(batch); }
  bool next_edges(std::vector<NamedEdge<double>>& batch) override;
  bool next_vertices(std::vector<VertexId>& batch) override;
  bool next_vertices(std::vector<std::string>& batch) override;
  WeirFile* sorted_lists() override;
  void verify(const Tally& total) const override;

 private:
  template <class E, class F>
  bool next_edges_of(std::vector<Edge<E>>& batch, const F& id_of);
  template <class E>
  bool next_edges_by_id(std::vector<Edge<E>>& batch);
  template <class Index, class E, class F>
  void take_list(std::vector<Edge<E>>& batch, const F& id_of);
  template <class Index>
  void expect_order();
  void begin_edges();
  std::uint64_t row_of(std::uint64_t arc);
  bool open_row();
  double weight_at(std::uint64_t arc);
  void forget_read();
  VertexId id_at(std::uint64_t position);
  std::string name_at(std::uint64_t position);

  WeirFile file_;
  std::uint64_t num_vertices_;
  bool has_begun_ = false;
  std::uint64_t row_ = 0, end_row_ = 0;  ///< Rows still to be read.
  std::uint64_t arc_ = 0, end_arc_ = 0;  ///< Entries of the row before row_ still to be read.
  std::uint64_t kept_ = 0;               ///< Entries before it are no longer held in memory.
  EdgeOnce once_;
  std::uint64_t vertex_, end_vertex_;  ///< Vertices still to be listed.
  std::span<const VertexId> ids_;
  std::vector<Edge<double>> positions_;
};

const Input& plain(const Input& input) {
  WEIR_EXPECT(input.compression() == Compression::none, input,
              input.name() + ": found a compressed file; expected a .weir file as it is");
  return input;
}

WeirReader::WeirReader(FileSet files)
    : FormatReader(std::move(files)),
      file_(plain(only_file())),
      num_vertices_(file_.header().num_vertices),
      vertex_(files_.part.begin_of(num_vertices_)),
      end_vertex_(files_.part.end_of(num_vertices_)) {
  header_.format = Format::weir;
  header_.directed = file_.has(WeirHeader::is_directed);
  header_.has_weights = file_.has(WeirHeader::is_weighted);
  header_.has_vertices = true;
  if (!files_.options.num_vertices) header_.num_vertices = num_vertices_;
  header_.num_edges = file_.header().num_edges;
  expect_weights();
  const bool is_named = file_.has(WeirHeader::has_names);
  WEIR_EXPECT(!is_named || files_.options.string_ids, input,
              only_file().name() +
                  ": found vertices named by strings; expected integer ids (use "
                  "--ids string for names)");
  if (!is_named && !file_.has(WeirHeader::is_dense)) {
    ids_ = file_.read<VertexId>(file_.header().ids, 0, num_vertices_);
    const auto repeat = std::adjacent_find(ids_.begin(), ids_.end(), std::greater_equal<>());
    if (repeat != ids_.end()) file_.fail("ids that do not ascend", "a sorted list of vertices");
  }
}

WeirFile* WeirReader::sorted_lists() {
  return files_.options.num_vertices || files_.options.string_ids ? nullptr : &file_;
}

/// The first row whose list begins at or after `arc`; the order of the offsets is checked later.
std::uint64_t WeirReader::row_of(std::uint64_t arc) {
  std::uint64_t low = 0, high = num_vertices_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (file_.read<std::uint64_t>(file_.header().offsets, middle, middle + 1)[0] < arc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Finds this part's rows.
void WeirReader::begin_edges() {
  if (has_begun_) return;
  has_begun_ = true;
  const WeirHeader& header = file_.header();
  const std::uint64_t num_arcs = file_.num_arcs();
  const auto first = file_.read<std::uint64_t>(header.offsets, 0, 1)[0];
  const auto last = file_.read<std::uint64_t>(header.offsets, num_vertices_, num_vertices_ + 1)[0];
  if (first != 0 || last != num_arcs) {
    file_.fail("offsets from " + std::to_string(first) + " to " + std::to_string(last),
               "0 to " + std::to_string(num_arcs));
  }
  header.index_bytes == 4 ? expect_order<std::uint32_t>() : expect_order<std::uint64_t>();
  const bool is_last = files_.part.index + 1 == files_.part.count;
  row_ = row_of(files_.part.begin_of(num_arcs + 1));
  end_row_ = is_last ? num_vertices_ : row_of(files_.part.end_of(num_arcs + 1));
  if (row_ < num_vertices_) {
    kept_ = file_.read<std::uint64_t>(header.offsets, row_, row_ + 1)[0];
  }
}

/// Throws unless the order names each vertex once.
template <class Index>
void WeirReader::expect_order() {
  std::vector<bool> is_named(num_vertices_);
  for (const Index position : file_.read<Index>(file_.header().order, 0, num_vertices_)) {
    if (position >= num_vertices_ || is_named[position]) {
      file_.fail("an order of other vertices", "each vertex once");
    }
    is_named[position] = true;
  }
}

/// Steps to the next row of this part that has entries left; false at the end.
bool WeirReader::open_row() {
  begin_edges();
  while (arc_ == end_arc_) {
    if (row_ >= end_row_) return false;
    const auto ends = file_.read<std::uint64_t>(file_.header().offsets, row_, row_ + 2);
    if (ends[1] < ends[0] || ends[1] > file_.num_arcs()) {
      file_.fail("offsets that do not ascend", "a range of entries for each vertex");
    }
    arc_ = ends[0];
    end_arc_ = ends[1];
    ++row_;
  }
  return true;
}

/// Adds edges of the row that is open, until its end or until the batch is full.
template <class Index, class E, class F>
void WeirReader::take_list(std::vector<Edge<E>>& batch, const F& id_of) {
  const WeirHeader& header = file_.header();
  const bool is_directed = *header_.directed;
  const std::uint64_t end = std::min<std::uint64_t>(end_arc_, arc_ + batch_records - batch.size());
  const auto order = file_.read<Index>(header.order, 0, num_vertices_);
  const VertexId own = id_of(row_ - 1);
  const std::uint64_t first = arc_;
  for (const Index number : file_.read<Index>(header.neighbours, first, end)) {
    if (number >= num_vertices_) {
      file_.fail("neighbour " + std::to_string(number),
                 "a number below " + std::to_string(num_vertices_));
    }
    const VertexId other = id_of(order[number]);
    const double weight = weight_at(arc_++);
    Edge<E> edge{other, own, {}};
    if constexpr (!std::is_same_v<E, NoValue>) edge.value = weight;
    if (is_directed) {
      ++tally_.num_entries;
      batch.push_back(edge);
    } else if (once_.keep(own, other, weight, tally_)) {
      std::swap(edge.source, edge.target);
      batch.push_back(edge);
    }
  }
}

/// Replaces the batch with the next edges; `id_of` tells an end point by its position.
template <class E, class F>
bool WeirReader::next_edges_of(std::vector<Edge<E>>& batch, const F& id_of) {
  batch.clear();
  while (batch.size() < batch_records && open_row()) {
    if (file_.header().index_bytes == 4) {
      take_list<std::uint32_t>(batch, id_of);
    } else {
      take_list<std::uint64_t>(batch, id_of);
    }
  }
  forget_read();
  return !batch.empty();
}

/// Nothing before this part's next entry is read again by it; the pages go in pieces.
void WeirReader::forget_read() {
  constexpr std::uint64_t piece_arcs = std::uint64_t{1} << 20;
  if (arc_ < kept_ + piece_arcs) return;
  const WeirHeader& header = file_.header();
  file_.forget<char>(header.neighbours, kept_ * header.index_bytes, arc_ * header.index_bytes);
  const std::uint64_t weight_bytes = width_of(header.weight_type);
  file_.forget<char>(header.weights, kept_ * weight_bytes, arc_ * weight_bytes);
  kept_ = arc_;
}

double WeirReader::weight_at(std::uint64_t arc) {
  const auto take = [&](auto weight) {
    return static_cast<double>(
        file_.read<decltype(weight)>(file_.header().weights, arc, arc + 1)[0]);
  };
  switch (files_.options.weighted ? file_.header().weight_type : WeightType::none) {
    case WeightType::none: break;
    case WeightType::u8: return take(std::uint8_t{});
    case WeightType::u16: return take(std::uint16_t{});
    case WeightType::u32: return take(std::uint32_t{});
    case WeightType::f32: return take(float{});
    case WeightType::f64: return take(double{});
  }
  return 1;
}

template <class E>
bool WeirReader::next_edges_by_id(std::vector<Edge<E>>& batch) {
  const bool is_dense = file_.has(WeirHeader::is_dense);
  const bool is_plain = is_dense && !files_.options.num_vertices;
  const VertexId first = file_.header().first_id;
  if (is_plain) {
    return next_edges_of(
        batch, [first](std::uint64_t position) { return first + static_cast<VertexId>(position); });
  }
  return next_edges_of(batch, [this](std::uint64_t position) { return id_at(position); });
}

VertexId WeirReader::id_at(std::uint64_t position) {
  const VertexId id = file_.has(WeirHeader::is_dense)
                          ? file_.header().first_id + static_cast<VertexId>(position)
                          : ids_[position];
  expect_declared(only_file(), id);
  return id;
}

std::string WeirReader::name_at(std::uint64_t position) {
  if (!file_.has(WeirHeader::has_names)) return std::to_string(id_at(position));
  const WeirSection& names = file_.header().names;
  const auto ends = file_.read<std::uint64_t>(file_.header().name_offsets, position, position + 2);
  if (ends[0] > ends[1] || ends[1] > names.num_bytes) {
    file_.fail("offsets of names that do not ascend", "a range of bytes for each name");
  }
  const auto name = file_.read<char>(names, ends[0], ends[1]);
  return {name.data(), name.size()};
}

bool WeirReader::next_edges(std::vector<NamedEdge<double>>& batch) {
  batch.clear();
  next_edges_of(positions_, [](std::uint64_t position) { return static_cast<VertexId>(position); });
  for (const Edge<double>& edge : positions_) {
    batch.push_back({name_at(static_cast<std::uint64_t>(edge.source)),
                     name_at(static_cast<std::uint64_t>(edge.target)), edge.value});
  }
  return !batch.empty();
}

bool WeirReader::next_vertices(std::vector<VertexId>& batch) {
  if (files_.options.num_vertices) return FormatReader::next_vertices(batch);
  batch.clear();
  while (vertex_ < end_vertex_ && batch.size() < batch_records) batch.push_back(id_at(vertex_++));
  return !batch.empty();
}

bool WeirReader::next_vertices(std::vector<std::string>& batch) {
  batch.clear();
  while (vertex_ < end_vertex_ && batch.size() < batch_records) batch.push_back(name_at(vertex_++));
  return !batch.empty();
}

void WeirReader::verify(const Tally& total) const {
  if (*header_.directed) {
    verify_num_entries(total, file_.header().num_edges);
  } else {
    verify_listed_twice(only_file(), file_.header().num_edges, total);
  }
}

}  // namespace

std::unique_ptr<FormatReader> read_weir(FileSet files) {
  return std::make_unique<WeirReader>(std::move(files));
}

}  // namespace weir::io
