// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

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
/// A set has the smallest id heard of as its name. A rank tells the owners of its ghosts the names
/// of the sets that hold them. Two sets that hear the same name are one set from there on, so
/// that later one slot stands for all that were told a name, and what another rank has united needs
/// no message per hop.
///
/// Once most of a rank's largest set is united its other arcs are skipped: whoever they lead to
/// looks at them from the other end. Unless that is in the largest set of another rank, which is
/// skipped too; so two ranks whose largest sets are not seen to be one look at the arcs after all.
class ConnectedComponentsProgram {
 public:
  using Value = VertexId;
  /// What a rank knows of the set that holds a slot.
  struct Message {
    VertexId name = 0;
    std::int64_t is_of_largest = 0;  ///< 1: it is the set whose arcs the rank skipped
  };

  void compute(const Block& block, Boundary<Message>& boundary);
  VertexId value(const Block& block, Row row) const { return names_[sets_.root(block.slot(row))]; }

 private:
  /// A slot whose holders on other ranks know its set by a name.
  struct Told {
    Slot slot = 0;
    std::optional<VertexId> name;
  };

  void unite_neighbours(const Block& block);
  void compress(const Block& block);
  Slot find_largest(const Block& block) const;
  void name_sets(const Block& block);
  void tell_owners(const Block& block, Boundary<Message>& boundary);
  void hear(const Block& block, const Boundary<Message>& boundary);
  /// Unites the slot's set with those that heard the same name; whether that changed anything.
  bool hear_name(Slot slot, VertexId name);
  /// Whether the largest set here and that of every other rank, as heard, are seen to be one.
  bool is_linked(const Block& block, const Boundary<Message>& boundary) const;
  void unite_skipped(const Block& block);
  void tell_news(Boundary<Message>& boundary);
  void unite(Slot slot, Slot other);
  bool is_in_largest(Slot slot) const {
    return largest_ && sets_.root(slot) == sets_.root(*largest_);
  }

  DisjointSets sets_;
  PlainVector<VertexId> names_;  // by slot; meaningful at roots
  std::optional<Slot> largest_;  // a slot of the set whose arcs were skipped
  std::vector<Told> told_;       // one for each rank and name that was told to it or by it
  std::vector<std::unordered_set<VertexId>> heard_from_;  // names, by link
  std::unordered_map<VertexId, Slot> heard_;              // a slot of the set that heard a name
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
