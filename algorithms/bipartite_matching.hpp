// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct BipartiteMatchingOptions {
  RunOptions run{};  ///< with the seed
};

enum class MatchingSide : std::uint8_t { left, right };

/// Sides of an undirected graph: each component is coloured from its smallest id, which is left.
/// Error{input} at an edge whose ends have the same side.
struct SidesProgram {
  struct Value {
    VertexId root = 0;
    MatchingSide side = MatchingSide::left;
    friend auto operator<=>(const Value&, const Value&) = default;  // NOLINT
  };
  using Message = Value;

  Value init(const VertexInfo& v) const { return {v.id, MatchingSide::left}; }

  void compute(VertexHandle auto& v, const auto& inbox) const {
    v.vote_to_halt();
    Value best = v.value();
    for (const Value& neighbour : inbox) best = std::min(best, across(neighbour));
    // Equal sides seen from one root: walks of even and of odd length from there.
    for (const Value& neighbour : inbox)
      WEIR_EXPECT(neighbour != best, input,
                  "found a cycle of odd length, or a loop; matching expects a bipartite graph");
    if (v.superstep() > 0 && best == v.value()) return;
    v.value() = best;
    v.scatter();
  }

 private:
  static Value across(const Value& neighbour) {
    return {neighbour.root,
            neighbour.side == MatchingSide::left ? MatchingSide::right : MatchingSide::left};
  }
};

/// Randomised maximal matching in rounds of four supersteps ([Malewicz10 §5.3]):
///
/// 0. A left vertex without a partner asks all its neighbours.
/// 1. A right vertex without a partner answers all who asked, and grants one of them at random.
/// 2. A left vertex accepts one of its grants at random. One that was only answered asks again; one
///    that was not answered has no free neighbour left and is never active again.
/// 3. An accepted right vertex has its partner.
struct MatchingBase {
  struct Value {
    MatchingSide side = MatchingSide::left;
    VertexId partner = 0;  ///< the own id: none
  };
  /// A request or an answer goes to all neighbours; the others are sent to one.
  enum class Kind : std::uint8_t { to_all, grant, acceptance };
  struct Message {
    VertexId sender = 0;
    Kind kind = Kind::to_all;
  };
  static constexpr std::size_t num_steps = 4;

  const VertexValues<SidesProgram::Value>* sides = nullptr;  ///< null: directed

  Value init(const VertexInfo& v) const {
    if (sides != nullptr) return {sides->at(v.id).side, v.id};
    return {v.in_degree > 0 ? MatchingSide::right : MatchingSide::left, v.id};
  }

  NoValue publish(const Value&, const VertexInfo&) const { return {}; }
  Message along(NoValue, const auto& arc) const { return {arc.source, Kind::to_all}; }

  template <class P>
  void master(NoMaster&, MasterHandle<P>& master) const {
    master.set_phase(static_cast<std::size_t>(master.superstep()) % num_steps);
  }

 protected:
  static bool is_free(auto& v, MatchingSide side) {
    return v.value().side == side && v.value().partner == v.id();
  }

  /// The sender of one of the messages of a kind, each with the same probability; `none` without
  /// one.
  static VertexId pick(const auto& inbox, Kind kind, CounterRandom random, VertexId none) {
    std::uint64_t count = 0;
    for (const Message& message : inbox) count += message.kind == kind ? 1 : 0;
    if (count == 0) return none;
    std::uint64_t index = random.next() % count;
    for (const Message& message : inbox) {
      if (message.kind == kind && index-- == 0) return message.sender;
    }
    return none;
  }
};

struct MatchingRequests : MatchingBase {
  void compute(VertexHandle auto& v, const auto&) const {
    v.vote_to_halt();
    if (is_free(v, MatchingSide::left)) v.scatter();
  }
};

struct MatchingAnswers : MatchingBase {
  static constexpr Edges along_edges = Edges::in;

  void compute(VertexHandle auto& v, const auto& inbox) const {
    v.vote_to_halt();
    if (!is_free(v, MatchingSide::right) || inbox.empty()) return;
    v.scatter();
    v.send(pick(inbox, Kind::to_all, v.random(), v.id()), {v.id(), Kind::grant});
  }
};

struct MatchingAcceptances : MatchingBase {
  void compute(VertexHandle auto& v, const auto& inbox) const {
    if (!is_free(v, MatchingSide::left)) return v.vote_to_halt();
    const VertexId granted = pick(inbox, Kind::grant, v.random(), v.id());
    if (granted == v.id()) return;  // stays awake to ask again
    v.vote_to_halt();
    v.value().partner = granted;
    v.send(granted, {v.id(), Kind::acceptance});
  }
};

struct MatchingConfirmations : MatchingBase {
  void compute(VertexHandle auto& v, const auto& inbox) const {
    if (v.value().side == MatchingSide::left) return;  // waits to ask again
    v.vote_to_halt();
    for (const Message& message : inbox) v.value().partner = message.sender;
  }
};

using BipartiteMatching =
    Phases<MatchingRequests, MatchingAnswers, MatchingAcceptances, MatchingConfirmations>;

/// The id of the partner of every vertex in a maximal matching; its own id where it has none. Which
/// matching it is depends on the graph and `run.seed` alone. Collective.
///
/// In a directed graph every edge leads from a left to a right vertex: Error{input} where a vertex
/// has both in- and out-edges. In an undirected graph the sides are found first: Error{input} where
/// there are none.
RunResult<VertexId> bipartite_matching(const Graph<NoValue>& graph,
                                       const BipartiteMatchingOptions& options = {});
RunResult<VertexId> bipartite_matching(const Graph<double>& graph,
                                       const BipartiteMatchingOptions& options = {});

extern const Algorithm bipartite_matching_algorithm;

}  // namespace weir
