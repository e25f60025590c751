// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/algorithms/breadth_first_search.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

/// Distance of a vertex that no source reaches.
inline constexpr double unreached_distance = std::numeric_limits<double>::infinity();

struct ShortestPathsOptions {
  std::vector<VertexId> sources;  ///< at least one
  RunOptions run{};
};

/// A vertex in a tree of shortest paths.
struct PathNode {
  double distance = unreached_distance;
  VertexId parent = no_parent;  ///< a source is its own
  friend bool operator==(const PathNode&, const PathNode&) = default;
};

namespace detail {

/// Stands for every sum beyond it. An infinite sum would be taken for no path at all.
inline constexpr double greatest_distance = std::numeric_limits<double>::max();

/// A distance and one arc more; an arc without a value is 1 long.
template <class E>
double extend(double distance, const Arc<E>& arc) {
  if constexpr (std::is_same_v<E, NoValue>) {
    return distance + 1;
  } else {
    return std::min(distance + static_cast<double>(arc.value), greatest_distance);
  }
}

}  // namespace detail

/// Distances: every vertex sends on what shortens its path ([Malewicz10 §5.3]), near vertices first
/// ([Meyer03]).
struct ShortestPathsProgram {
  using Value = double;
  using Message = double;
  using Combiner = Min<double>;
  static constexpr bool monotone = true;

  std::span<const VertexId> sources{};
  double delta = 1;  ///< distances that differ by less may be found together

  bool wants(double distance, double found) const { return found < distance; }
  double priority(double found) const { return found; }
  double bucket_width() const { return delta; }

  std::span<const VertexId> starts() const { return sources; }
  Value init(const VertexInfo&) const { return unreached_distance; }

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    // Only a source, at the start, computes without a message.
    const double found = inbox.empty() ? 0 : inbox.combined(Combiner{});
    if (found >= v.value()) return;
    v.value() = found;
    v.scatter();
  }

  template <class E>
  Message along(double distance, const Arc<E>& arc) const {
    return detail::extend(distance, arc);
  }
};

/// What the two phases of a search for parents share.
struct PathProgram {
  using Value = PathNode;
  /// What a vertex becomes by one arc.
  using Message = PathNode;
  /// The nearer; of equals the one with the smaller parent.
  struct Combiner {
    using value_type = PathNode;
    static constexpr bool is_exact = true;
    static constexpr PathNode identity() { return {}; }
    constexpr PathNode operator()(const PathNode& a, const PathNode& b) const {
      if (a.distance != b.distance) return a.distance < b.distance ? a : b;
      return b.parent < a.parent ? b : a;
    }
  };

  std::span<const VertexId> sources{};  ///< ascending

  std::span<const VertexId> starts() const { return sources; }
  Value init(const VertexInfo&) const { return {}; }

  double publish(const Value& node, const VertexInfo&) const { return node.distance; }
  template <class E>
  Message along(double distance, const Arc<E>& arc) const {
    return {detail::extend(distance, arc), arc.source};
  }
};

/// First phase: distances; parents stay open.
struct PathDistances : PathProgram {
  void master(NoMaster&, MasterHandle<PathDistances>& master) const {
    const bool is_settled = master.num_unhalted() == 0 && master.num_senders() == 0;
    if (master.superstep() == 0 || master.phase() == 1 || !is_settled) return;
    master.set_phase(1);
    master.wake_all();
  }

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    const double found = inbox.empty() ? 0 : inbox.combined(Combiner{}).distance;
    if (found >= v.value().distance) return;
    v.value().distance = found;
    v.scatter();
  }
};

/// Second phase: the tree. An arc is tight when it gives its target the distance it has. Searching
/// over tight arcs breadth first reaches every vertex that has a distance, and never runs in a
/// circle, not even along arcs of length 0. A distance with a minus sign marks a vertex that has no
/// parent yet: any id may be a parent's, that of `no_parent` too.
struct PathParents : PathProgram {
  bool wants(const Value& node) const { return std::signbit(node.distance); }

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    PathNode& node = v.value();
    if (inbox.empty()) {  // everyone, at the start of the phase
      if (!std::binary_search(sources.begin(), sources.end(), v.id())) {
        node.distance = -node.distance;
        return;
      }
      node.parent = v.id();
      v.scatter();
    } else if (wants(node)) {
      const PathNode found = inbox.combined(Combiner{});
      if (found.distance != -node.distance) return;
      node = found;
      v.scatter();
    }
  }
};

/// Least sum of edge values on a path from the nearest source, in double precision, added from the
/// source outwards; infinity where there is no path. In a graph without edge values each edge is 1
/// long. Collective. Error{usage} without a source, Error{input} for one that is not in the graph,
/// for an edge value that is negative or not finite, and where the least sum is beyond float64.
RunResult<double> shortest_paths(const Graph<NoValue>& graph, const ShortestPathsOptions& options);
RunResult<double> shortest_paths(const Graph<double>& graph, const ShortestPathsOptions& options);

/// The same with parents, which form trees rooted at the sources: of the in-neighbours whose arc
/// gives the distance and which have the fewest such arcs between them and a source, the one with
/// the smallest id. Collective.
RunResult<PathNode> shortest_path_tree(const Graph<NoValue>& graph,
                                       const ShortestPathsOptions& options);
RunResult<PathNode> shortest_path_tree(const Graph<double>& graph,
                                       const ShortestPathsOptions& options);

extern const Algorithm shortest_paths_algorithm;

}  // namespace weir
