// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/side.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include <weir/engine/graph/heat_order.hpp>
#include <weir/engine/graph/side_inline.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir {

namespace {

/// Calls visit(place, index) for vertices that ascend by id, with their places in the heat order.
/// `for_each_heat(f)` calls f(heat) for each of them, by index.
template <class F, class G>
void for_each_in_heat_order(std::size_t size, const F& for_each_heat, const G& visit) {
  std::uint64_t most = 0;
  for_each_heat([&](std::uint64_t heat) { most = std::max(most, heat); });
  if (most / 4 < size) {  // counting takes no more memory than sorting does
    std::vector<std::size_t> next(static_cast<std::size_t>(most) + 2);
    for_each_heat([&](std::uint64_t heat) { ++next[most - heat + 1]; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::size_t index = 0;
    for_each_heat([&](std::uint64_t heat) { visit(next[most - heat]++, index++); });
    return;
  }
  std::vector<HeatEntry> entries;
  entries.reserve(size);
  for_each_heat([&](std::uint64_t heat) {
    entries.push_back({heat, static_cast<std::uint32_t>(entries.size())});
  });
  sort_by_heat(entries);
  for (std::size_t place = 0; place < size; ++place) visit(place, entries[place].index);
}

}  // namespace

Slots make_slots(Context& context, const ShardMap& shards, const Vertices& vertices,
                 std::span<const VertexId> ghosts) {
  const auto num_ranks = static_cast<std::size_t>(context.size());
  std::vector<std::vector<VertexId>> asked(num_ranks);
  std::vector<std::vector<std::uint64_t>> heats(num_ranks);
  std::vector<std::vector<VertexId>> asking;
  std::vector<std::vector<std::uint64_t>> answers;
  context.agree([&] {
    WEIR_EXPECT(ghosts.size() + vertices.size() < std::numeric_limits<Slot>::max(), input,
                "more than 2^32 - 2 own and neighbouring vertices on one rank; use more ranks");
    for (const VertexId id : ghosts)
      asked[static_cast<std::size_t>(shards.owner_of(id))].push_back(id);
  });
  asking = exchange(context, std::move(asked));
  context.agree([&] {
    for (std::size_t r = 0; r < num_ranks; ++r) {
      for (const VertexId id : asking[r]) {
        const auto row = vertices.find(id);
        WEIR_EXPECT(row.has_value(), internal,
                    "vertex " + std::to_string(id) + " is named by an edge but owned by no rank");
        heats[r].push_back(vertices.heat(*row));
      }
    }
  });
  answers = exchange(context, std::move(heats));

  Slots slots;
  context.agree([&] {
    // By ascending id: ghosts of the ranks before this one, own vertices, ghosts of later ranks.
    std::size_t first_own = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(context.rank()); ++r)
      first_own += answers[r].size();
    const std::size_t end_own = first_own + vertices.size();
    const auto for_each_heat = [&](const auto& visit) {
      for (std::size_t r = 0; r < num_ranks; ++r) {
        for (const std::uint64_t heat : answers[r]) visit(heat);
        if (r != static_cast<std::size_t>(context.rank())) continue;
        for (const Row row : vertices.rows_by_id()) visit(vertices.heat(row));
      }
    };
    const std::function<void()> arrays[] = {
        [&] { slots.ids.resize(ghosts.size() + vertices.size()); },
        [&] { slots.rows.resize(ghosts.size() + vertices.size(), Slots::no_row); },
        [&] { slots.of_rows.resize(vertices.size()); },
    };
    context.parallel_for(std::size(arrays), [&](std::size_t i) { arrays[i](); });
    for_each_in_heat_order(slots.size(), for_each_heat, [&](std::size_t slot, std::size_t index) {
      if (index >= first_own && index < end_own) {
        const Row row = vertices.rows_by_id()[index - first_own];
        slots.ids[slot] = vertices.id(row);
        slots.rows[slot] = row;
        slots.of_rows[row] = static_cast<Slot>(slot);
      } else {
        slots.ids[slot] = ghosts[index < first_own ? index : index - vertices.size()];
      }
    });

    // Both ends of a link list its vertices in heat order, so values need no ids on the wire.
    std::vector<GhostLink> links(num_ranks);
    for (std::size_t r = 0; r < num_ranks; ++r) {
      links[r].peer = static_cast<Rank>(r);
      for (const VertexId id : asking[r])
        links[r].sent.push_back(slots.of_rows[*vertices.find(id)]);
      std::sort(links[r].sent.begin(), links[r].sent.end());
    }
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots.rows[slot] != Slots::no_row) continue;
      const Rank owner = shards.owner_of(slots.ids[slot]);
      links[static_cast<std::size_t>(owner)].received.push_back(static_cast<Slot>(slot));
    }
    for (auto& link : links) {
      if (!link.sent.empty() || !link.received.empty()) slots.links.push_back(std::move(link));
    }
  });
  return slots;
}

template struct Side<NoValue>;
template struct Side<float>;
template struct Side<double>;
template Side<NoValue> make_side(Context&, const ShardMap&, const Vertices&, Edges,
                                 SideArcs<NoValue>);
template Side<float> make_side(Context&, const ShardMap&, const Vertices&, Edges, SideArcs<float>);
template Side<double> make_side(Context&, const ShardMap&, const Vertices&, Edges,
                                SideArcs<double>);

}  // namespace weir
