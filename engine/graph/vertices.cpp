// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/vertices.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include <weir/engine/graph/heat_order.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

IdIndex::IdIndex(std::span<const VertexId> ids) {
  if (ids.empty()) return;
  range_ = {ids.front(), ids.back(), ids.size()};
  if (range_.span() == ids.size() - 1) return;
  if (range_.is_dense()) {
    way_ = Way::table;
    table_.assign(static_cast<std::size_t>(range_.span()) + 1, absent);
    for (std::size_t i = 0; i < ids.size(); ++i)
      table_[range_.offset(ids[i])] = static_cast<std::uint32_t>(i);
  } else {
    way_ = Way::hash;
    hash_ = IdMap<std::uint32_t>(absent, ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) hash_[ids[i]] = static_cast<std::uint32_t>(i);
  }
}

Vertices::Vertices(Context& context, const ShardMap& shards, std::vector<VertexRecord> records)
    : shards_(shards.owned_by(context.rank())) {
  WEIR_EXPECT(records.size() < std::numeric_limits<Row>::max(), input,
              "more than 2^32 - 2 vertices on one rank; use more ranks");
  const std::size_t num_rows = records.size();
  // Records ascend by id, so each shard is a run.
  shard_rows_.assign(shards_.size() + std::size_t{1}, 0);
  std::size_t end = 0;
  for (ShardIndex s = shards_.begin; s < shards_.end; ++s) {
    while (end < num_rows && shards.is_up_to(records[end].id, s)) ++end;
    shard_rows_[s - shards_.begin + 1] = static_cast<Row>(end);
  }
  WEIR_EXPECT(end == num_rows, internal, "a vertex reached a rank that does not own its shard");

  ids_.resize(num_rows);
  struct Facts {
    std::uint64_t most_in = 0, most_out = 0;
    bool has_moved = false;  // heat is the sum of the degrees until a vertex gains or loses arcs
  };
  std::vector<Facts> of_shards(shards_.size());
  context.parallel_for(shards_.size(), [&](std::size_t s) {
    Facts facts;
    for (std::size_t i = shard_rows_[s]; i < shard_rows_[s + 1]; ++i) {
      const VertexRecord& record = records[i];
      ids_[i] = record.id;
      facts.most_in = std::max(facts.most_in, record.in_arcs);
      facts.most_out = std::max(facts.most_out, record.out_arcs);
      facts.has_moved |= record.heat != record.in_arcs + record.out_arcs;
    }
    of_shards[s] = facts;
  });
  Facts all;
  for (const Facts& facts : of_shards) {
    all.most_in = std::max(all.most_in, facts.most_in);
    all.most_out = std::max(all.most_out, facts.most_out);
    all.has_moved |= facts.has_moved;
  }
  const bool has_moved = all.has_moved;
  const std::function<void()> arrays[] = {
      [&] { index_ = IdIndex(ids_); },
      [&] { in_degrees_ = ArcCounts(num_rows, all.most_in); },
      [&] { out_degrees_ = ArcCounts(num_rows, all.most_out); },
      [&] { rows_by_id_.resize(num_rows); },
  };
  context.parallel_for(std::size(arrays), [&](std::size_t i) { arrays[i](); });
  if (has_moved) heats_.resize(num_rows);

  context.parallel_for(shards_.size(), [&](std::size_t s) {
    const Row first = shard_rows_[s];
    std::vector<HeatEntry> order(shard_rows_[s + 1] - first);
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = {records[first + i].heat, static_cast<std::uint32_t>(first + i)};
    sort_by_heat(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t row = first + i;
      const VertexRecord& record = records[order[i].index];
      rows_by_id_[order[i].index] = static_cast<Row>(row);
      ids_[row] = record.id;
      in_degrees_.set(row, record.in_arcs);
      out_degrees_.set(row, record.out_arcs);
      if (has_moved) heats_[row] = record.heat;
    }
  });
}

std::vector<VertexRecord> Vertices::records() const {
  std::vector<VertexRecord> records;
  records.reserve(ids_.size());
  for (const Row row : rows_by_id_)
    records.push_back({ids_[row], in_degrees_[row], out_degrees_[row], heat(row)});
  return records;
}

std::uint64_t Vertices::num_bytes() const {
  return ids_.size() * (sizeof(VertexId) + sizeof(Row)) + in_degrees_.num_bytes() +
         out_degrees_.num_bytes() + heats_.size() * sizeof(std::uint64_t) + index_.num_bytes();
}

}  // namespace weir
