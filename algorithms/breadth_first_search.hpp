// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

/// Level of a vertex that breadth-first search does not reach.
inline constexpr std::int64_t unreached_level = std::numeric_limits<std::int64_t>::max();

/// Parent of a vertex that no source reaches.
inline constexpr VertexId no_parent = std::numeric_limits<VertexId>::max();

struct BreadthFirstSearchOptions {
  std::vector<VertexId> sources;  ///< at least one
  RunOptions run{};
};

/// A vertex in the tree of a breadth-first search.
struct SearchNode {
  std::int64_t level = unreached_level;
  VertexId parent = no_parent;  ///< a source is its own
  friend bool operator==(const SearchNode&, const SearchNode&) = default;
};

/// Levels. All messages of a superstep are equal, so the first one found decides and a pulling
/// vertex stops there ([Beamer12]).
struct SearchLevelProgram {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Min<std::int64_t>;
  static constexpr bool first_message_decides = true;

  std::span<const VertexId> sources{};

  std::span<const VertexId> starts() const { return sources; }
  Value init(const VertexInfo&) const { return unreached_level; }
  bool wants(Value level) const { return level == unreached_level; }

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    if (!wants(v.value())) return;
    v.value() = v.superstep() == 0 ? 0 : inbox.combined(Combiner{});
    v.scatter();
  }

  Message publish(Value level, const VertexInfo&) const { return level + 1; }
};

/// Levels and, of the in-neighbours one level nearer, the one with the smallest id.
struct SearchTreeProgram {
  using Value = SearchNode;
  /// What a vertex becomes by one arc: the level first, then the id of the parent.
  using Message = SearchNode;
  struct Combiner {
    using value_type = SearchNode;
    static constexpr bool is_exact = true;
    static constexpr SearchNode identity() { return {}; }
    constexpr SearchNode operator()(const SearchNode& a, const SearchNode& b) const {
      if (a.level != b.level) return a.level < b.level ? a : b;
      return b.parent < a.parent ? b : a;
    }
  };

  std::span<const VertexId> sources{};

  std::span<const VertexId> starts() const { return sources; }
  Value init(const VertexInfo&) const { return {}; }
  bool wants(const Value& node) const { return node.level == unreached_level; }

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    if (!wants(v.value())) return;
    v.value() = v.superstep() == 0 ? SearchNode{0, v.id()} : inbox.combined(Combiner{});
    v.scatter();
  }

  std::int64_t publish(const Value& node, const VertexInfo&) const { return node.level + 1; }
  template <class E>
  Message along(std::int64_t level, const Arc<E>& arc) const {
    return {level, arc.source};
  }
};

/// Number of arcs from the nearest source to each vertex, `unreached_level` where there is no path.
/// Collective. Error{usage} without a source, Error{input} for one that is not in the graph.
RunResult<std::int64_t> breadth_first_search(const Graph<NoValue>& graph,
                                             const BreadthFirstSearchOptions& options);
RunResult<std::int64_t> breadth_first_search(const Graph<double>& graph,
                                             const BreadthFirstSearchOptions& options);

/// The same with parents: the smallest id among the in-neighbours one level nearer. Collective.
RunResult<SearchNode> breadth_first_tree(const Graph<NoValue>& graph,
                                         const BreadthFirstSearchOptions& options);
RunResult<SearchNode> breadth_first_tree(const Graph<double>& graph,
                                         const BreadthFirstSearchOptions& options);

extern const Algorithm breadth_first_search_algorithm;

}  // namespace weir
