// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/side.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include <weir/engine/graph/side_inline.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir {

namespace {

/// The distinct ids that are not own, ascending.
std::vector<VertexId> remote_ids(const Vertices& vertices, std::span<const VertexId> neighbours) {
  std::vector<VertexId> remote;
  if (neighbours.empty()) return remote;
  const auto [least, greatest] = std::minmax_element(neighbours.begin(), neighbours.end());
  const auto span = static_cast<std::uint64_t>(*greatest) - static_cast<std::uint64_t>(*least);
  if (span / 8 < neighbours.size()) {  // one bit per id of the range
    std::vector<bool> seen(span + 1);
    for (const VertexId id : neighbours)
      seen[static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(*least)] = true;
    for (std::uint64_t i = 0; i <= span; ++i) {
      const auto id = static_cast<VertexId>(static_cast<std::uint64_t>(*least) + i);
      if (seen[i] && !vertices.find(id)) remote.push_back(id);
    }
    return remote;
  }
  for (const VertexId id : neighbours)
    if (!vertices.find(id)) remote.push_back(id);
  std::sort(remote.begin(), remote.end());
  remote.erase(std::unique(remote.begin(), remote.end()), remote.end());
  return remote;
}

struct SlotEntry {
  HeatKey key;
  Row row = Slots::no_row;
};

void sort_by_heat(std::vector<SlotEntry>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const SlotEntry& a, const SlotEntry& b) { return a.key < b.key; });
}

}  // namespace

Slots make_slots(Context& context, const ShardMap& shards, const Vertices& vertices,
                 std::span<const VertexId> neighbours) {
  const auto num_ranks = static_cast<std::size_t>(context.size());
  std::vector<std::vector<VertexId>> asked(num_ranks);
  std::vector<std::vector<std::uint64_t>> heats(num_ranks);
  std::vector<std::vector<VertexId>> asking;
  std::vector<std::vector<std::uint64_t>> answers;
  context.agree([&] {
    for (const VertexId id : remote_ids(vertices, neighbours))
      asked[static_cast<std::size_t>(shards.owner_of(id))].push_back(id);
  });
  asking = exchange(context, asked);
  context.agree([&] {
    for (std::size_t r = 0; r < num_ranks; ++r) {
      for (const VertexId id : asking[r]) {
        const auto row = vertices.find(id);
        WEIR_EXPECT(row.has_value(), internal,
                    "vertex " + std::to_string(id) + " is named by an edge but owned by no rank");
        heats[r].push_back(vertices.heat_key(*row).heat);
      }
    }
  });
  answers = exchange(context, std::move(heats));

  Slots slots;
  context.agree([&] {
    std::vector<SlotEntry> entries;
    for (Row row = 0; row < vertices.size(); ++row)
      entries.push_back({vertices.heat_key(row), row});
    for (std::size_t r = 0; r < num_ranks; ++r) {
      for (std::size_t i = 0; i < asked[r].size(); ++i)
        entries.push_back({{answers[r][i], asked[r][i]}, Slots::no_row});
    }
    WEIR_EXPECT(entries.size() < std::numeric_limits<Slot>::max(), input,
                "more than 2^32 - 2 own and neighbouring vertices on one rank; use more ranks");
    sort_by_heat(entries);
    slots.of_rows.resize(vertices.size());
    for (std::size_t slot = 0; slot < entries.size(); ++slot) {
      slots.ids.push_back(entries[slot].key.id);
      slots.rows.push_back(entries[slot].row);
      if (entries[slot].row != Slots::no_row)
        slots.of_rows[entries[slot].row] = static_cast<Slot>(slot);
    }

    // Both ends of a link list its vertices in heat order, so values need no ids on the wire.
    std::vector<GhostLink> links(num_ranks);
    for (std::size_t r = 0; r < num_ranks; ++r) {
      links[r].peer = static_cast<Rank>(r);
      for (const VertexId id : asking[r])
        links[r].sent.push_back(slots.of_rows[*vertices.find(id)]);
      std::sort(links[r].sent.begin(), links[r].sent.end());
    }
    for (std::size_t slot = 0; slot < entries.size(); ++slot) {
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
template class SideBuilder<NoValue>;
template class SideBuilder<float>;
template class SideBuilder<double>;

}  // namespace weir
