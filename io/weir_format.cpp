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

class WeirReader : public FormatReader {
 public:
  explicit WeirReader(FileSet files);

  bool next_edges(std::vector<Edge<double>>& batch) override { return next_edges_by_id(batch); }
  bool next_edges(std::vector<Edge<NoValue>>& batch) override { return next_edges_by_id(batch); }
  bool next_edges(std::vector<NamedEdge<double>>& batch) override;
  bool next_vertices(std::vector<VertexId>& batch) override;
  bool next_vertices(std::vector<std::string>& batch) override;
  void verify(const Tally& total) const override;

 private:
  template <class E, class F>
  bool next_edges_of(std::vector<Edge<E>>& batch, const F& id_of);
  template <class E>
  bool next_edges_by_id(std::vector<Edge<E>>& batch);
  void take_weights(std::span<Edge<double>> edges);
  void forget_read();
  void find_row();
  void step_row();
  VertexId id_at(std::uint64_t position);
  std::string name_at(std::uint64_t position);

  WeirFile file_;
  std::uint64_t num_vertices_;
  std::uint64_t edge_, end_edge_;      ///< Edges still to be read.
  std::uint64_t kept_;                 ///< Edges before it are no longer held in memory.
  std::uint64_t vertex_, end_vertex_;  ///< Vertices still to be listed.
  std::uint64_t row_ = 0, row_end_ = 0;
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
      edge_(files_.part.begin_of(file_.header().num_edges)),
      end_edge_(files_.part.end_of(file_.header().num_edges)),
      kept_(edge_),
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
  if (edge_ < end_edge_) find_row();
}

/// The row that holds edge_: the last whose offset is not beyond it.
void WeirReader::find_row() {
  std::uint64_t low = 0, high = num_vertices_;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (file_.read<std::uint64_t>(file_.header().offsets, middle, middle + 1)[0] <= edge_) {
      low = middle;
    } else {
      high = middle;
    }
  }
  if (num_vertices_ == 0) file_.fail("edges without vertices", "none");
  row_ = low;
  const auto ends = file_.read<std::uint64_t>(file_.header().offsets, low, low + 2);
  if (ends[0] > edge_) file_.fail("offsets that begin above 0", "0");
  row_end_ = ends[1];
}

void WeirReader::step_row() {
  while (edge_ >= row_end_) {
    if (++row_ >= num_vertices_) file_.fail("offsets that end too early", "one for each edge");
    const auto ends = file_.read<std::uint64_t>(file_.header().offsets, row_, row_ + 2);
    if (ends[1] < ends[0] || ends[1] > file_.header().num_edges) {
      file_.fail("offsets that do not ascend", "a range of edges for each vertex");
    }
    row_end_ = ends[1];
  }
}

/// Replaces the batch with the next edges; `id_of` tells an end point by its position.
template <class E, class F>
bool WeirReader::next_edges_of(std::vector<Edge<E>>& batch, const F& id_of) {
  const std::size_t count = std::min<std::uint64_t>(end_edge_ - edge_, batch_records);
  batch.resize(count);
  for (std::size_t filled = 0; filled < count;) {
    step_row();
    const std::uint64_t run = std::min<std::uint64_t>(row_end_ - edge_, count - filled);
    const std::span<Edge<E>> edges(batch.data() + filled, run);
    const VertexId source = id_of(row_);
    const auto take_targets = [&](auto targets) {
      for (std::size_t i = 0; i < run; ++i) {
        if (targets[i] >= num_vertices_) {
          file_.fail("target " + std::to_string(targets[i]),
                     "a position below " + std::to_string(num_vertices_));
        }
        edges[i].source = source;
        edges[i].target = id_of(targets[i]);
      }
    };
    const WeirSection& targets = file_.header().targets;
    if (file_.header().target_bytes == 4) {
      take_targets(file_.read<std::uint32_t>(targets, edge_, edge_ + run));
    } else {
      take_targets(file_.read<std::uint64_t>(targets, edge_, edge_ + run));
    }
    if constexpr (!std::is_same_v<E, NoValue>) take_weights(edges);
    edge_ += run;
    filled += run;
  }
  tally_.num_entries += count;
  forget_read();
  return count > 0;
}

/// Nothing before this part's next edge is read again by it; the pages go in pieces.
void WeirReader::forget_read() {
  constexpr std::uint64_t piece_edges = std::uint64_t{1} << 20;
  if (edge_ - kept_ < piece_edges) return;
  const WeirHeader& header = file_.header();
  file_.forget<char>(header.targets, kept_ * header.target_bytes, edge_ * header.target_bytes);
  const std::uint64_t weight_bytes = width_of(header.weight_type);
  file_.forget<char>(header.weights, kept_ * weight_bytes, edge_ * weight_bytes);
  kept_ = edge_;
}

void WeirReader::take_weights(std::span<Edge<double>> edges) {
  const auto take = [&](auto weight) {
    const auto weights =
        file_.read<decltype(weight)>(file_.header().weights, edge_, edge_ + edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i].value = static_cast<double>(weights[i]);
  };
  const WeightType type = files_.options.weighted ? file_.header().weight_type : WeightType::none;
  switch (type) {
    case WeightType::none:
      for (Edge<double>& edge : edges) edge.value = 1;
      return;
    case WeightType::u8: return take(std::uint8_t{});
    case WeightType::u16: return take(std::uint16_t{});
    case WeightType::u32: return take(std::uint32_t{});
    case WeightType::f32: return take(float{});
    case WeightType::f64: return take(double{});
  }
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
  verify_num_entries(total, file_.header().num_edges);
}

}  // namespace

std::unique_ptr<FormatReader> read_weir(FileSet files) {
  return std::make_unique<WeirReader>(std::move(files));
}

}  // namespace weir::io
