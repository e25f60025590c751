// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/vertices.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include <weir/engine/model/check.hpp>

namespace weir {

IdIndex::IdIndex(std::vector<VertexId> ids) : ids_(std::move(ids)) {
  if (ids_.empty()) return;
  const auto span =
      static_cast<std::uint64_t>(ids_.back()) - static_cast<std::uint64_t>(ids_.front());
  if (span == ids_.size() - 1) {
    way_ = Way::offset;
    return;
  }
  if (span / 4 >= ids_.size()) {
    way_ = Way::search;
    return;
  }
  way_ = Way::table;
  table_.assign(span + 1, absent);
  for (std::size_t i = 0; i < ids_.size(); ++i)
    table_[static_cast<std::uint64_t>(ids_[i]) - static_cast<std::uint64_t>(ids_.front())] =
        static_cast<std::uint32_t>(i);
}

std::optional<std::uint32_t> IdIndex::find(VertexId id) const {
  if (way_ == Way::none || id < ids_.front() || id > ids_.back()) return std::nullopt;
  const auto offset = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ids_.front());
  if (way_ == Way::offset) return static_cast<std::uint32_t>(offset);
  if (way_ == Way::table) {
    const std::uint32_t index = table_[offset];
    return index == absent ? std::nullopt : std::optional(index);
  }
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (*at != id) return std::nullopt;
  return static_cast<std::uint32_t>(at - ids_.begin());
}

Vertices::Vertices(const ShardMap& shards, Rank rank, std::vector<VertexRecord> records)
    : shards_(shards.owned_by(rank)) {
  WEIR_EXPECT(records.size() < std::numeric_limits<Row>::max(), input,
              "more than 2^32 - 2 vertices on one rank; use more ranks");
  std::vector<VertexId> ids;
  ids.reserve(records.size());
  for (const auto& record : records) ids.push_back(record.id);
  index_ = IdIndex(std::move(ids));

  // Records ascend by id, so each shard is a run; inside a run the heat order decides.
  std::vector<std::uint32_t> order(records.size());
  std::iota(order.begin(), order.end(), 0U);
  shard_rows_.assign(shards_.size() + std::size_t{1}, 0);
  std::size_t begin = 0;
  for (ShardIndex s = shards_.begin; s < shards_.end; ++s) {
    std::size_t end = begin;
    while (end < records.size() && shards.shard_of(records[end].id) == s) ++end;
    std::sort(
        order.begin() + static_cast<std::ptrdiff_t>(begin),
        order.begin() + static_cast<std::ptrdiff_t>(end), [&](std::uint32_t a, std::uint32_t b) {
          return HeatKey{records[a].heat, records[a].id} < HeatKey{records[b].heat, records[b].id};
        });
    shard_rows_[s - shards_.begin + 1] = static_cast<Row>(end);
    begin = end;
  }
  WEIR_EXPECT(begin == records.size(), internal,
              "a vertex reached a rank that does not own its shard");

  rows_by_id_.resize(records.size());
  for (Row row = 0; row < records.size(); ++row) {
    const VertexRecord& record = records[order[row]];
    rows_by_id_[order[row]] = row;
    ids_.push_back(record.id);
    in_degrees_.push_back(record.in_arcs);
    out_degrees_.push_back(record.out_arcs);
    heats_.push_back(record.heat);
  }
}

std::optional<Row> Vertices::find(VertexId id) const {
  const auto index = index_.find(id);
  return index ? std::optional(rows_by_id_[*index]) : std::nullopt;
}

std::vector<VertexRecord> Vertices::records() const {
  std::vector<VertexRecord> records;
  records.reserve(ids_.size());
  for (const Row row : rows_by_id_)
    records.push_back({ids_[row], in_degrees_[row], out_degrees_[row], heats_[row]});
  return records;
}

}  // namespace weir
