// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/send_bins.hpp>

#include <algorithm>
#include <limits>

namespace weir {

SendBins::SendBins(const ShardMap& shards, std::uint64_t num_vertices) {
  const std::uint64_t num_shards = shards.num_shards();
  const auto shards_for = [&](std::uint64_t num_bins) {
    return (num_shards + num_bins - 1) / std::max<std::uint64_t>(num_bins, 1);
  };
  const auto per_bin = static_cast<ShardIndex>(
      std::max(shards_for(num_vertices / vertices_per_bin + 1), shards_for(most_bins)));
  for (Rank rank = 0; rank < shards.num_ranks(); ++rank) {
    first_of_rank_.push_back(size());
    const ShardRange own = shards.owned_by(rank);
    for (ShardIndex begin = own.begin; begin < own.end;) {
      const ShardIndex end = own.end - begin > per_bin ? begin + per_bin : own.end;
      const auto first_id = shards.first_id(begin);
      // Behind the last vertex no shard has an id; before the first there is one bin all the same.
      if (!first_id && size() > 0) break;
      shards_.push_back({begin, end});
      first_ids_.push_back(first_id.value_or(0));
      begin = end;
    }
  }
  first_of_rank_.push_back(size());
  least_ = first_ids_.front();
  constexpr std::uint64_t slices_per_bin = 16;  // so that few slices lie in several bins
  const std::uint64_t width = distance(least_, first_ids_.back());
  while (width >> shift_ > slices_per_bin * size()) ++shift_;
  for (std::uint32_t bin = 1; bin < size(); ++bin) last_ids_.push_back(first_ids_[bin] - 1);
  last_ids_.push_back(std::numeric_limits<VertexId>::max());
  last_slice_ = width >> shift_;
  for (std::uint64_t slice = 0; slice <= last_slice_; ++slice) {
    const auto first =
        static_cast<VertexId>(static_cast<std::uint64_t>(least_) + (slice << shift_));
    first_of_slice_.push_back(search(first));
  }
}

std::uint32_t SendBins::search(VertexId id) const {
  const auto after = std::upper_bound(first_ids_.begin(), first_ids_.end(), id);
  return static_cast<std::uint32_t>(after - first_ids_.begin() - 1);
}

}  // namespace weir
