// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct ConnectedComponentsOptions {
  RunOptions run{};
};

/// Weakly connected components: the smallest id spreads along edges of either direction.
struct ConnectedComponentsProgram {
  using Value = VertexId;
  using Message = VertexId;
  using Combiner = Min<VertexId>;
  static constexpr Edges along_edges = Edges::both;

  Value init(const VertexInfo& v) const { return v.id; }

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    const VertexId smallest = inbox.combined(Combiner{});
    // Without a message: at the start, when everyone speaks.
    if (!inbox.empty() && smallest >= v.value()) return;
    if (!inbox.empty()) v.value() = smallest;
    v.scatter();
  }
};

/// The smallest id of the weakly connected component of each vertex. Collective.
RunResult<VertexId> connected_components(const Graph<NoValue>& graph,
                                         const ConnectedComponentsOptions& options = {});
RunResult<VertexId> connected_components(const Graph<double>& graph,
                                         const ConnectedComponentsOptions& options = {});

/// Number of components, given their labels. Collective.
std::uint64_t num_components(const VertexValues<VertexId>& labels);

extern const Algorithm connected_components_algorithm;

}  // namespace weir
