// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weir/engine/graph/shard_map.hpp>
#include <weir/engine/model/ids.hpp>

namespace weir {

/// Position of ids in an ascending list: a subtraction where the ids have no gaps, a table where
/// gaps are small, a binary search otherwise.
class IdIndex {
 public:
  IdIndex() = default;
  /// `ids`: ascending, each once.
  explicit IdIndex(std::vector<VertexId> ids);

  std::size_t size() const { return ids_.size(); }
  const std::vector<VertexId>& ids() const { return ids_; }
  std::optional<std::uint32_t> find(VertexId id) const;

 private:
  enum class Way { none, offset, table, search };
  static constexpr std::uint32_t absent = 0xffffffff;
  std::vector<VertexId> ids_;
  std::vector<std::uint32_t> table_;
  Way way_ = Way::none;
};

/// A vertex as the builder counts it.
struct VertexRecord {
  VertexId id = 0;
  std::uint64_t in_arcs = 0;
  std::uint64_t out_arcs = 0;
  std::uint64_t heat = 0;  ///< in_arcs + out_arcs when the graph was built; frozen under mutation.
};

/// The heat order: degree at build descending, then id. The same total order on every rank.
struct HeatKey {
  std::uint64_t heat = 0;
  VertexId id = 0;
  friend bool operator<(const HeatKey& a, const HeatKey& b) {
    return a.heat != b.heat ? a.heat > b.heat : a.id < b.id;
  }
};

/// The vertices one rank owns. Rows ascend by shard and lie in heat order inside a shard.
class Vertices {
 public:
  Vertices() = default;
  /// `records`: this rank's, ascending by id.
  Vertices(const ShardMap& shards, Rank rank, std::vector<VertexRecord> records);

  Row size() const { return static_cast<Row>(ids_.size()); }
  VertexId id(Row row) const { return ids_[row]; }
  std::uint64_t in_degree(Row row) const { return in_degrees_[row]; }
  std::uint64_t out_degree(Row row) const { return out_degrees_[row]; }
  HeatKey heat_key(Row row) const { return {heats_[row], ids_[row]}; }
  std::optional<Row> find(VertexId id) const;
  /// Rows in ascending order of id.
  std::span<const Row> rows_by_id() const { return rows_by_id_; }
  /// Shards this rank owns, and the rows of one: [first_row(s), first_row(s + 1)).
  ShardRange shards() const { return shards_; }
  Row first_row(ShardIndex shard) const { return shard_rows_[shard - shards_.begin]; }
  /// The records again, ascending by id.
  std::vector<VertexRecord> records() const;

 private:
  ShardRange shards_;
  std::vector<Row> shard_rows_{0};
  std::vector<VertexId> ids_;
  std::vector<std::uint64_t> in_degrees_;
  std::vector<std::uint64_t> out_degrees_;
  std::vector<std::uint64_t> heats_;
  IdIndex index_;
  std::vector<Row> rows_by_id_;
};

}  // namespace weir
