// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct BetweennessOptions {
  std::vector<VertexId> sources{};  ///< each counts once; empty: every vertex
  RunOptions run{};
};

/// Betweenness by counting paths forward and dependencies backward ([Brandes01]), one source after
/// another in one run.
///
/// Forward, level by level, paths(v) is the sum of paths(u) over the arcs u->v from the level
/// before. Backward, from the last level on, with the sum over the arcs v->w to the next level,
///
///     dependency(v) = paths(v) * sum of (1 + dependency(w)) / paths(w)
///
/// The value of v is the sum of its dependencies over the sources in ascending order, other than v.
/// For each source a superstep per level each way; going back, a vertex that waits for its level is
/// looked at in every superstep.
struct BetweennessBase {
  struct Value {
    std::int64_t level = unreached;
    double paths = 0;
    double dependency = 0;
    double centrality = 0;
    bool is_next = false;  ///< backward: its level is the next to receive
  };
  using Message = double;
  using Combiner = Sum<double>;
  struct Master {
    std::size_t num_sources = 0;  ///< begun
    std::int64_t level = 0;       ///< forward: receives; backward: scatters
    bool is_backward = false;
    bool is_first = false;  ///< this superstep is the first of its direction
  };
  static constexpr std::int64_t unreached = -1;

  std::span<const VertexId> sources{};  ///< ascending

  Value init(const VertexInfo&) const { return {}; }

  template <class P>
  void master(Master& state, MasterHandle<P>& master) const {
    const bool is_start = state.num_sources == 0;
    const bool is_forward_done =
        !is_start && !state.is_backward && !state.is_first && master.num_senders() == 0;
    state.is_first = false;
    if (is_forward_done && state.level > 2) {
      state.is_backward = state.is_first = true;
      state.level -= 1;  // the one before the empty one
      master.wake_all();
      master.set_phase(1);
    } else if (is_start || is_forward_done || (state.is_backward && state.level == 1)) {
      if (state.num_sources == sources.size()) return master.halt();
      ++state.num_sources;
      state = {.num_sources = state.num_sources, .is_first = true};
      master.wake_all();
      master.set_phase(0);
    } else {
      state.level += state.is_backward ? -1 : 1;
    }
  }
};

struct PathCounting : BetweennessBase {
  static constexpr Edges along_edges = Edges::out;

  bool wants(const Value& value) const { return value.level == unreached; }

  void compute(VertexHandle auto& v, const Inbox<double>& inbox) const {
    v.vote_to_halt();
    Value& value = v.value();
    const Master& state = v.broadcast();
    if (state.is_first) {
      value = {.centrality = value.centrality};
      if (v.id() != sources[state.num_sources - 1]) return;
      value.paths = 1;
    } else {
      if (inbox.empty() || value.level != unreached) return;
      value.paths = inbox.combined(Combiner{});
      WEIR_EXPECT(std::isfinite(value.paths), input,
                  "found more shortest paths than a 64-bit floating-point number can count");
    }
    value.level = state.level;
    v.scatter();
  }

  double publish(const Value& value, const VertexInfo&) const { return value.paths; }
};

struct DependencyGathering : BetweennessBase {
  static constexpr Edges along_edges = Edges::in;

  bool wants(const Value& value) const { return value.is_next; }

  void compute(VertexHandle auto& v, const Inbox<double>& inbox) const {
    Value& value = v.value();
    const std::int64_t level = v.broadcast().level;
    value.is_next = value.level == level - 1;
    if (value.level > 0 && value.level < level) return;  // waits
    v.vote_to_halt();
    if (value.level != level) return;
    value.dependency = value.paths * inbox.combined(Combiner{});
    value.centrality += value.dependency;
    if (level > 1) v.scatter();
  }

  double publish(const Value& value, const VertexInfo&) const {
    return (1 + value.dependency) / value.paths;
  }
};

/// For each vertex the sum, over sources s and reached targets t other than the vertex, of the
/// share of the shortest paths from s to t that pass it. Arcs have length 1, parallel arcs make
/// different paths, loops none. Neither normalised nor halved. Collective. Error{input} for a
/// source that is not in the graph, and when a number of paths exceeds the range of float64.
RunResult<double> betweenness(const Graph<NoValue>& graph, const BetweennessOptions& options = {});
RunResult<double> betweenness(const Graph<double>& graph, const BetweennessOptions& options = {});

extern const Algorithm betweenness_algorithm;

}  // namespace weir
