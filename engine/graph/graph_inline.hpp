// SPDX-License-Identifier: Apache-2.0
// Bodies of Graph; included where an edge value type is instantiated.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include <weir/engine/graph/arc_routing.hpp>
#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/side_inline.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir {

template <class E>
Graph<E>::Graph(Context& context, ShardMap shards, Vertices vertices, Side<E> in_side,
                bool is_directed)
    : context_(&context),
      shards_(std::move(shards)),
      vertices_(std::make_shared<const Vertices>(std::move(vertices))),
      is_directed_(is_directed) {
  in_side.is_symmetric = !is_directed;
  sides_[0] = std::make_unique<Side<E>>(std::move(in_side));
  count();
}

template <class E>
void Graph<E>::count() {
  struct Counts {
    std::uint64_t vertices, arcs;
  };
  num_vertices_ = num_arcs_ = 0;
  for (const Counts& each :
       all_gather(*context_, Counts{vertices_->size(), sides_[0]->num_arcs()})) {
    num_vertices_ += each.vertices;
    num_arcs_ += each.arcs;
  }
}

template <class E>
Side<E>& Graph<E>::side_for(Edges edges) const {
  if (!is_directed_ || edges == Edges::out) return *sides_[0];
  auto& side = sides_[edges == Edges::in ? 1 : 2];
  if (side) return *side;
  try {
    side = std::make_unique<Side<E>>(edges == Edges::in ? make_out_side() : make_both_side());
    return *side;
  } catch (...) {
    context_->rethrow_for_all();
  }
}

namespace detail {

/// Every in-arc of this rank as an edge, to the owner of its source.
template <class E>
void route_to_sources(Context& context, const ShardMap& shards, const Vertices& vertices,
                      const Side<E>& in, const std::function<void(const Edge<E>&)>& receive) {
  ArcRouter<E> router(context, "out-edges", receive);
  for (Row row = 0; row < vertices.size(); ++row) {
    for (std::uint64_t i = in.first(row); i < in.last(row); ++i) {
      const VertexId source = in.slots.ids[in.neighbours[i]];
      router.send(shards.owner_of(source), {source, vertices.id(row), in.values[i]});
    }
  }
  router.close();
}

}  // namespace detail

template <class E>
Side<E> Graph<E>::make_out_side() const {
  const Vertices& own = *vertices_;
  std::vector<std::uint64_t> lengths(own.size());
  for (Row row = 0; row < own.size(); ++row) lengths[row] = own.out_degree(row);
  SideBuilder<E> builder(std::move(lengths), {});
  detail::route_to_sources<E>(*context_, shards_, own, *sides_[0], [&](const Edge<E>& arc) {
    builder.place_first(*own.find(arc.source), arc.target, arc.value);
  });
  return builder.finish(*context_, shards_, own);
}

template <class E>
Side<E> Graph<E>::make_both_side() const {
  const Vertices& own = *vertices_;
  const Side<E>& in = *sides_[0];
  std::vector<std::uint64_t> in_lengths(own.size());
  std::vector<std::uint64_t> out_lengths(own.size());
  for (Row row = 0; row < own.size(); ++row) {
    in_lengths[row] = own.in_degree(row);
    out_lengths[row] = own.out_degree(row);
  }
  SideBuilder<E> builder(std::move(in_lengths), std::move(out_lengths));
  for (Row row = 0; row < own.size(); ++row) {
    for (std::uint64_t i = in.first(row); i < in.last(row); ++i)
      builder.place_first(row, in.slots.ids[in.neighbours[i]], in.values[i]);
  }
  detail::route_to_sources<E>(*context_, shards_, own, in, [&](const Edge<E>& arc) {
    builder.place_second(*own.find(arc.source), arc.target, arc.value);
  });
  Side<E> both = builder.finish(*context_, shards_, own);
  both.is_symmetric = true;
  return both;
}

template <class E>
AppliedChange Graph<E>::apply(TopologyChange<E> change) {
  Context& context = *context_;
  const Vertices& old = *vertices_;
  const Side<E>& in = *sides_[0];
  AppliedChange applied;

  auto removed_vertices =
      all_concatenate(context, std::span<const VertexId>(change.removed_vertices));
  std::sort(removed_vertices.begin(), removed_vertices.end());
  const auto is_removed = [&](VertexId id) {
    return std::binary_search(removed_vertices.begin(), removed_vertices.end(), id);
  };

  // Removed arcs, by the row whose in-list loses them.
  std::set<std::pair<Row, VertexId>> removed_arcs;
  ArcRouter<NoValue> removals(context, "edge removals", [&](const Edge<NoValue>& arc) {
    if (const auto row = old.find(arc.target)) removed_arcs.emplace(*row, arc.source);
  });
  for (const auto& [source, target] : change.removed_edges) {
    removals.send(shards_.owner_of(target), {source, target, {}});
    if (!is_directed_) removals.send(shards_.owner_of(source), {target, source, {}});
  }
  removals.close();

  // The vertices that stay or come. Degrees are counted anew from the arcs.
  std::vector<VertexRecord> records;
  for (const auto& record : old.records()) {
    if (!is_removed(record.id)) records.push_back({record.id, 0, 0, record.heat});
  }
  for (const VertexId id : change.added_vertices) {
    if (!old.find(id) || is_removed(id)) records.push_back({id, 0, 0, 0});
  }
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  records.erase(std::unique(records.begin(), records.end(),
                            [](const auto& a, const auto& b) { return a.id == b.id; }),
                records.end());
  const auto record_of = [&](VertexId id) -> VertexRecord* {
    const auto at =
        std::lower_bound(records.begin(), records.end(), id,
                         [](const auto& record, VertexId key) { return record.id < key; });
    return at != records.end() && at->id == id ? &*at : nullptr;
  };

  // Added edges: the owner of the source, then the owner of the target, see that both exist.
  std::vector<Edge<E>> arcs;  // new in-arcs of this rank
  std::vector<Edge<E>> known_source;
  ArcRouter<E> to_source(context, "edge additions", [&](const Edge<E>& edge) {
    if (record_of(edge.source))
      known_source.push_back(edge);
    else
      ++applied.num_dropped;
  });
  for (const auto& edge : change.added_edges) to_source.send(shards_.owner_of(edge.source), edge);
  to_source.close();
  ArcRouter<E> to_target(context, "edge additions", [&](const Edge<E>& edge) {
    if (record_of(edge.target))
      arcs.push_back(edge);
    else
      ++applied.num_dropped;
  });
  for (const auto& edge : known_source) to_target.send(shards_.owner_of(edge.target), edge);
  to_target.close();
  if (!is_directed_) {
    const std::size_t num_forward = arcs.size();
    std::vector<Edge<E>> backward;
    ArcRouter<E> back(context, "edge additions",
                      [&](const Edge<E>& edge) { backward.push_back(edge); });
    for (std::size_t i = 0; i < num_forward; ++i) {
      const Edge<E>& edge = arcs[i];
      back.send(shards_.owner_of(edge.source), {edge.target, edge.source, edge.value});
    }
    back.close();
    arcs.insert(arcs.end(), backward.begin(), backward.end());
  }

  for (Row row = 0; row < old.size(); ++row) {
    if (is_removed(old.id(row))) continue;
    for (std::uint64_t i = in.first(row); i < in.last(row); ++i) {
      const VertexId source = in.slots.ids[in.neighbours[i]];
      if (is_removed(source) || removed_arcs.count({row, source}) > 0) continue;
      arcs.push_back({source, old.id(row), in.values[i]});
    }
  }
  ArcRouter<NoValue> degrees(context, "degrees",
                             [&](const Edge<NoValue>& arc) { ++record_of(arc.source)->out_arcs; });
  for (const auto& arc : arcs) {
    ++record_of(arc.target)->in_arcs;
    degrees.send(shards_.owner_of(arc.source), {arc.source, arc.target, {}});
  }
  degrees.close();

  Vertices vertices(shards_, context.rank(), std::move(records));
  applied.new_rows.resize(old.size());
  for (Row row = 0; row < old.size(); ++row) {
    const auto now = is_removed(old.id(row)) ? std::nullopt : vertices.find(old.id(row));
    applied.new_rows[row] = now.value_or(Slots::no_row);
  }
  std::vector<std::uint64_t> lengths(vertices.size());
  for (Row row = 0; row < vertices.size(); ++row) lengths[row] = vertices.in_degree(row);
  SideBuilder<E> builder(std::move(lengths), {});
  for (const auto& arc : arcs)
    builder.place_first(*vertices.find(arc.target), arc.source, arc.value);
  Side<E> side = builder.finish(context, shards_, vertices);
  side.is_symmetric = !is_directed_;
  vertices_ = std::make_shared<const Vertices>(std::move(vertices));
  sides_ = {};
  sides_[0] = std::make_unique<Side<E>>(std::move(side));
  count();
  return applied;
}

template <class E>
std::uint64_t Graph<E>::memory_bytes() const {
  constexpr std::uint64_t value_bytes = std::is_same_v<E, NoValue> ? 0 : sizeof(E);
  std::uint64_t bytes = vertices_->size() * std::uint64_t{48};
  for (const auto& side : sides_) {
    if (!side) continue;
    bytes += side->offsets.size() * 8 + side->splits.size() * 8;
    bytes += side->num_arcs() * (sizeof(Slot) + value_bytes);
    bytes += side->slots.size() * (sizeof(VertexId) + 2 * sizeof(Row));
    bytes += side->transpose.offsets.size() * 8;
    bytes += side->transpose.rows.size() * (sizeof(Row) + value_bytes);
  }
  return bytes;
}

}  // namespace weir
