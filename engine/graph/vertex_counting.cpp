// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/vertex_counting.hpp>

#include <algorithm>

#include <weir/engine/runtime/collectives.hpp>

namespace weir {

namespace {

void merge_equal_ids(std::vector<VertexRecord>& records) {
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (kept > 0 && records[kept - 1].id == records[i].id) {
      records[kept - 1].in_arcs += records[i].in_arcs;
      records[kept - 1].out_arcs += records[i].out_arcs;
      records[kept - 1].heat |= records[i].heat;
    } else {
      records[kept++] = records[i];
    }
  }
  records.resize(kept);
}

}  // namespace

void EndPointCounter::begin() {
  if (num_seen_ == 0) return;
  const std::uint64_t span =
      static_cast<std::uint64_t>(greatest_) - static_cast<std::uint64_t>(least_);
  // Counters are 32 bits wide, and an array over the range must not outweigh a list of end points.
  is_dense_ = span / 4 < num_seen_ && num_seen_ < (std::uint64_t{1} << 32);
  if (!is_dense_) return;
  dense_in_.assign(span + 1, 0);
  dense_out_.assign(span + 1, 0);
}

void EndPointCounter::compact() {
  merge_equal_ids(sparse_);
  compact_at_ = std::max(compact_at_, 2 * sparse_.size());
}

std::vector<VertexRecord> EndPointCounter::finish(std::span<const VertexId> listed,
                                                  std::span<const VertexId> bare) {
  std::vector<VertexRecord> records;
  if (is_dense_) {
    std::vector<bool> is_listed(dense_in_.size());
    std::vector<bool> is_bare(dense_in_.size());
    for (const VertexId id : listed) is_listed[offset(id)] = true;
    for (const VertexId id : bare) is_bare[offset(id)] = true;
    for (std::size_t i = 0; i < dense_in_.size(); ++i) {
      if (dense_in_[i] == 0 && dense_out_[i] == 0 && !is_listed[i] && !is_bare[i]) continue;
      const auto id = static_cast<VertexId>(static_cast<std::uint64_t>(least_) + i);
      records.push_back({id, dense_in_[i], dense_out_[i], is_listed[i] ? 1U : 0U});
    }
  } else {
    records = std::move(sparse_);
    for (const VertexId id : listed) records.push_back({id, 0, 0, 1});
    for (const VertexId id : bare) records.push_back({id, 0, 0, 0});
    merge_equal_ids(records);
  }
  if (!is_directed_) {
    for (auto& record : records)
      record.in_arcs = record.out_arcs = record.in_arcs + record.out_arcs;
  }
  return records;
}

std::vector<VertexRecord> gather_at_homes_of(Context& context, std::vector<VertexRecord> counted) {
  const auto num_ranks = static_cast<std::size_t>(context.size());
  if (num_ranks == 1) return counted;
  // Splitters from evenly spaced samples; any cut serves, since shards depend on prefix sums alone.
  constexpr std::size_t samples_per_rank = 64;
  std::vector<VertexId> samples;
  const std::size_t num_samples = std::min(samples_per_rank, counted.size());
  for (std::size_t i = 0; i < num_samples; ++i)
    samples.push_back(counted[i * counted.size() / num_samples].id);
  samples = all_concatenate(context, std::span<const VertexId>(samples));
  std::sort(samples.begin(), samples.end());
  std::vector<std::vector<VertexRecord>> outgoing(num_ranks);
  context.agree([&] {
    std::vector<VertexId> splitters;
    for (std::size_t r = 1; r < num_ranks && !samples.empty(); ++r)
      splitters.push_back(samples[r * samples.size() / num_ranks]);
    for (const auto& record : counted) {
      const auto at = std::upper_bound(splitters.begin(), splitters.end(), record.id);
      outgoing[static_cast<std::size_t>(at - splitters.begin())].push_back(record);
    }
    std::vector<VertexRecord>().swap(counted);
  });
  const auto incoming = exchange(context, std::move(outgoing));
  std::vector<VertexRecord> at_home;
  context.agree([&] {
    for (const auto& records : incoming)
      at_home.insert(at_home.end(), records.begin(), records.end());
    merge_equal_ids(at_home);
  });
  return at_home;
}

ShardAssignment assign_shards(Context& context, std::vector<VertexRecord> at_home,
                              std::optional<std::uint32_t> num_shards) {
  if (num_shards && (*num_shards < 1 || *num_shards > (1U << 20)))
    context.throw_agreed({ErrorCode::usage, "found " + std::to_string(*num_shards) +
                                                " shards; expected 1 to 1048576"});
  struct Total {
    std::uint64_t weight, vertices;
  };
  Total own_total{0, at_home.size()};
  for (auto& record : at_home) {
    own_total.weight += ShardMap::weight(record.in_arcs, record.out_arcs);
    record.heat = record.in_arcs + record.out_arcs;
  }
  std::uint64_t weight_before = 0;
  Total total{0, 0};
  const auto totals = all_gather(context, own_total);
  for (std::size_t r = 0; r < totals.size(); ++r) {
    if (r < static_cast<std::size_t>(context.rank())) weight_before += totals[r].weight;
    total.weight += totals[r].weight;
    total.vertices += totals[r].vertices;
  }
  const ShardIndex count =
      num_shards ? *num_shards : ShardMap::num_shards_for(total.weight, total.vertices);

  struct FirstId {
    ShardIndex shard;
    VertexId id;
  };
  std::vector<FirstId> first_here;
  for (const auto& record : at_home) {
    const ShardIndex shard = ShardMap::shard_for(weight_before, total.weight, count);
    if (first_here.empty() || first_here.back().shard != shard)
      first_here.push_back({shard, record.id});
    weight_before += ShardMap::weight(record.in_arcs, record.out_arcs);
  }
  // Homes ascend by id, so the first to name a shard has its smallest id.
  std::vector<std::optional<VertexId>> first_ids(count);
  for (const auto& first : all_concatenate(context, std::span<const FirstId>(first_here))) {
    if (!first_ids[first.shard]) first_ids[first.shard] = first.id;
  }
  ShardAssignment result;
  std::vector<std::vector<VertexRecord>> outgoing(static_cast<std::size_t>(context.size()));
  context.agree([&] {
    result.shards = ShardMap(first_ids, context.size());
    for (const auto& record : at_home)
      outgoing[static_cast<std::size_t>(result.shards.owner_of(record.id))].push_back(record);
    std::vector<VertexRecord>().swap(at_home);
  });
  for (const auto& records : exchange(context, std::move(outgoing)))
    result.own.insert(result.own.end(), records.begin(), records.end());
  return result;
}

}  // namespace weir
