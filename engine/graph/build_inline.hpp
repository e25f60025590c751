// SPDX-License-Identifier: Apache-2.0
// Bodies of GraphBuilder; included where an edge value type is instantiated.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include <weir/engine/graph/arc_routing.hpp>
#include <weir/engine/graph/build.hpp>
#include <weir/engine/graph/graph_inline.hpp>
#include <weir/engine/graph/vertex_counting.hpp>

namespace weir {

namespace detail {

/// Order in which merging keeps the first: by number where there is one, then by bits.
template <class E>
bool value_before(const E& a, const E& b) {
  if constexpr (std::is_same_v<E, NoValue>) {
    return false;
  } else if constexpr (std::is_arithmetic_v<E>) {
    return before(a, b);
  } else {
    return std::memcmp(&a, &b, sizeof(E)) < 0;
  }
}

}  // namespace detail

template <class E>
void GraphBuilder<E>::add_edges(std::vector<Edge<E>> edges) {
  if (options_.loops == Loops::drop) {
    std::size_t kept = 0;
    for (const Edge<E>& edge : edges) {
      if (edge.source == edge.target) {
        if (loop_ends_.empty() || loop_ends_.back() != edge.source)
          loop_ends_.push_back(edge.source);
      } else {
        edges[kept++] = edge;
      }
    }
    edges.resize(kept);
  }
  if (edges.empty()) return;
  edges_.push_back(std::move(edges));
}

template <class E>
void GraphBuilder<E>::merge_repeats() {
  std::vector<Edge<E>> kept;
  ArcRouter<E> router(context_, "repeats", [&](const Edge<E>& edge) { kept.push_back(edge); });
  const auto num_ranks = static_cast<std::uint64_t>(context_.size());
  for (; !edges_.empty(); edges_.pop_front()) {
    for (Edge<E> edge : edges_.front()) {
      if (!options_.is_directed && edge.source > edge.target) std::swap(edge.source, edge.target);
      const std::uint64_t hash = static_cast<std::uint64_t>(edge.source) * 0x9e3779b97f4a7c15U ^
                                 static_cast<std::uint64_t>(edge.target) * 0xc2b2ae3d27d4eb4fU;
      router.send(static_cast<Rank>((hash >> 32) % num_ranks), edge);
    }
  }
  router.close();
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    if (a.source != b.source) return a.source < b.source;
    if (a.target != b.target) return a.target < b.target;
    return detail::value_before(a.value, b.value);
  });
  kept.erase(std::unique(kept.begin(), kept.end(),
                         [](const auto& a, const auto& b) {
                           return a.source == b.source && a.target == b.target;
                         }),
             kept.end());
  if (!kept.empty()) edges_.push_back(std::move(kept));
}

template <class E>
std::vector<VertexRecord> GraphBuilder<E>::count_end_points() const {
  EndPointCounter counter(options_.is_directed);
  for (const auto& batch : edges_) {
    for (const auto& edge : batch) counter.see(edge.source, edge.target);
  }
  counter.see_vertices(vertices_);
  counter.see_vertices(loop_ends_);
  counter.begin();
  for (const auto& batch : edges_) {
    for (const auto& edge : batch) counter.count(edge.source, edge.target);
  }
  return counter.finish(vertices_, loop_ends_);
}

template <class E>
Graph<E> GraphBuilder<E>::finish() {
  try {
    return build();
  } catch (...) {
    context_.rethrow_for_all();
  }
}

template <class E>
Graph<E> GraphBuilder<E>::build() {
  if (options_.repeats == Repeats::merge) merge_repeats();
  std::vector<VertexRecord> at_home;
  for (bool is_settled = false; !is_settled;) {
    std::vector<VertexRecord> counted;
    context_.agree([&] { counted = count_end_points(); });
    at_home = gather_at_homes_of(context_, std::move(counted));
    is_settled = !has_vertex_list_ || settle_unknown(at_home);
  }
  std::vector<VertexId>().swap(vertices_);
  ShardAssignment assigned = assign_shards(context_, std::move(at_home), options_.num_shards);
  const ShardMap& shards = assigned.shards;
  std::optional<Vertices> vertices;
  std::optional<SideBuilder<E>> builder;
  context_.agree([&] {
    vertices.emplace(shards, context_.rank(), std::move(assigned.own));
    std::vector<std::uint64_t> lengths(vertices->size());
    for (Row row = 0; row < vertices->size(); ++row) lengths[row] = vertices->in_degree(row);
    builder.emplace(std::move(lengths), std::vector<std::uint64_t>{});
  });

  ArcRouter<E> router(context_, "edges", [&](const Edge<E>& arc) {
    builder->place_first(*vertices->find(arc.target), arc.source, arc.value);
  });
  std::uint64_t num_sent = 0;
  for (; !edges_.empty(); edges_.pop_front()) {
    for (const auto& edge : edges_.front()) {
      router.send(shards.owner_of(edge.target), edge);
      if (!options_.is_directed)
        router.send(shards.owner_of(edge.source), {edge.target, edge.source, edge.value});
    }
    num_sent += edges_.front().size();
    if (options_.progress) options_.progress("place", num_sent);
  }
  router.close();
  Side<E> side = builder->finish(context_, shards, *vertices);
  return Graph<E>(context_, std::move(assigned.shards), std::move(*vertices), std::move(side),
                  options_.is_directed);
}

template <class E>
bool GraphBuilder<E>::settle_unknown(const std::vector<VertexRecord>& at_home) {
  // A home rank marks a vertex of the list by heat 1 (see EndPointCounter).
  std::vector<VertexId> unknown_here;
  for (const auto& record : at_home) {
    if (record.heat == 0) unknown_here.push_back(record.id);
  }
  if (options_.unknown_vertices == UnknownVertices::add) return true;
  if (options_.unknown_vertices == UnknownVertices::refuse) {
    // One example is enough: the smallest.
    if (unknown_here.size() > 1) unknown_here.resize(1);
  }
  const auto unknown = all_concatenate(context_, std::span<const VertexId>(unknown_here));
  if (unknown.empty()) return true;
  if (options_.unknown_vertices == UnknownVertices::refuse)
    context_.throw_agreed({ErrorCode::input, "found an edge at vertex " +
                                                 std::to_string(unknown.front()) +
                                                 "; expected only vertices of the vertex list"});
  const auto is_unknown = [&](VertexId id) {
    return std::binary_search(unknown.begin(), unknown.end(), id);
  };
  std::erase_if(loop_ends_, is_unknown);
  for (auto& batch : edges_) {
    std::erase_if(batch, [&](const auto& edge) {
      return is_unknown(edge.source) || is_unknown(edge.target);
    });
  }
  return false;
}

}  // namespace weir
