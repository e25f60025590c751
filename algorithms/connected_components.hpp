// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include <weir/algorithms/algorithm.hpp>
#include <weir/algorithms/disjoint_sets.hpp>
#include <weir/engine/superstep/block_program.hpp>

namespace weir {

struct ConnectedComponentsOptions {
  RunOptions run{};
};

/// Weakly connected components: sets united along arcs inside a rank ([Sutton18]), then named alike
/// across ranks.
///
/// A set has the smallest id heard of as its name. Ranks tell each other the names of the sets that
/// hold shared vertices, and again where a name fell. Two sets that hear the same name are one set
/// from there on, so what another rank has united needs no message per hop.
class ConnectedComponentsProgram {
 public:
  using Value = VertexId;
  using Message = VertexId;  ///< name of the set that holds the slot

  void compute(const Block& block, Boundary<Message>& boundary);
  VertexId value(const Block& block, Row row) const { return names_[sets_.root(block.slot(row))]; }

 private:
  void unite_neighbours(const Block& block);
  void compress(const Block& block);
  Slot find_largest(const Block& block) const;
  void name_sets(const Block& block);
  bool hear(Slot slot, VertexId name);  ///< whether two sets became one
  void tell(Boundary<Message>& boundary);

  DisjointSets sets_;
  PlainVector<VertexId> names_;               // by slot; meaningful at roots
  LargeVector<VertexId> told_;                // by slot: the name the other holders know
  std::unordered_map<VertexId, Slot> heard_;  // a slot of the set that heard a name
  std::optional<std::pair<VertexId, Slot>> heard_latest_;
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
