// SPDX-License-Identifier: Apache-2.0
// Bodies of Side and SideBuilder; included where an edge value type is instantiated.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include <weir/engine/graph/side.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

template <class E>
void Side<E>::make_transpose() {
  if (!transpose.offsets.empty()) return;
  std::vector<std::uint64_t> next(slots.size() + 1, 0);
  for (const Slot slot : neighbours) ++next[slot + std::size_t{1}];
  std::partial_sum(next.begin(), next.end(), next.begin());
  transpose.offsets = next;
  transpose.rows.resize(neighbours.size());
  transpose.values.resize(neighbours.size());
  const Row num_rows = static_cast<Row>(offsets.size() - 1);
  for (Row row = 0; row < num_rows; ++row) {
    for (std::uint64_t i = first(row); i < last(row); ++i) {
      const std::uint64_t at = next[neighbours[i]]++;
      transpose.rows[at] = row;
      transpose.values.set(at, values[i]);
    }
  }
}

template <class E>
SideBuilder<E>::SideBuilder(std::vector<std::uint64_t> first_lengths,
                            std::vector<std::uint64_t> second_lengths) {
  const std::size_t num_rows = first_lengths.size();
  side_.offsets.resize(num_rows + 1, 0);
  first_next_ = std::move(first_lengths);
  second_next_ = std::move(second_lengths);
  const bool has_second = !second_next_.empty();
  std::uint64_t at = 0;
  for (std::size_t row = 0; row < num_rows; ++row) {
    side_.offsets[row] = at;
    const std::uint64_t first_length = first_next_[row];
    first_next_[row] = at;
    at += first_length;
    if (!has_second) continue;
    const std::uint64_t second_length = second_next_[row];
    second_next_[row] = at;
    at += second_length;
  }
  side_.offsets[num_rows] = at;
  if (has_second) side_.splits = second_next_;
  neighbour_ids_.resize(at);
  side_.values.resize(at);
}

template <class E>
Side<E> SideBuilder<E>::finish(Context& context, const ShardMap& shards, const Vertices& vertices) {
  side_.slots = make_slots(context, shards, vertices, neighbour_ids_);
  context.agree([&] { sort_lists(context, vertices); });
  return std::move(side_);
}

template <class E>
void SideBuilder<E>::sort_lists(Context& context, const Vertices& vertices) {
  // Ids give way to slots; slots ascend in heat order, so sorting by slot is sorting by heat.
  std::vector<Slot> by_id(side_.slots.size());
  std::iota(by_id.begin(), by_id.end(), Slot{0});
  std::sort(by_id.begin(), by_id.end(),
            [&](Slot a, Slot b) { return side_.slots.ids[a] < side_.slots.ids[b]; });
  std::vector<VertexId> ids(by_id.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = side_.slots.ids[by_id[i]];
  const IdIndex index(std::move(ids));
  side_.neighbours.resize(neighbour_ids_.size());

  const ShardRange own = vertices.shards();
  context.parallel_for(own.size(), [&](std::size_t s) {
    const ShardIndex shard = own.begin + static_cast<ShardIndex>(s);
    std::vector<std::pair<Slot, E>> list;
    const auto sort_list = [&](std::uint64_t begin, std::uint64_t end) {
      list.clear();
      for (std::uint64_t i = begin; i < end; ++i) {
        const auto position = index.find(neighbour_ids_[i]);
        WEIR_EXPECT(position.has_value(), internal, "a neighbour has no slot");
        list.emplace_back(by_id[*position], side_.values[i]);
      }
      std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        if constexpr (std::is_same_v<E, NoValue>) {
          return false;
        } else {
          return std::memcmp(&a.second, &b.second, sizeof(E)) < 0;
        }
      });
      for (std::size_t k = 0; k < list.size(); ++k) {
        side_.neighbours[begin + k] = list[k].first;
        side_.values.set(begin + k, list[k].second);
      }
    };
    for (Row row = vertices.first_row(shard); row < vertices.first_row(shard + 1); ++row) {
      sort_list(side_.first(row), side_.split(row));
      sort_list(side_.split(row), side_.last(row));
    }
  });
  std::vector<VertexId>().swap(neighbour_ids_);
}

}  // namespace weir
