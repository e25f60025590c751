// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/model/check.hpp>
#include <weir/io/output_file.hpp>
#include <weir/io/weir_format.hpp>
#include <weir/io/weir_layout.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace weir::io {
namespace {

template <class T>
void append_bytes(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

/// True if the value comes back with the same bits from a T.
template <class T>
bool survives(double value) {
  if constexpr (std::integral<T>) {
    if (!(value >= 0 && value <= std::numeric_limits<T>::max())) return false;
  }
  const auto back = static_cast<double>(static_cast<T>(value));
  return std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value);
}

/// An entry of a list: a vertex by its number in heat order, and the value of the edge.
struct Neighbour {
  std::uint64_t number;
  double value;
};

/// Numbers ascend, and where they are equal the bits of the values as the engine compares them.
bool comes_before(const Neighbour& a, const Neighbour& b) {
  if (a.number != b.number) return a.number < b.number;
  return std::memcmp(&a.value, &b.value, sizeof a.value) < 0;
}

template <class T>
bool all_survive(const std::vector<Neighbour>& neighbours) {
  return std::all_of(neighbours.begin(), neighbours.end(),
                     [](const Neighbour& neighbour) { return survives<T>(neighbour.value); });
}

WeightType narrowest(const std::vector<Neighbour>& neighbours) {
  if (all_survive<std::uint8_t>(neighbours)) return WeightType::u8;
  if (all_survive<std::uint16_t>(neighbours)) return WeightType::u16;
  if (all_survive<std::uint32_t>(neighbours)) return WeightType::u32;
  if (all_survive<float>(neighbours)) return WeightType::f32;
  return WeightType::f64;
}

/// Gives out the places of the sections, writes them, and takes their hashes on the way.
class Body {
 public:
  explicit Body(OutputFile& file) : file_(file) { XXH3_64bits_reset(&state_); }

  /// Where a section of so many bytes goes.
  static WeirSection place(std::uint64_t& end, std::uint64_t num_bytes) {
    if (num_bytes == 0) return {};
    const WeirSection section{(end + 63) / 64 * 64, num_bytes};
    end = section.offset + num_bytes;
    return section;
  }

  void write(std::string_view bytes) {
    if (is_dry) {
      hash(bytes);
    } else {
      file_.write(bytes);
    }
    position_ += bytes.size();
  }

  void pad_to(std::uint64_t offset) {
    if (offset > position_) write(std::string(offset - position_, '\0'));
  }

  /// Ends the dry walk, which takes the hashes; the next walk writes.
  std::string finish_hashing() {
    if (block_bytes_ > 0) close_block();
    is_dry = false;
    position_ = sizeof(WeirHeader);
    return std::move(hashes_);
  }

 private:
  void hash(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto some =
          bytes.substr(0, static_cast<std::size_t>(WeirHeader::hash_block_bytes - block_bytes_));
      XXH3_64bits_update(&state_, some.data(), some.size());
      block_bytes_ += some.size();
      bytes.remove_prefix(some.size());
      if (block_bytes_ == WeirHeader::hash_block_bytes) close_block();
    }
  }

  void close_block() {
    append_bytes(hashes_, static_cast<std::uint64_t>(XXH3_64bits_digest(&state_)));
    XXH3_64bits_reset(&state_);
    block_bytes_ = 0;
  }

  OutputFile& file_;
  bool is_dry = true;
  std::uint64_t position_ = sizeof(WeirHeader);
  std::uint64_t block_bytes_ = 0;
  std::string hashes_;
  alignas(64) XXH3_state_t state_{};
};

class WeirWriter : public CollectingWriter {
 public:
  WeirWriter(const std::string& path, const GraphHeader& header) : CollectingWriter(path, header) {
    WEIR_EXPECT(compression_by_name(path) == Compression::none, usage,
                path + ": .weir files are read in place and cannot be compressed");
  }

  void commit() override;

 private:
  void to_positions();
  void make_lists();
  void write_body(Body& body, const WeirHeader& header) const;
  void write_weights(Body& body, WeightType type) const;
  template <class T, class Of>
  void write_column(Body& body, std::uint64_t count, const Of& of) const;

  bool is_named_ = false;
  bool is_directed_ = true;
  std::uint64_t num_vertices_ = 0;
  std::uint64_t num_edges_ = 0;
  std::vector<std::uint64_t> offsets_;  ///< Of the list of each position.
  std::vector<std::uint64_t> order_;    ///< Positions in heat order.
  std::vector<Neighbour> neighbours_;
};

/// Names both ends of the edges by their positions in the list of vertices.
void WeirWriter::to_positions() {
  complete_vertices();
  is_named_ = !names_.empty();
  const auto position = [](const auto& all, const auto& one) {
    return static_cast<VertexId>(std::lower_bound(all.begin(), all.end(), one) - all.begin());
  };
  for (Edge<double>& edge : edges_) {
    edge.source = position(vertices_, edge.source);
    edge.target = position(vertices_, edge.target);
  }
  for (const NamedEdge<double>& edge : named_edges_) {
    edges_.push_back({position(names_, edge.source), position(names_, edge.target), edge.value});
  }
  named_edges_.clear();
  num_vertices_ = is_named_ ? names_.size() : vertices_.size();
  num_edges_ = edges_.size();
}

/// The list of each vertex: the sources of its edges, undirected the other ends.
void WeirWriter::make_lists() {
  offsets_.assign(num_vertices_ + 1, 0);
  std::vector<std::uint64_t> heats(num_vertices_);
  const auto for_each_entry = [&](const auto& visit) {
    for (const Edge<double>& edge : edges_) {
      const auto source = static_cast<std::uint64_t>(edge.source);
      const auto target = static_cast<std::uint64_t>(edge.target);
      visit(target, source, edge.value);
      if (!is_directed_) visit(source, target, edge.value);
    }
  };
  for_each_entry([&](std::uint64_t row, std::uint64_t neighbour, double) {
    ++offsets_[row + 1];
    ++heats[row];
    ++heats[neighbour];
  });
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  order_.resize(num_vertices_);
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return heats[a] > heats[b]; });
  std::vector<std::uint64_t>& numbers = heats;  // no longer needed as what they were
  for (std::uint64_t number = 0; number < num_vertices_; ++number) numbers[order_[number]] = number;
  neighbours_.resize(offsets_.back());
  std::vector<std::uint64_t> next(offsets_.begin(), offsets_.end() - 1);
  for_each_entry([&](std::uint64_t row, std::uint64_t neighbour, double value) {
    neighbours_[next[row]++] = {numbers[neighbour], value};
  });
  std::vector<Edge<double>>().swap(edges_);
  const auto at = [&](std::uint64_t arc) {
    return neighbours_.begin() + static_cast<std::ptrdiff_t>(arc);
  };
  for (std::uint64_t row = 0; row < num_vertices_; ++row) {
    std::sort(at(offsets_[row]), at(offsets_[row + 1]), comes_before);
  }
}

void WeirWriter::commit() {
  is_directed_ = header_.directed.value_or(true);
  to_positions();
  make_lists();
  const std::uint64_t n = num_vertices_;
  const bool is_dense = !is_named_ && n > 0 &&
                        static_cast<std::uint64_t>(vertices_.back()) -
                                static_cast<std::uint64_t>(vertices_.front()) ==
                            n - 1;
  WeirHeader header{};
  std::memcpy(header.magic, WeirHeader::right_magic, sizeof header.magic);
  header.version = WeirHeader::newest_version;
  header.flags = (is_directed_ ? WeirHeader::is_directed : 0) |
                 (header_.has_weights ? WeirHeader::is_weighted : 0) |
                 (is_named_ ? WeirHeader::has_names : 0) | (is_dense ? WeirHeader::is_dense : 0);
  header.num_vertices = n;
  header.num_edges = num_edges_;
  header.first_id = is_dense ? vertices_.front() : 0;
  header.index_bytes = n <= std::uint64_t{1} << 32 ? 4 : 8;
  header.weight_type = header_.has_weights ? narrowest(neighbours_) : WeightType::none;
  std::uint64_t name_bytes = 0;
  for (const std::string& name : names_) name_bytes += name.size();
  std::uint64_t end = sizeof(WeirHeader);
  header.ids = Body::place(end, is_dense || is_named_ ? 0 : 8 * n);
  header.offsets = Body::place(end, 8 * (n + 1));
  header.order = Body::place(end, header.index_bytes * n);
  header.neighbours = Body::place(end, header.index_bytes * neighbours_.size());
  header.weights = Body::place(end, width_of(header.weight_type) * neighbours_.size());
  header.name_offsets = Body::place(end, is_named_ ? 8 * (n + 1) : 0);
  header.names = Body::place(end, name_bytes);
  OutputFile file(path_);
  Body body(file);
  write_body(body, header);
  const std::string hashes = body.finish_hashing();
  header.hashes = {end, hashes.size()};
  header.hash_of_hashes = XXH3_64bits(hashes.data(), hashes.size());
  header.hash_of_header = XXH3_64bits(&header, sizeof header - sizeof header.hash_of_header);
  file.write({reinterpret_cast<const char*>(&header), sizeof header});
  write_body(body, header);
  file.write(hashes);
  file.commit();
}

template <class T, class Of>
void WeirWriter::write_column(Body& body, std::uint64_t count, const Of& of) const {
  std::string bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    append_bytes(bytes, static_cast<T>(of(i)));
    if (bytes.size() < std::size_t{1} << 16) continue;
    body.write(bytes);
    bytes.clear();
  }
  body.write(bytes);
}

void WeirWriter::write_body(Body& body, const WeirHeader& header) const {
  const std::uint64_t n = num_vertices_;
  body.pad_to(header.ids.offset);
  if (header.ids.num_bytes > 0) {
    write_column<VertexId>(body, n, [&](std::uint64_t i) { return vertices_[i]; });
  }
  body.pad_to(header.offsets.offset);
  write_column<std::uint64_t>(body, n + 1, [&](std::uint64_t row) { return offsets_[row]; });
  body.pad_to(header.order.offset);
  const auto write_indices = [&](std::uint64_t count, const auto& index) {
    if (header.index_bytes == 4) {
      write_column<std::uint32_t>(body, count, index);
    } else {
      write_column<std::uint64_t>(body, count, index);
    }
  };
  write_indices(n, [&](std::uint64_t i) { return order_[i]; });
  body.pad_to(header.neighbours.offset);
  write_indices(neighbours_.size(), [&](std::uint64_t i) { return neighbours_[i].number; });
  body.pad_to(header.weights.offset);
  write_weights(body, header.weight_type);
  if (!is_named_) return;
  body.pad_to(header.name_offsets.offset);
  std::uint64_t name_end = 0;
  write_column<std::uint64_t>(
      body, n + 1, [&](std::uint64_t i) { return i == 0 ? 0 : name_end += names_[i - 1].size(); });
  body.pad_to(header.names.offset);
  for (const std::string& name : names_) body.write(name);
}

void WeirWriter::write_weights(Body& body, WeightType type) const {
  const auto weight = [&](std::uint64_t i) { return neighbours_[i].value; };
  const std::uint64_t m = neighbours_.size();
  switch (type) {
    case WeightType::none: break;
    case WeightType::u8: write_column<std::uint8_t>(body, m, weight); break;
    case WeightType::u16: write_column<std::uint16_t>(body, m, weight); break;
    case WeightType::u32: write_column<std::uint32_t>(body, m, weight); break;
    case WeightType::f32: write_column<float>(body, m, weight); break;
    case WeightType::f64: write_column<double>(body, m, weight); break;
  }
}

}  // namespace

std::unique_ptr<FormatWriter> write_weir(const std::string& path, const GraphHeader& header) {
  return std::make_unique<WeirWriter>(path, header);
}

}  // namespace weir::io
