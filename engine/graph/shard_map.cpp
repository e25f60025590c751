// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/shard_map.hpp>

#include <algorithm>
#include <limits>

namespace weir {

// Products of a shard count and a weight sum pass 64 bits.
__extension__ using Wide = unsigned __int128;

ShardIndex ShardMap::num_shards_for(std::uint64_t total_weight, std::uint64_t num_vertices) {
  constexpr std::uint64_t weight_per_shard = std::uint64_t{1} << 17;
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  const std::uint64_t by_weight = (total_weight + weight_per_shard - 1) / weight_per_shard;
  const std::uint64_t wanted = std::max(by_weight, std::min<std::uint64_t>(num_vertices, 256));
  return static_cast<ShardIndex>(std::max<std::uint64_t>(std::min(wanted, most), 1));
}

ShardIndex ShardMap::shard_for(std::uint64_t weight_before, std::uint64_t total_weight,
                               ShardIndex num_shards) {
  if (total_weight == 0) return 0;
  return static_cast<ShardIndex>(Wide{weight_before} * num_shards / total_weight);
}

std::uint64_t ShardMap::first_weight_of(ShardIndex shard, std::uint64_t total_weight,
                                        ShardIndex num_shards) {
  // The first whole number whose share, rounded down, is the shard.
  return static_cast<std::uint64_t>((Wide{shard} * total_weight + num_shards - 1) / num_shards);
}

ShardMap::ShardMap(const std::vector<std::optional<VertexId>>& first_ids, Rank num_ranks)
    : first_ids_(first_ids.size()), num_ranks_(num_ranks) {
  VertexId next = std::numeric_limits<VertexId>::max();
  for (std::size_t s = first_ids.size(); s-- > 0;) {
    if (first_ids[s]) {
      next = *first_ids[s];
      num_searched_ = std::max(num_searched_, s + 1);
    }
    first_ids_[s] = next;
  }
  for (Rank r = 1; r < num_ranks; ++r) {
    const ShardIndex first = owned_by(r).begin;
    if (first >= num_searched_) break;
    first_ids_of_ranks_.push_back(first_ids_[first]);
  }
}

ShardIndex ShardMap::shard_of(VertexId id) const {
  const auto begin = first_ids_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(num_searched_);
  const auto after = std::upper_bound(begin, end, id);
  return after == begin ? 0 : static_cast<ShardIndex>(after - begin - 1);
}

Rank ShardMap::owner_of_shard(ShardIndex shard) const {
  return static_cast<Rank>(Wide{shard} * static_cast<unsigned>(num_ranks_) / num_shards());
}

ShardRange ShardMap::owned_by(Rank rank) const {
  const auto bound = [&](Rank r) {
    const auto ranks = static_cast<unsigned>(num_ranks_);
    return static_cast<ShardIndex>((Wide{static_cast<unsigned>(r)} * num_shards() + ranks - 1) /
                                   ranks);
  };
  return {bound(rank), bound(rank + 1)};
}

}  // namespace weir
