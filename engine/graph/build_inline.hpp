// SPDX-License-Identifier: Apache-2.0
// Bodies of GraphBuilder; included where an edge value type is instantiated.
#pragma once

#include <algorithm>
#include <atomic>
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
void GraphBuilder<E>::add_edges(std::span<const Edge<E>> edges) {
  if (options_.loops == Loops::keep) {
    edges_.add(edges);
    return;
  }
  std::vector<Edge<E>> kept;
  kept.reserve(edges.size());
  for (const Edge<E>& edge : edges) {
    if (edge.source != edge.target) {
      kept.push_back(edge);
    } else {
      const std::lock_guard lock(mutex_);
      loop_ends_.add(edge.source);
    }
  }
  edges_.add(kept);
}

template <class E>
void GraphBuilder<E>::merge_repeats() {
  std::vector<Edge<E>> kept;
  ArcRouter<E> router(context_, "repeats", [&](std::span<const Edge<E>> batch) {
    kept.insert(kept.end(), batch.begin(), batch.end());
  });
  const auto num_ranks = static_cast<std::uint64_t>(context_.size());
  typename EdgeStore<E>::Reading reading(edges_, true);
  typename EdgeStore<E>::Reader reader(reading);
  for (std::vector<Edge<E>> batch; reader.next(batch);) {
    for (Edge<E>& edge : batch) {
      if (!options_.is_directed && edge.source > edge.target) std::swap(edge.source, edge.target);
      const std::uint64_t hash = static_cast<std::uint64_t>(edge.source) * 0x9e3779b97f4a7c15U ^
                                 static_cast<std::uint64_t>(edge.target) * 0xc2b2ae3d27d4eb4fU;
      router.send(static_cast<Rank>((hash >> 32) % num_ranks), edge);
    }
  }
  router.close();
  edges_ = EdgeStore<E>();
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
  edges_.add(kept);
}

template <class E>
std::vector<VertexRecord> GraphBuilder<E>::count_end_points() {
  const auto num_workers = static_cast<std::size_t>(context_.num_threads());
  vertices_.normalise();  // the parts of an input may all list the same ids
  loop_ends_.normalise();
  IdRange range = edges_.range();
  range.see(vertices_.range());
  range.see(loop_ends_.range());
  EndPointCounter counter(options_.is_directed, range, num_workers);
  typename EdgeStore<E>::Reading reading(edges_, false);
  context_.parallel_for(num_workers, [&](std::size_t worker) {
    typename EdgeStore<E>::Reader reader(reading);
    reader.for_each_batch([&](const auto& edges) { counter.count(worker, edges); });
  });
  return counter.finish(context_, vertices_, loop_ends_);
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
  ShardAssignment assigned = assign_shards(context_, std::move(at_home), options_.num_shards);
  const ShardMap& shards = assigned.shards;
  std::optional<Vertices> vertices;
  context_.agree([&] { vertices.emplace(context_, shards, std::move(assigned.own)); });
  if (options_.progress) options_.progress("place", edges_.size());
  const bool is_alone = context_.size() == 1;
  if (!is_alone) edges_ = bring_arcs_to_owners(shards);
  Side<E> side = make_side<E>(context_, shards, *vertices, Edges::out,
                              {.first = edges_, .is_mirrored = is_alone && !options_.is_directed});
  return Graph<E>(context_, std::move(assigned.shards), std::move(*vertices), std::move(side),
                  options_.is_directed);
}

/// Every arc at the owner of its target.
template <class E>
EdgeStore<E> GraphBuilder<E>::bring_arcs_to_owners(const ShardMap& shards) {
  EdgeStore<E> arrived;
  ArcRouter<E> router(context_, "edges",
                      [&](std::span<const Edge<E>> batch) { arrived.add(batch); });
  const auto num_workers = static_cast<std::size_t>(context_.num_threads());
  typename EdgeStore<E>::Reading reading(edges_, true);
  std::vector<typename EdgeStore<E>::Reader> readers(num_workers,
                                                     typename EdgeStore<E>::Reader(reading));
  std::vector<Outbox<E>> outboxes(num_workers, Outbox<E>(context_.size()));
  std::vector<std::vector<Edge<E>>> batches(num_workers);
  // Workers sort a few batches by owner; then this thread, the only one that may, sends them.
  constexpr int batches_per_turn = 4;
  std::atomic<std::uint64_t> num_sent{0};
  for (std::uint64_t num_before = ~std::uint64_t{0}; num_before != num_sent;) {
    num_before = num_sent;
    context_.parallel_for(num_workers, [&](std::size_t worker) {
      auto& batch = batches[worker];
      auto& outbox = outboxes[worker];
      for (int i = 0; i < batches_per_turn && readers[worker].next(batch); ++i) {
        for (const Edge<E>& edge : batch) {
          outbox.add(shards.owner_of(edge.target), edge);
          if (!options_.is_directed)
            outbox.add(shards.owner_of(edge.source), {edge.target, edge.source, edge.value});
        }
        num_sent += batch.size();
      }
      auto& own = outbox.to(context_.rank());
      arrived.add(own);
      own.clear();
    });
    for (auto& outbox : outboxes) router.send(outbox, false);
    if (options_.progress) options_.progress("place", num_sent);
  }
  for (auto& outbox : outboxes) router.send(outbox, true);
  router.close();
  return arrived;
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
  loop_ends_.erase_if(is_unknown);
  EdgeStore<E> known;
  typename EdgeStore<E>::Reading reading(edges_, true);
  typename EdgeStore<E>::Reader reader(reading);
  for (std::vector<Edge<E>> batch; reader.next(batch);) {
    std::erase_if(batch, [&](const auto& edge) {
      return is_unknown(edge.source) || is_unknown(edge.target);
    });
    known.add(batch);
  }
  edges_ = std::move(known);
  return false;
}

}  // namespace weir
