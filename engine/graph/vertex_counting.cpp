// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/vertex_counting.hpp>

#include <algorithm>
#include <numeric>

#include <weir/engine/runtime/collectives.hpp>

namespace weir {

namespace {

bool is_before(const VertexRecord& a, const VertexRecord& b) { return a.id < b.id; }

/// Sorts records that are sorted from each bound to the next; the bounds begin with 0 and end with
/// the number of records.
void merge_runs(std::vector<VertexRecord>& records, const std::vector<std::size_t>& bounds) {
  const std::size_t num_runs = bounds.size() - 1;
  const auto at = [&](std::size_t bound) {
    return records.begin() + static_cast<std::ptrdiff_t>(bounds[std::min(bound, num_runs)]);
  };
  for (std::size_t width = 1; width < num_runs; width *= 2) {
    for (std::size_t run = 0; run + width < num_runs; run += 2 * width)
      std::inplace_merge(at(run), at(run + width), at(run + 2 * width), is_before);
  }
}

/// Makes one record of those of one vertex, which are neighbours.
void join_equal_ids(std::vector<VertexRecord>& records) {
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

EndPointCounter::EndPointCounter(bool is_directed, const IdRange& range, std::size_t num_workers)
    : is_directed_(is_directed), range_(range), num_workers_(num_workers) {
  // Counters are 32 bits wide.
  is_dense_ = range.is_dense() && range.num_seen < (std::uint64_t{1} << 32);
  if (!is_dense_) {
    tables_.resize(num_workers);
    return;
  }
  const std::size_t num_counters = static_cast<std::size_t>(range.span()) + 1;
  const std::size_t most_arrays = static_cast<std::size_t>(range.num_seen) / num_counters;
  arrays_.resize(std::clamp<std::size_t>(most_arrays, 1, num_workers));
  for (Array& array : arrays_) {
    array.out.resize(num_counters);
    if (is_directed) array.in.resize(num_counters);
  }
}

std::vector<VertexRecord> EndPointCounter::finish(Context& context, const IdRuns& listed,
                                                  const IdRuns& bare) {
  if (range_.num_seen == 0) return {};
  auto records = is_dense_ ? finish_dense(context, listed, bare) : finish_sparse(listed, bare);
  if (!is_directed_) {
    for (auto& record : records)
      record.in_arcs = record.out_arcs = record.in_arcs + record.out_arcs;
  }
  return records;
}

std::vector<VertexRecord> EndPointCounter::finish_dense(Context& context, const IdRuns& listed,
                                                        const IdRuns& bare) {
  const std::size_t num_counters = arrays_.front().out.size();
  std::vector<bool> is_listed(num_counters);
  std::vector<bool> is_vertex(num_counters);
  listed.for_each(
      [&](VertexId id) { is_listed[range_.offset(id)] = is_vertex[range_.offset(id)] = true; });
  bare.for_each([&](VertexId id) { is_vertex[range_.offset(id)] = true; });

  // Twice over the counters: once to know where the records of a block go, so that they are made
  // where they stay.
  constexpr std::size_t block_size = std::size_t{1} << 16;
  const std::size_t num_blocks = (num_counters + block_size - 1) / block_size;
  const auto for_each_record = [&](std::size_t b, const auto& visit) {
    for (std::size_t i = b * block_size; i < std::min(num_counters, (b + 1) * block_size); ++i) {
      VertexRecord record{range_.at(i), 0, 0, is_listed[i] ? 1U : 0U};
      for (const Array& array : arrays_) {
        record.out_arcs += array.out[i];
        if (is_directed_) record.in_arcs += array.in[i];
      }
      if (record.in_arcs + record.out_arcs > 0 || is_vertex[i]) visit(record);
    }
  };
  std::vector<std::size_t> begins(num_blocks + 1);
  context.parallel_for(num_blocks, [&](std::size_t b) {
    std::size_t count = 0;
    for_each_record(b, [&](const VertexRecord&) { ++count; });
    begins[b + 1] = count;
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<VertexRecord> records(begins.back());
  context.parallel_for(num_blocks, [&](std::size_t b) {
    std::size_t at = begins[b];
    for_each_record(b, [&](const VertexRecord& record) { records[at++] = record; });
  });
  return records;
}

std::vector<VertexRecord> EndPointCounter::finish_sparse(const IdRuns& listed, const IdRuns& bare) {
  std::vector<VertexRecord> records;
  for (const auto& table : tables_) {
    table.for_each([&](VertexId id, const Counts& counts) {
      records.push_back({id, counts.in_arcs, counts.out_arcs, 0});
    });
  }
  listed.for_each([&](VertexId id) { records.push_back({id, 0, 0, 1}); });
  bare.for_each([&](VertexId id) { records.push_back({id, 0, 0, 0}); });
  std::sort(records.begin(), records.end(), is_before);
  join_equal_ids(records);
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
    std::vector<std::size_t> bounds{0};
    for (const auto& records : incoming) {
      at_home.insert(at_home.end(), records.begin(), records.end());
      bounds.push_back(at_home.size());
    }
    merge_runs(at_home, bounds);
    join_equal_ids(at_home);
  });
  return at_home;
}

ShardAssignment assign_shards(Context& context, std::vector<VertexRecord> at_home,
                              std::optional<std::uint32_t> num_shards) {
  const bool is_alone = context.size() == 1;
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
  std::uint64_t next_shard_weight = 0;  // below it the shard is still that of the vertex before
  for (const auto& record : at_home) {
    if (first_here.empty() || weight_before >= next_shard_weight) {
      const ShardIndex shard = ShardMap::shard_for(weight_before, total.weight, count);
      first_here.push_back({shard, record.id});
      next_shard_weight = ShardMap::first_weight_of(shard + 1, total.weight, count);
    }
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
    if (is_alone) {
      result.own = std::move(at_home);
      return;
    }
    for (const auto& record : at_home)
      outgoing[static_cast<std::size_t>(result.shards.owner_of(record.id))].push_back(record);
    std::vector<VertexRecord>().swap(at_home);
  });
  if (is_alone) return result;
  for (const auto& records : exchange(context, std::move(outgoing)))
    result.own.insert(result.own.end(), records.begin(), records.end());
  return result;
}

}  // namespace weir
