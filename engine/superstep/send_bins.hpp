// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/engine/graph/shard_map.hpp>
#include <weir/engine/model/ids.hpp>

namespace weir {

/// Where messages by `send` are sorted to before they are delivered: runs of consecutive shards of
/// one rank, with so few vertices that what is kept per vertex fits a processor's second-level
/// cache. A function of the graph and the number of ranks, alike on all ranks.
class SendBins {
 public:
  /// Vertices of a bin, about.
  static constexpr std::uint64_t vertices_per_bin = 1 << 14;
  /// More bins than this would be more streams of writing than a processor follows.
  static constexpr std::uint64_t most_bins = 1 << 10;

  SendBins() = default;
  SendBins(const ShardMap& shards, std::uint64_t num_vertices);

  std::uint32_t size() const { return static_cast<std::uint32_t>(shards_.size()); }
  /// Bin of an id, also of one that is no vertex: that of its shard.
  std::uint32_t of(VertexId id) const {
    if (id < least_) return 0;
    const std::uint64_t slice = std::min(distance(least_, id) >> shift_, last_slice_);
    std::uint32_t bin = first_of_slice_[slice];
    // No branch on where in its slice an id is: nobody could predict it.
    bin += id > last_ids_[bin] ? 1 : 0;
    if (id > last_ids_[bin]) [[unlikely]]
      bin = search(id);
    return bin;
  }
  /// Smallest id of the bin's shards.
  VertexId first_id(std::uint32_t bin) const { return first_ids_[bin]; }
  ShardRange shards(std::uint32_t bin) const { return shards_[bin]; }
  /// The bins of one rank: [first_of(rank), first_of(rank + 1)).
  std::uint32_t first_of(Rank rank) const { return first_of_rank_[static_cast<std::size_t>(rank)]; }

  /// How far an id is behind another; a large number where it is before it.
  static std::uint64_t distance(VertexId from, VertexId to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }

 private:
  std::uint32_t search(VertexId id) const;

  std::vector<ShardRange> shards_;            // by bin
  std::vector<VertexId> first_ids_;           // by bin
  std::vector<VertexId> last_ids_;            // by bin: before the first of the next
  std::vector<std::uint32_t> first_of_rank_;  // by rank, then all
  // Slices of ids from the first on, 2^shift_ each: the bin of the first id of each.
  std::vector<std::uint32_t> first_of_slice_;
  unsigned shift_ = 0;
  std::uint64_t last_slice_ = 0;
  VertexId least_ = 0;  // the first of the first ids
};

}  // namespace weir
