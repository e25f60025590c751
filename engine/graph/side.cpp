// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/side.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <weir/engine/graph/heat_order.hpp>
#include <weir/engine/graph/side_inline.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir {

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
    std::vector<HeatEntry> entries;
    entries.reserve(ghosts.size() + vertices.size());
    const auto enter = [&](std::uint64_t heat) {
      entries.push_back({heat, static_cast<std::uint32_t>(entries.size())});
    };
    std::size_t first_own = 0;
    for (std::size_t r = 0; r < num_ranks; ++r) {
      for (const std::uint64_t heat : answers[r]) enter(heat);
      if (r != static_cast<std::size_t>(context.rank())) continue;
      first_own = entries.size();
      for (const Row row : vertices.rows_by_id()) enter(vertices.heat(row));
    }
    sort_by_heat(entries);
    slots.ids.resize(entries.size());
    slots.rows.resize(entries.size(), Slots::no_row);
    slots.of_rows.resize(vertices.size());
    for (std::size_t slot = 0; slot < entries.size(); ++slot) {
      const std::size_t index = entries[slot].index;
      if (index >= first_own && index - first_own < vertices.size()) {
        const Row row = vertices.rows_by_id()[index - first_own];
        slots.ids[slot] = vertices.id(row);
        slots.rows[slot] = row;
        slots.of_rows[row] = static_cast<Slot>(slot);
      } else {
        slots.ids[slot] = ghosts[index < first_own ? index : index - vertices.size()];
      }
    }

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
