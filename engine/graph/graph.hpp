// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/engine/graph/shard_map.hpp>
#include <weir/engine/graph/side.hpp>
#include <weir/engine/graph/vertex_names.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/edges.hpp>

namespace weir {

class Context;

/// Topology changes one rank asks for; ids may belong to any rank, except that added vertices have
/// already been brought to their owner.
template <class E>
struct TopologyChange {
  std::vector<std::pair<VertexId, VertexId>> removed_edges;  ///< all parallel arcs source to target
  std::vector<VertexId> removed_vertices;
  std::vector<VertexId> added_vertices;
  std::vector<Edge<E>> added_edges;
};

/// What came of a change on this rank.
struct AppliedChange {
  std::vector<Row> new_rows;      ///< By old row; Slots::no_row where the vertex is gone.
  std::uint64_t num_dropped = 0;  ///< Added edges without both end points, counted where found.
};

/// Partitioned topology with a value of type E per edge; `E` is NoValue, float, double or another
/// bitwise type.
///
/// A rank holds the neighbour lists of its own vertices. In-lists are built at load; out-lists and
/// joint lists when a program first asks for them (collective). Everything a result depends on,
/// shards, rows, list order, is the same at any number of ranks.
template <class E>
class Graph {
 public:
  using EdgeValue = E;

  /// From what the builder made; counts vertices and arcs over all ranks. Collective.
  Graph(Context& context, ShardMap shards, Vertices vertices, Side<E> in_side, bool is_directed);
  /// Lists of some vertices of a graph of so many vertices, made elsewhere: by place of side_for's
  /// out, in and both; those that are not there are not asked for.
  Graph(Context& context, ShardMap shards, Vertices vertices,
        std::array<std::unique_ptr<Side<E>>, 3> sides, bool is_directed, std::uint64_t num_vertices)
      : context_(&context),
        shards_(std::move(shards)),
        vertices_(std::make_shared<const Vertices>(std::move(vertices))),
        is_directed_(is_directed),
        num_vertices_(num_vertices),
        sides_(std::move(sides)) {}
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;

  Context& context() const { return *context_; }
  bool is_directed() const { return is_directed_; }
  std::uint64_t num_vertices() const { return num_vertices_; }
  /// Edges; an undirected edge counts once.
  std::uint64_t num_edges() const { return is_directed_ ? num_arcs_ : num_arcs_ / 2; }
  /// Arcs; an undirected edge counts at each end.
  std::uint64_t num_arcs() const { return num_arcs_; }
  const ShardMap& shards() const { return shards_; }
  /// This rank's vertices; shared with the values of finished runs.
  const std::shared_ptr<const Vertices>& vertices() const { return vertices_; }

  /// Neighbour lists for messages travelling along `edges`: along out-edges a vertex reads its
  /// in-list, along in-edges its out-list, along both first the in-list, then the out-list. An
  /// undirected graph has one side. Collective when it must be built.
  Side<E>& side_for(Edges edges) const;

  /// Names of own vertices when ids are strings; else empty.
  const std::shared_ptr<const VertexNames>& names() const { return names_; }
  void set_names(std::shared_ptr<const VertexNames> names) { names_ = std::move(names); }

  /// Applies every rank's changes in the order edge removals, vertex removals, vertex additions,
  /// edge additions. Shard bounds and the heat of old vertices stay; a new vertex has heat 0 and
  /// joins the shard of its range. Collective.
  AppliedChange apply(TopologyChange<E> change);

  /// Bytes of this rank's topology as it is now.
  std::uint64_t memory_bytes() const;

 private:
  Side<E> make_out_side() const;
  Side<E> make_both_side() const;
  void count();

  Context* context_;
  ShardMap shards_;
  std::shared_ptr<const Vertices> vertices_;
  bool is_directed_;
  std::uint64_t num_vertices_ = 0;
  std::uint64_t num_arcs_ = 0;
  // Made on demand by collective calls, never while one of them runs.
  mutable std::array<std::unique_ptr<Side<E>>, 3> sides_;
  std::shared_ptr<const VertexNames> names_;
};

extern template class Graph<NoValue>;
extern template class Graph<float>;
extern template class Graph<double>;

}  // namespace weir
