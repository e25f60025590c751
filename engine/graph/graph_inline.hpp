// SPDX-License-Identifier: Apache-2.0
// Bodies of Graph; included where an edge value type is instantiated.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include <weir/engine/graph/arc_routing.hpp>
#include <weir/engine/graph/edge_store.hpp>
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

/// Hands the in-lists of this rank to `sink` as batches of edges, from several threads.
template <class E, class F>
void for_each_in_arc(Context& context, const Vertices& vertices, const Side<E>& in, const F& sink) {
  const ShardRange own = vertices.shards();
  context.parallel_for(own.size(), [&](std::size_t s) {
    const ShardIndex shard = own.begin + static_cast<ShardIndex>(s);
    std::vector<Edge<E>> batch;
    for (Row row = vertices.first_row(shard); row < vertices.first_row(shard + 1); ++row) {
      for (std::uint64_t i = in.first(row); i < in.last(row); ++i) {
        batch.push_back({in.slots.ids[in.neighbours[i]], vertices.id(row), in.values[i]});
        if (batch.size() < EdgeStore<E>::batch_edges) continue;
        sink(batch);
        batch.clear();
      }
    }
    sink(batch);
  });
}

/// The out-lists of this rank's vertices, from the in-lists of all ranks. Collective.
template <class E>
EdgeStore<E> collect_out_arcs(Context& context, const ShardMap& shards, const Vertices& vertices,
                              const Side<E>& in) {
  EdgeStore<E> arcs;
  const auto turned = [](const Edge<E>& arc) { return Edge<E>{arc.target, arc.source, arc.value}; };
  if (context.size() == 1) {
    for_each_in_arc(context, vertices, in, [&](std::vector<Edge<E>>& batch) {
      std::transform(batch.begin(), batch.end(), batch.begin(), turned);
      arcs.add(batch);
    });
    return arcs;
  }
  ArcRouter<E> router(context, "out-edges",
                      [&](std::span<const Edge<E>> batch) { arcs.add(batch); });
  for (Row row = 0; row < vertices.size(); ++row) {
    for (std::uint64_t i = in.first(row); i < in.last(row); ++i) {
      const VertexId source = in.slots.ids[in.neighbours[i]];
      router.send(shards.owner_of(source), {vertices.id(row), source, in.values[i]});
    }
  }
  router.close();
  return arcs;
}

}  // namespace detail

template <class E>
Side<E> Graph<E>::make_out_side() const {
  auto arcs = detail::collect_out_arcs(*context_, shards_, *vertices_, *sides_[0]);
  return make_side<E>(*context_, shards_, *vertices_, Edges::in, {arcs});
}

template <class E>
Side<E> Graph<E>::make_both_side() const {
  auto out_arcs = detail::collect_out_arcs(*context_, shards_, *vertices_, *sides_[0]);
  EdgeStore<E> in_arcs;
  context_->agree([&] {
    detail::for_each_in_arc(*context_, *vertices_, *sides_[0],
                            [&](const std::vector<Edge<E>>& batch) { in_arcs.add(batch); });
  });
  auto both = make_side<E>(*context_, shards_, *vertices_, Edges::both, {in_arcs, &out_arcs});
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
  ArcRouter<NoValue> removals(context, "edge removals", [&](std::span<const Edge<NoValue>> batch) {
    for (const auto& arc : batch) {
      if (const auto row = old.find(arc.target)) removed_arcs.emplace(*row, arc.source);
    }
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
  ArcRouter<E> to_source(context, "edge additions", [&](std::span<const Edge<E>> batch) {
    for (const auto& edge : batch) {
      if (record_of(edge.source))
        known_source.push_back(edge);
      else
        ++applied.num_dropped;
    }
  });
  for (const auto& edge : change.added_edges) to_source.send(shards_.owner_of(edge.source), edge);
  to_source.close();
  ArcRouter<E> to_target(context, "edge additions", [&](std::span<const Edge<E>> batch) {
    for (const auto& edge : batch) {
      if (record_of(edge.target))
        arcs.push_back(edge);
      else
        ++applied.num_dropped;
    }
  });
  for (const auto& edge : known_source) to_target.send(shards_.owner_of(edge.target), edge);
  to_target.close();
  if (!is_directed_) {
    const std::size_t num_forward = arcs.size();
    std::vector<Edge<E>> backward;
    ArcRouter<E> back(context, "edge additions", [&](std::span<const Edge<E>> batch) {
      backward.insert(backward.end(), batch.begin(), batch.end());
    });
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
  ArcRouter<NoValue> degrees(context, "degrees", [&](std::span<const Edge<NoValue>> batch) {
    for (const auto& arc : batch) ++record_of(arc.source)->out_arcs;
  });
  for (const auto& arc : arcs) {
    ++record_of(arc.target)->in_arcs;
    degrees.send(shards_.owner_of(arc.source), {arc.source, arc.target, {}});
  }
  degrees.close();

  Vertices vertices(context, shards_, std::move(records));
  applied.new_rows.resize(old.size());
  for (Row row = 0; row < old.size(); ++row) {
    const auto now = is_removed(old.id(row)) ? std::nullopt : vertices.find(old.id(row));
    applied.new_rows[row] = now.value_or(Slots::no_row);
  }
  EdgeStore<E> store;
  store.add(arcs);
  std::vector<Edge<E>>().swap(arcs);
  Side<E> side = make_side<E>(context, shards_, vertices, Edges::out, {store});
  side.is_symmetric = !is_directed_;
  vertices_ = std::make_shared<const Vertices>(std::move(vertices));
  sides_ = {};
  sides_[0] = std::make_unique<Side<E>>(std::move(side));
  count();
  return applied;
}

template <class E>
std::uint64_t Graph<E>::memory_bytes() const {
  std::uint64_t bytes = vertices_->num_bytes();
  for (const auto& side : sides_) {
    if (!side) continue;
    const std::uint64_t value_bytes = detail::bytes_of_value<E>(side->values.form());
    bytes += side->offsets.size() * 8 + side->splits.size() * 8;
    bytes += side->num_arcs() * (sizeof(Slot) + value_bytes);
    bytes += side->slots.size() * (sizeof(VertexId) + 2 * sizeof(Row));
    bytes += side->transpose.offsets.size() * 8;
    bytes += side->transpose.rows.size() * (sizeof(Row) + value_bytes);
  }
  return bytes;
}

}  // namespace weir
