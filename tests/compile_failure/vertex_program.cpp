// SPDX-License-Identifier: Apache-2.0
// Mistakes in a vertex program that the compiler names in one readable line.
//
// expect CASE_1: weir: a vertex program needs .Value init\(const weir::VertexInfo&\) const
// expect CASE_2: weir: a vertex program needs .void compute\(weir::VertexHandle auto& v, inbox\) const
// expect CASE_3: weir: what the program publishes must convert to .Message
// expect CASE_4: weir: remove\(\), remove_edge\(\), add_edge\(\) and add_vertex\(\) need
// expect CASE_5: weir: a program that mutates the topology needs a graph that is not const
// expect CASE_6: weir: this aggregator is not listed in the program's Aggregators
// expect CASE_7: weir promises equal bits at any rank count; compile without -ffast-math
// expect CASE_8: weir: arcs\(\) needs .static constexpr bool reads_arcs = true
// expect CASE_9: weir: a vertex program needs a copyable type .Value
// expect CASE_10: weir: a vertex program needs a copyable type .Message
// expect CASE_11: weir: the phases of a program share Value and Message
// expect CASE_12: weir: a vertex program needs .*arcs\(\) needs reads_arcs = true; remove\(\).* need mutates_topology = true
// expect CASE_13: weir: a sticky program cannot change the topology
#if CASE_7
#define __FAST_MATH__ 1
#endif

#include <string>

#include <weir/engine/superstep/run.hpp>

using weir::Inbox;
using weir::VertexHandle;
using weir::VertexInfo;

struct Listed : weir::Aggregator<weir::Any> {};
struct Unlisted : weir::Aggregator<weir::Any> {};

struct Program {
#if !CASE_9
  using Value = double;
#endif
#if !CASE_10
  using Message = double;
#endif
  using Combiner = weir::Sum<double>;
  using Aggregators = weir::Aggregators<Listed>;
#if CASE_5 || CASE_13
  static constexpr bool mutates_topology = true;
#endif
#if CASE_13
  static constexpr bool sticky = true;
#endif

#if !CASE_1
  double init(const VertexInfo&) const { return 0; }
#endif

#if CASE_2
  void computer(VertexHandle auto& v, const Inbox<double>&) const { v.vote_to_halt(); }
#else
  void compute(VertexHandle auto& v, const Inbox<double>&) const
#if CASE_12
      requires requires {
    v.remove();
  }
#endif
  {
    v.aggregate(Listed{}, true);
#if CASE_4
    v.remove();
#endif
#if CASE_8
    for (const auto& arc : v.arcs()) v.value() += static_cast<double>(arc.target);
#endif
#if CASE_6
    v.aggregate(Unlisted{}, true);
#endif
    v.vote_to_halt();
  }
#endif

#if CASE_3
  std::string publish(const double&, const VertexInfo&) const { return "no number"; }
#endif
};

struct OtherPhase {
  using Value = double;
#if CASE_11
  using Message = float;
  using Combiner = weir::Sum<float>;
#else
  using Message = double;
  using Combiner = weir::Sum<double>;
#endif
  using Aggregators = weir::Aggregators<Listed>;
  double init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const { v.vote_to_halt(); }
};

void run_it(const weir::Graph<weir::NoValue>& graph) {
  weir::run(graph, Program{});
  weir::run(graph, weir::Phases{std::tuple{Program{}, OtherPhase{}}});
}

#if CASE_13
void run_and_change_it(weir::Graph<weir::NoValue>& graph) { weir::run(graph, Program{}); }
#endif
