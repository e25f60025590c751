// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weir/engine/graph/edge_store.hpp>
#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/vertex_counting.hpp>
#include <weir/engine/model/record_stream.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

enum class Repeats { keep, merge };  ///< merge: the smallest value stays
enum class Loops { keep, drop };
enum class UnknownVertices { refuse, add, drop };  ///< end points that the vertex list lacks

/// How edges become a graph.
struct BuildOptions {
  bool is_directed = true;
  Repeats repeats = Repeats::keep;
  Loops loops = Loops::keep;
  /// Only where there is a vertex list; without one the end points are the vertices.
  UnknownVertices unknown_vertices = UnknownVertices::refuse;
  /// Number of shards; absent: by the rule of docs/semantics.md. 1 to 2^20.
  std::optional<std::uint32_t> num_shards{};
  /// Called on every rank with (phase, edges so far on this rank) while loading; by any thread, one
  /// at a time.
  std::function<void(std::string_view, std::uint64_t)> progress{};
};

/// Collects one rank's share of vertices and edges, then builds the graph with the other ranks.
/// An undirected edge becomes an arc at each end; a loop becomes two arcs at its vertex.
template <class E>
class GraphBuilder {
 public:
  GraphBuilder(Context& context, BuildOptions options)
      : context_(context), options_(std::move(options)) {}

  /// The graph has a vertex list; end points outside it are unknown.
  void declare_vertex_list() { has_vertex_list_ = true; }
  /// Both may be called from several threads.
  void add_vertices(std::span<const VertexId> ids) {
    const std::lock_guard lock(mutex_);
    vertices_.add(ids);
  }
  void add_edges(std::span<const Edge<E>> edges);

  /// Builds the graph. Collective. Throws Error{input} for unknown end points.
  Graph<E> finish();

 private:
  Graph<E> build();
  void merge_repeats();
  std::vector<VertexRecord> count_end_points();
  EdgeStore<E> bring_arcs_to_owners(const ShardMap& shards);
  bool settle_unknown(const std::vector<VertexRecord>& at_home);

  Context& context_;
  BuildOptions options_;
  bool has_vertex_list_ = false;
  std::mutex mutex_;  // of the lists of ids
  IdRuns vertices_;
  IdRuns loop_ends_;  // of dropped loops: they are vertices all the same
  EdgeStore<E> edges_;
};

extern template class GraphBuilder<NoValue>;
extern template class GraphBuilder<float>;
extern template class GraphBuilder<double>;

/// Builds a graph from each rank's source of edges, which may also be a source of vertices.
/// Collective.
template <class E, class S>
requires Source<S, Edge<E>> Graph<E> build_graph(Context& context, S source,
                                                 BuildOptions options = {}) {
  GraphBuilder<E> builder(context, options);
  context.agree([&] {
    if constexpr (Source<S, VertexId>) {
      for (std::vector<VertexId> batch; source.next(batch);) builder.add_vertices(batch);
    }
    std::uint64_t num_edges = 0;
    for (std::vector<Edge<E>> batch; source.next(batch);) {
      num_edges += batch.size();
      if (options.progress) options.progress("read", num_edges);
      builder.add_edges(batch);
    }
  });
  return builder.finish();
}

}  // namespace weir
