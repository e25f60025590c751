// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <weir/engine/model/ids.hpp>

namespace weir {

/// Half-open range of shards.
struct ShardRange {
  ShardIndex begin = 0;
  ShardIndex end = 0;
  ShardIndex size() const { return end - begin; }
};

/// Which ids form which shard, and which rank owns which shard.
///
/// Shards are contiguous ranges of vertex ids that depend on the graph alone, never on ranks or
/// threads. Invariant: first ids ascend; an empty shard has the first id of the next shard.
class ShardMap {
 public:
  /// Weight of a vertex in the shard rule: 4 + in-arcs + out-arcs.
  static std::uint64_t weight(std::uint64_t in_arcs, std::uint64_t out_arcs) {
    return 4 + in_arcs + out_arcs;
  }
  /// The shard rule: min(max(ceil(W / 2^17), min(n, 256)), 2^20), at least 1.
  static ShardIndex num_shards_for(std::uint64_t total_weight, std::uint64_t num_vertices);
  /// Shard of the vertex before which the weights sum to `weight_before`.
  static ShardIndex shard_for(std::uint64_t weight_before, std::uint64_t total_weight,
                              ShardIndex num_shards);
  /// The least weight before a vertex of the shard or of a later one.
  static std::uint64_t first_weight_of(ShardIndex shard, std::uint64_t total_weight,
                                       ShardIndex num_shards);

  ShardMap() = default;
  /// `first_ids[s]` is the smallest id of shard s, absent for an empty shard.
  ShardMap(const std::vector<std::optional<VertexId>>& first_ids, Rank num_ranks);

  ShardIndex num_shards() const { return static_cast<ShardIndex>(first_ids_.size()); }
  Rank num_ranks() const { return num_ranks_; }
  /// Shard whose range holds the id; also for ids that are no vertex.
  ShardIndex shard_of(VertexId id) const;
  /// Smallest id that may be in the shard or a later one; absent behind the last vertex.
  std::optional<VertexId> first_id(ShardIndex shard) const {
    return shard < num_searched_ ? std::optional(first_ids_[shard]) : std::nullopt;
  }
  /// True if the id's shard is this one or one before it.
  bool is_up_to(VertexId id, ShardIndex shard) const {
    return std::size_t{shard} + 1 >= num_searched_ || id < first_ids_[shard + std::size_t{1}];
  }
  Rank owner_of_shard(ShardIndex shard) const;
  /// Owner of the id's shard.
  Rank owner_of(VertexId id) const {
    const auto after = std::upper_bound(first_ids_of_ranks_.begin(), first_ids_of_ranks_.end(), id);
    return static_cast<Rank>(after - first_ids_of_ranks_.begin());
  }
  ShardRange owned_by(Rank rank) const;

 private:
  std::vector<VertexId> first_ids_;
  std::size_t num_searched_ = 0;  // shards after the last one with a vertex hold no id
  Rank num_ranks_ = 1;
  std::vector<VertexId> first_ids_of_ranks_;  // of ranks 1, 2, ... while there are ids for them
};

}  // namespace weir
