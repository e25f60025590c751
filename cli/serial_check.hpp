// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include <weir/algorithms/algorithm.hpp>

namespace weir::cli {

/// Results compared to those of a serial textbook algorithm that shares nothing with the engine:
/// breadth-first search by a queue, shortest paths by Dijkstra's heap ([Dijkstra59]), components by
/// union-find, all of them exactly; PageRank by a loop over all arcs ([Page99]), to 1e-9 of each
/// value. Root holds all arcs, 24 bytes each.
class SerialCheck {
 public:
  /// Whether there is a textbook algorithm for this one, as it is asked for.
  static bool knows(std::string_view algorithm, const AlgorithmOptions& options);

  /// Brings all arcs to root. Collective.
  explicit SerialCheck(const AnyGraph& graph);
  ~SerialCheck();
  SerialCheck(const SerialCheck&) = delete;
  SerialCheck& operator=(const SerialCheck&) = delete;

  /// Throws Error{internal} on all ranks, naming the first vertex whose value is wrong. Collective.
  void expect_right(std::string_view algorithm, const AlgorithmOptions& options,
                    const AlgorithmResult& result) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli
