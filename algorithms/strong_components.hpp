// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct StrongComponentsOptions {
  RunOptions run{};
};

/// Strongly connected components by colouring with trimming ([Orzan04]). A vertex is open until its
/// component is known. In turns, as the master says:
///
/// - *Trim*: an open vertex without open in-neighbours, or without open out-neighbours, is a
///   component of its own. Open arcs are counted once; a vertex that closes takes its arcs off.
/// - *Colour*: every open vertex finds the smallest id of the open vertices that reach it, its
/// colour.
/// - *Confirm*: an open vertex of its own colour is a root. What reaches a root inside its colour
///   is the root's component, and the root is the smallest id there.
///
/// Every other turn the last two run against the edges. Each turn closes at least one component:
/// that of the smallest open id. A chain of components whose ids ascend or descend takes two turns;
/// in an unlucky numbering there are as many turns as components on a path.
struct StrongComponentsBase {
  struct Value {
    VertexId colour = 0;        ///< the label of a closed vertex
    std::uint64_t num_in = 0;   ///< arcs from open vertices, without loops
    std::uint64_t num_out = 0;  ///< arcs to open vertices, without loops
    bool is_open = true;
    bool owes_out = false;  ///< closed, and its out-neighbours do not know yet
    bool owes_in = false;
  };
  struct Message {
    VertexId colour = std::numeric_limits<VertexId>::max();
    std::uint64_t num_arcs = 0;
    friend bool operator==(const Message&, const Message&) = default;
  };
  /// Smallest colour and number of arcs.
  struct Combiner {
    using value_type = Message;
    static constexpr bool is_exact = true;
    static constexpr Message identity() { return {}; }
    constexpr Message operator()(const Message& a, const Message& b) const {
      return {std::min(a.colour, b.colour), a.num_arcs + b.num_arcs};
    }
  };
  struct NumClosed : Aggregator<Sum<std::uint64_t>> {};
  using Aggregators = weir::Aggregators<NumClosed>;

  enum class Turn { trim, colour, confirm };
  struct Master {
    Turn turn = Turn::trim;
    bool is_first = true;    ///< the turn begins with this superstep
    bool is_forward = true;  ///< colours travel along out-edges
    std::uint64_t num_closed = 0;
  };

  /// Places in StrongComponents.
  static constexpr std::size_t trim_out = 0, trim_in = 1, colour_out = 2, confirm_in = 3,
                               colour_in = 4, confirm_out = 5;

  Value init(const VertexInfo& v) const { return {.colour = v.id}; }

  /// Messages to a closed vertex change nothing.
  bool wants(const Value& value) const { return value.is_open; }

  template <class P>
  void master(Master& state, MasterHandle<P>& master) const {
    state.num_closed += master.aggregated(NumClosed{});
    if (state.num_closed == master.num_vertices()) return master.halt();
    if (master.superstep() == 0) return master.set_phase(trim_out);
    state.is_first = master.num_senders() == 0 && master.num_unhalted() == 0;
    if (!state.is_first) {
      if (state.turn == Turn::trim)
        master.set_phase(master.phase() == trim_out ? trim_in : trim_out);
      return;
    }
    master.wake_all();
    switch (state.turn) {
      case Turn::trim:
        state.turn = Turn::colour;
        return master.set_phase(state.is_forward ? colour_out : colour_in);
      case Turn::colour:
        state.turn = Turn::confirm;
        return master.set_phase(state.is_forward ? confirm_in : confirm_out);
      case Turn::confirm:
        state.turn = Turn::trim;
        state.is_forward = !state.is_forward;
        return master.set_phase(trim_out);
    }
  }

 protected:
  static void close(auto& v, VertexId label) {
    v.value().colour = label;
    v.value().is_open = false;
    v.value().owes_out = v.value().owes_in = true;
    v.aggregate(NumClosed{}, std::uint64_t{1});
  }
};

/// Supersteps 0 and 1 count arcs: everyone tells its out-neighbours, then its in-neighbours. Later
/// ones take arcs off, along out-edges and along in-edges by turns. So a superstep that scatters
/// along out-edges reads what came along in-edges.
template <Edges edges>
struct TrimProgram : StrongComponentsBase {
  static constexpr Edges along_edges = edges;
  static constexpr Superstep num_counting_steps = 2;

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    Value& value = v.value();
    const std::uint64_t num_arcs = inbox.combined(Combiner{}).num_arcs;
    if (v.superstep() == 1) value.num_in = num_arcs;
    if (v.superstep() == 2) value.num_out = num_arcs;
    if (v.superstep() < num_counting_steps) return v.scatter();
    if (v.superstep() > num_counting_steps)
      (edges == Edges::in ? value.num_in : value.num_out) -= num_arcs;
    if (value.is_open && (value.num_in == 0 || value.num_out == 0)) close(v, v.id());
    bool& owes = edges == Edges::out ? value.owes_out : value.owes_in;
    if (owes) v.scatter();
    owes = false;
    if (!value.owes_out && !value.owes_in) v.vote_to_halt();
  }

  VertexId publish(const Value& value, const VertexInfo&) const { return value.colour; }
  Message along(VertexId colour, const auto& arc) const {
    return arc.source == arc.target ? Combiner::identity() : Message{colour, 1};
  }
};

template <Edges edges>
struct ColourProgram : StrongComponentsBase {
  static constexpr Edges along_edges = edges;

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    if (!v.value().is_open) return;
    const bool is_first = v.broadcast().is_first;
    const VertexId colour = is_first ? v.id() : inbox.combined(Combiner{}).colour;
    if (!is_first && colour >= v.value().colour) return;
    v.value().colour = colour;
    v.scatter();
  }

  VertexId publish(const Value& value, const VertexInfo&) const { return value.colour; }
  Message along(VertexId colour, const auto&) const { return {colour, 1}; }
};

/// Where v leads to u, the colour of u is at most that of v. So v looks for its own colour among
/// confirmed neighbours by the largest they have; ~ turns the order round, for the combiner.
template <Edges edges>
struct ConfirmProgram : StrongComponentsBase {
  static constexpr Edges along_edges = edges;

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    if (!v.value().is_open) return;
    const VertexId confirmed = v.broadcast().is_first ? v.id() : ~inbox.combined(Combiner{}).colour;
    if (confirmed != v.value().colour) return;
    close(v, confirmed);
    v.scatter();
  }

  VertexId publish(const Value& value, const VertexInfo&) const { return ~value.colour; }
  Message along(VertexId colour, const auto&) const { return {colour, 1}; }
};

using StrongComponents =
    Phases<TrimProgram<Edges::out>, TrimProgram<Edges::in>, ColourProgram<Edges::out>,
           ConfirmProgram<Edges::in>, ColourProgram<Edges::in>, ConfirmProgram<Edges::out>>;

/// The smallest id of the strongly connected component of every vertex. Collective.
RunResult<VertexId> strong_components(const Graph<NoValue>& graph,
                                      const StrongComponentsOptions& options = {});
RunResult<VertexId> strong_components(const Graph<double>& graph,
                                      const StrongComponentsOptions& options = {});

extern const Algorithm strong_components_algorithm;

}  // namespace weir
