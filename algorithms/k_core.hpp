// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/algorithms/neighbourhoods.hpp>
#include <weir/engine/superstep/block_program.hpp>

namespace weir {

struct KCoreOptions {
  RunOptions run{};
};

/// Core numbers by peeling ([Batagelj03]): at level k, vertices with at most k neighbours left go,
/// and their neighbours with them once they have as few; k is the core number of those that go.
///
/// A rank peels its own vertices as far as it can and tells the owners of ghosts how many
/// neighbours these lost. When no rank has anything to tell, all go on at the least level that any
/// rank has a vertex for.
class KCoreProgram {
 public:
  using Value = std::int64_t;
  using Message = std::int64_t;  ///< neighbours that a ghost lost
  static constexpr Edges along_edges = Edges::both;

  void compute(const Block& block, Boundary<Message>& boundary);
  Value value(const Block&, Row row) const { return cores_[row]; }

 private:
  void begin(const Block& block);
  void begin_level(const Block& block, std::int64_t level);
  void hear(const Block& block, const Boundary<Message>& boundary);
  void peel(const Block& block);
  void remove(const Block& block, Slot slot, std::vector<Slot>& follow, std::vector<Slot>& touched);
  void tell(Boundary<Message>& boundary);

  Neighbourhoods neighbourhoods_;
  std::int64_t level_ = -1;
  std::vector<std::int64_t> num_left_;  // by slot: neighbours that have not gone; see `ghost_start`
  std::vector<std::int64_t> cores_;     // by row
  std::vector<Slot> left_;              // of own vertices that had not gone a while ago
  std::vector<Slot> going_;             // of own vertices whose neighbours lose one
  std::vector<Slot> touched_;           // ghosts that lost some
};

/// Core number of every vertex; direction, loops and repeats are ignored. Exact. Collective.
RunResult<std::int64_t> k_core(const Graph<NoValue>& graph, const KCoreOptions& options = {});
RunResult<std::int64_t> k_core(const Graph<double>& graph, const KCoreOptions& options = {});

extern const Algorithm k_core_algorithm;

}  // namespace weir
