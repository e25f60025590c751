// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weir/engine/graph/id_map.hpp>
#include <weir/engine/graph/id_range.hpp>
#include <weir/engine/graph/pages.hpp>
#include <weir/engine/graph/shard_map.hpp>
#include <weir/engine/model/ids.hpp>

namespace weir {

class Context;

/// Position of ids in an ascending list: a subtraction where the ids have no gaps, a table where
/// gaps are small, a hash table otherwise.
class IdIndex {
 public:
  IdIndex() = default;
  /// `ids`: ascending, each once.
  explicit IdIndex(std::span<const VertexId> ids);

  std::size_t size() const { return static_cast<std::size_t>(range_.num_seen); }
  std::size_t num_bytes() const { return 4 * table_.size() + hash_.num_bytes(); }
  std::optional<std::uint32_t> find(VertexId id) const {
    if (way_ == Way::hash) return found(hash_.find(id));
    if (id < range_.least || id > range_.greatest) return std::nullopt;
    const std::size_t offset = range_.offset(id);
    return way_ == Way::offset ? static_cast<std::uint32_t>(offset) : found(table_[offset]);
  }

 private:
  enum class Way { offset, table, hash };
  static constexpr std::uint32_t absent = 0xffffffff;
  static std::optional<std::uint32_t> found(std::uint32_t position) {
    return position == absent ? std::nullopt : std::optional(position);
  }

  Way way_ = Way::offset;
  IdRange range_;
  LargeVector<std::uint32_t> table_;
  IdMap<std::uint32_t> hash_{absent};
};

/// A vertex as the builder counts it.
struct VertexRecord {
  VertexId id = 0;
  std::uint64_t in_arcs = 0;
  std::uint64_t out_arcs = 0;
  std::uint64_t heat = 0;  ///< in_arcs + out_arcs when the graph was built; frozen under mutation.
};

/// Numbers of arcs, 4 bytes each where all fit.
class ArcCounts {
 public:
  ArcCounts() = default;
  ArcCounts(std::size_t size, std::uint64_t greatest) : is_narrow_(greatest <= 0xffffffff) {
    is_narrow_ ? narrow_.resize(size) : wide_.resize(size);
  }
  std::uint64_t operator[](std::size_t i) const { return is_narrow_ ? narrow_[i] : wide_[i]; }
  void set(std::size_t i, std::uint64_t count) {
    if (is_narrow_) {
      narrow_[i] = static_cast<std::uint32_t>(count);
    } else {
      wide_[i] = count;
    }
  }
  std::size_t num_bytes() const { return 4 * narrow_.size() + 8 * wide_.size(); }

 private:
  bool is_narrow_ = true;
  LargeVector<std::uint32_t> narrow_;
  LargeVector<std::uint64_t> wide_;
};

/// The vertices one rank owns. Rows ascend by shard and lie in heat order inside a shard: degree at
/// build descending, then id ascending, which is the same total order on every rank.
class Vertices {
 public:
  Vertices() = default;
  /// `records`: this rank's, ascending by id.
  Vertices(Context& context, const ShardMap& shards, std::vector<VertexRecord> records);

  Row size() const { return static_cast<Row>(ids_.size()); }
  VertexId id(Row row) const { return ids_[row]; }
  std::uint64_t in_degree(Row row) const { return in_degrees_[row]; }
  std::uint64_t out_degree(Row row) const { return out_degrees_[row]; }
  std::uint64_t heat(Row row) const {
    return heats_.empty() ? in_degrees_[row] + out_degrees_[row] : heats_[row];
  }
  std::optional<Row> find(VertexId id) const {
    const auto position = index_.find(id);
    return position ? std::optional(rows_by_id_[*position]) : std::nullopt;
  }
  /// Rows in ascending order of id.
  std::span<const Row> rows_by_id() const { return rows_by_id_; }
  /// Shards this rank owns, and the rows of one: [first_row(s), first_row(s + 1)).
  ShardRange shards() const { return shards_; }
  Row first_row(ShardIndex shard) const { return shard_rows_[shard - shards_.begin]; }
  /// The records again, ascending by id.
  std::vector<VertexRecord> records() const;
  std::uint64_t num_bytes() const;

 private:
  ShardRange shards_;
  std::vector<Row> shard_rows_{0};
  LargeVector<VertexId> ids_;
  ArcCounts in_degrees_;
  ArcCounts out_degrees_;
  std::vector<std::uint64_t> heats_;  // empty while they are the sums of the degrees
  IdIndex index_;
  LargeVector<Row> rows_by_id_;
};

}  // namespace weir
