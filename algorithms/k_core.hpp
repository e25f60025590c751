// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct KCoreOptions {
  RunOptions run{};
};

/// Core numbers by repeated h-indices ([Lü16]; the same steps as the message passing of
/// [Montresor13]).
///
/// A vertex holds an upper bound of its core number, at first its number of arcs. It lowers the
/// bound to the largest h for which h of its neighbours have a bound of h or more, and publishes it
/// when it fell. Bounds only fall and never below the core number; where they stop they are the
/// core numbers.
struct KCoreProgram {
  using Value = std::int64_t;
  struct Bound {
    VertexId source = 0;
    std::int64_t bound = 0;
  };
  using Message = Bound;
  static constexpr Edges along_edges = Edges::both;
  static constexpr bool sticky = true;

  bool is_directed = true;

  Value init(const VertexInfo& v) const {
    return static_cast<std::int64_t>(is_directed ? v.in_degree + v.out_degree : v.out_degree);
  }

  void compute(VertexHandle auto& v, const auto& inbox) const {
    v.vote_to_halt();
    if (v.superstep() == 0) return v.scatter();
    const std::int64_t bound = h_index(neighbours(inbox, v.id()), v.value());
    if (bound == v.value()) return;
    v.value() = bound;
    v.scatter();
  }

  Bound along(std::int64_t bound, const auto& arc) const { return {arc.source, bound}; }

 private:
  /// The bound of each neighbour, once.
  std::vector<Bound> neighbours(const auto& inbox, VertexId own) const {
    std::vector<Bound> bounds;
    for (const Bound& message : inbox) {
      // Parallel arcs follow each other in a list.
      const bool is_repeat = !bounds.empty() && bounds.back().source == message.source;
      if (message.source != own && !is_repeat) bounds.push_back(message);
    }
    if (!is_directed) return bounds;
    // A neighbour may stand in the in-list and in the out-list.
    std::sort(bounds.begin(), bounds.end(),
              [](const Bound& a, const Bound& b) { return a.source < b.source; });
    const auto same = [](const Bound& a, const Bound& b) { return a.source == b.source; };
    bounds.erase(std::unique(bounds.begin(), bounds.end(), same), bounds.end());
    return bounds;
  }

  /// The largest h up to `most` for which h of the bounds are h or more.
  static std::int64_t h_index(const std::vector<Bound>& bounds, std::int64_t most) {
    most = std::min(most, static_cast<std::int64_t>(bounds.size()));
    std::vector<std::int64_t> num_with(static_cast<std::size_t>(most) + 1);
    for (const Bound& each : bounds)
      ++num_with[static_cast<std::size_t>(std::min(each.bound, most))];
    std::int64_t num_at_least = 0;
    for (std::int64_t h = most; h > 0; --h) {
      num_at_least += num_with[static_cast<std::size_t>(h)];
      if (num_at_least >= h) return h;
    }
    return 0;
  }
};

/// Core number of every vertex; direction, loops and repeats are ignored. Exact. Collective.
RunResult<std::int64_t> k_core(const Graph<NoValue>& graph, const KCoreOptions& options = {});
RunResult<std::int64_t> k_core(const Graph<double>& graph, const KCoreOptions& options = {});

extern const Algorithm k_core_algorithm;

}  // namespace weir
