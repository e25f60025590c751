// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/model/vertex_program.hpp>
#include <weir/engine/superstep/sends.hpp>
#include <weir/engine/superstep/summary.hpp>

namespace weir {

/// What the vertices of one rank ask to change.
template <class V, class E>
struct Mutations {
  TopologyChange<E> topology;  ///< without added vertices
  std::vector<std::pair<VertexId, V>> added_vertices;

  std::uint64_t size() const {
    return topology.removed_edges.size() + topology.removed_vertices.size() +
           topology.added_edges.size() + added_vertices.size();
  }
};

/// All that computing one shard in one superstep produces besides values and published values. One
/// thread writes it; attempts at a shard are byte-identical. (A superstep of few vertices without
/// aggregators keeps that of all shards in one.)
template <class P, class E>
struct alignas(64) ShardWork {
  typename AggregatorsOf<P>::Values aggregates = AggregatorsOf<P>::identity();
  std::uint64_t num_computed = 0;
  std::uint64_t num_messages = 0;
  std::uint64_t num_unhalted = 0;   ///< rows that computed and did not vote to halt
  std::uint64_t num_scattered = 0;  ///< rows that scattered
  std::vector<Row> unhalted;        ///< they, ascending; kept in a listed superstep alone
  std::vector<Slot> scattered;      ///< their slots; kept in a listed superstep alone
  Sends<typename P::Message> sends;
  Mutations<typename P::Value, E> mutations;
  std::optional<Failure> failure;

  void clear() {
    aggregates = AggregatorsOf<P>::identity();
    num_computed = num_messages = num_unhalted = num_scattered = 0;
    unhalted.clear();
    scattered.clear();
    sends.clear();
    if constexpr (MutatingProgram<P>) mutations = {};
    failure.reset();
  }
};

}  // namespace weir
