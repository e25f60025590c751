// SPDX-License-Identifier: Apache-2.0
// Bodies of Side and SideBuilder; included where an edge value type is instantiated.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>

#include <weir/engine/graph/side.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

template <class E>
void Side<E>::make_transpose(Context& context) {
  if (has_transpose_) return;
  has_transpose_ = true;
  const bool has_ghosts = slots.size() > slots.of_rows.size();
  if (is_symmetric && !has_ghosts) return;
  const auto is_listed = [&](Slot slot) {
    return !is_symmetric || slots.rows[slot] == Slots::no_row;
  };
  // Threads take runs of rows of about as many arcs each; the order of readers does not matter.
  const std::size_t num_rows = offsets.size() - 1;
  constexpr std::uint64_t arcs_per_run = std::uint64_t{1} << 16;
  std::vector<std::size_t> cuts{0};
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (offsets[row + 1] - offsets[cuts.back()] >= arcs_per_run) cuts.push_back(row + 1);
  }
  if (cuts.back() != num_rows) cuts.push_back(num_rows);
  const auto for_each_arc = [&](const auto& f) {
    context.parallel_for(cuts.size() - 1, [&](std::size_t run) {
      for (std::size_t row = cuts[run]; row < cuts[run + 1]; ++row) {
        for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
          if (is_listed(neighbours[i])) f(static_cast<Row>(row), i);
        }
      }
    });
  };
  std::vector<std::uint64_t> next(slots.size() + 1, 0);
  const auto advance = [&](std::size_t slot) {
    return std::atomic_ref(next[slot]).fetch_add(1, std::memory_order_relaxed);
  };
  for_each_arc([&](Row, std::uint64_t i) { advance(neighbours[i] + std::size_t{1}); });
  std::partial_sum(next.begin(), next.end(), next.begin());
  transpose.offsets = next;
  transpose.rows.resize(next.back());
  transpose.values.resize(next.back());
  for_each_arc([&](Row row, std::uint64_t i) {
    const std::uint64_t at = advance(neighbours[i]);
    transpose.rows[at] = row;
    transpose.values.set(at, values[i]);
  });
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
