// SPDX-License-Identifier: Apache-2.0
// Aggregators, the master and phases: docs/semantics.md, part 5; and results that repeat.
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>
#include <weir/tests/reference/pagerank.hpp>

namespace weir {
namespace {

using cases::Input;
using cases::job;
using cases::job_everywhere;

struct FloatSum : Aggregator<Sum<double>> {
  static constexpr const char* name = "float_sum";
};
struct IntegerSum : Aggregator<Sum<std::int64_t>> {
  static constexpr const char* name = "integer_sum";
};
struct Least : Aggregator<Min<double>> {
  static constexpr const char* name = "least";
};
struct Most : Aggregator<Max<std::int64_t>> {
  static constexpr const char* name = "most";
};
struct AnyOdd : Aggregator<Any> {};
struct AllSmall : Aggregator<All> {};

/// Contributes in supersteps 0 and 2, reads in 1, 2 and 3.
struct Contributing {
  using Value = std::string;
  using Message = double;
  using Combiner = Sum<double>;
  using Aggregators = weir::Aggregators<FloatSum, IntegerSum, Least, Most, AnyOdd, AllSmall>;
  Value init(const VertexInfo&) const { return ""; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.value() += "|" + cases::text_of(v.aggregated(FloatSum{})) + " " +
                 cases::text_of(v.aggregated(IntegerSum{})) + " " +
                 cases::text_of(v.aggregated(Least{})) + " " +
                 cases::text_of(v.aggregated(Most{})) + " " +
                 cases::text_of(v.aggregated(AnyOdd{})) + cases::text_of(v.aggregated(AllSmall{}));
    if (v.superstep() % 2 == 0) {
      v.aggregate(FloatSum{}, 1.0 / static_cast<double>(v.id() + 3));
      v.aggregate(FloatSum{}, 1e-9 * static_cast<double>(v.id()));  // again, in call order
      v.aggregate(IntegerSum{}, v.id());
      v.aggregate(Least{}, -0.0);
      v.aggregate(Least{}, 0.0);
      v.aggregate(Most{}, v.id());
      v.aggregate(AnyOdd{}, v.id() % 2 == 1);
      v.aggregate(AllSmall{}, v.id() < 1000);
    }
    if (v.superstep() == 3) v.vote_to_halt();
  }
  Message publish(const Value&, const VertexInfo&) const { return 0; }  // never scattered
};

TEST(Aggregators, of_every_monoid_are_equal_to_the_bit_and_last_one_superstep) {
  const std::string text = job_everywhere(cases::path(301), Contributing{});
  const std::string nothing = "|0x0p+0 0 inf -9223372036854775808 01";
  const std::string line = text.substr(0, text.find('\n'));
  EXPECT_EQ(line.substr(0, 2 + nothing.size()), "1 " + nothing) << "superstep 0 reads identities";
  EXPECT_NE(line.find(" 45451 -0x0p+0 301 11|0x0p+0 0 inf"), std::string::npos)
      << "superstep 2 reads identities again: " << line;
  EXPECT_NE(text.find("  integer_sum "), std::string::npos) << "named ones are in the report";
}

/// Sees unhalted vertices, senders and aggregates before every superstep.
struct Watched {
  struct Master {
    std::string seen;
  };
  using Value = std::string;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  using Aggregators = weir::Aggregators<IntegerSum>;
  Value init(const VertexInfo&) const { return ""; }
  void master(Master& state, MasterHandle<Watched>& handle) const {
    state.seen += std::to_string(handle.num_unhalted()) + "/" +
                  std::to_string(handle.num_senders()) + "/" +
                  std::to_string(handle.aggregated(IntegerSum{})) + " ";
    if (handle.superstep() == 2) handle.wake_all();
    if (handle.superstep() == 3) handle.halt();
  }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.value() = v.broadcast().seen;
    v.aggregate(IntegerSum{}, v.id());
    if (v.superstep() == 0) {
      v.send(1, 1);
      v.send(1, 1);
      if (v.id() == 2) v.scatter();
    }
    if (v.superstep() == 0 && v.id() == 3) return;
    v.vote_to_halt();
  }
  Message publish(const Value&, const VertexInfo&) const { return 1; }
};

TEST(Master, sees_unhalted_vertices_senders_and_aggregates_and_may_wake_and_halt) {
  const std::string text = job_everywhere(cases::path(4), Watched{});
  // Before 0: all unhalted. After 0: one unhalted; 8 sent, 1 scattered. After 1: 1 and 3 computed
  // (woken or unhalted), all halted.
  EXPECT_EQ(text.substr(0, text.find("superstep")),
            "1 4/0/0 1/9/10 0/0/4 \n2 4/0/0 1/9/10 0/0/4 \n"
            "3 4/0/0 1/9/10 0/0/4 \n4 4/0/0 1/9/10 0/0/4 \n");
  EXPECT_NE(text.find("end: halted after 3"), std::string::npos) << text;
}

/// Two phases in turn: A scatters along out-edges, B answers along in-edges.
struct Turns {
  std::int64_t turn = 0;
};
struct PhaseA {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  using Master = Turns;
  static constexpr bool reads_arcs = true;
  Value init(const VertexInfo& v) const { return v.id; }
  void master(Turns& state, MasterHandle<PhaseA>& handle) const {
    state.turn = handle.superstep();
    handle.set_phase(static_cast<std::size_t>(handle.superstep() % 2));
    if (handle.superstep() == 5) handle.halt();
  }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.value() += 100 * inbox.combined(Combiner{});
    v.scatter();
  }
};
struct PhaseB {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  using Master = Turns;
  static constexpr Edges along_edges = Edges::in;
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    EXPECT_EQ(v.broadcast().turn, v.superstep());
    v.value() += 10'000 * inbox.combined(Combiner{});
    if (v.arcs().size() > 0) v.scatter();  // the first phase declares reads_arcs for all
  }
  std::int32_t publish(const Value&, const VertexInfo&) const { return 7; }
};

TEST(Phases, messages_of_one_phase_are_read_in_the_next_superstep_whatever_its_phase) {
  // 1 -> 2 -> 3. Superstep 0 (A): ids go forward. 1 (B): read ids; 1 and 2 answer backward.
  const Input<NoValue> input{.edges = {{1, 2, {}}, {2, 3, {}}}};
  const Phases program{std::tuple{PhaseA{}, PhaseB{}}};
  const RunOptions options{.max_supersteps = 3};
  const std::string text = job_everywhere(input, program, options);
  // 1 hears 7 from 2 in superstep 2; 2 heard 1, 3 heard 2 in superstep 1.
  EXPECT_EQ(text.substr(0, text.find("superstep")), "1 701\n2 10002\n3 20003\n") << text;
  EXPECT_NE(job_everywhere(input, program).find("end: halted after 5"), std::string::npos);
}

/// PageRank by hand, with dangling mass over an aggregator.
struct Ranking {
  struct Dangling : Aggregator<Sum<double>> {};
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  using Aggregators = weir::Aggregators<Dangling>;
  Superstep iterations = 20;
  Value init(const VertexInfo& v) const { return 1.0 / static_cast<double>(v.num_vertices); }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    const auto n = static_cast<double>(v.num_vertices());
    if (v.superstep() > 0)
      v.value() = 0.15 / n + 0.85 * (inbox.combined(Combiner{}) + v.aggregated(Dangling{}) / n);
    if (v.superstep() == iterations) return v.vote_to_halt();
    if (v.out_degree() == 0) {
      v.aggregate(Dangling{}, v.value());
    } else {
      v.scatter();
    }
  }
  Message publish(const Value& value, const VertexInfo& source) const {
    return value / static_cast<double>(source.out_degree);
  }
};

/// 34 vertices, 78 edges, as many as the karate club has.
Input<NoValue> club() {
  reference::Dice dice(34);
  Input<NoValue> input{.edges = {}, .options = {.is_directed = false}};
  for (VertexId v = 2; v <= 34; ++v)
    input.edges.push_back(
        {v, 1 + static_cast<VertexId>(dice.below(static_cast<std::size_t>(v) - 1)), {}});
  while (input.edges.size() < 78)
    input.edges.push_back(
        {1 + static_cast<VertexId>(dice.below(34)), 1 + static_cast<VertexId>(dice.below(8)), {}});
  return input;
}

// D82: 200 repeats at 2 and at 4 ranks all finish, all with the same bits.
TEST(Determinism, two_hundred_repeats_of_pagerank_are_equal_to_the_bit) {
  const std::string expected = job(club(), Ranking{}, 1);
  for (const Rank ranks : {2, 4}) {
    const auto texts = cases::on_ranks(ranks, [&](Context& context) {
      const auto graph = cases::build(context, club());
      std::string first = cases::describe(run(graph, Ranking{}));
      for (int round = 1; round < 200; ++round) {
        if (cases::describe(run(graph, Ranking{})) != first)
          return "round " + std::to_string(round);
      }
      return first;
    });
    EXPECT_EQ(texts[0], expected) << ranks;
  }
}

TEST(Determinism, ranks_sum_to_one_and_agree_with_the_serial_oracle) {
  reference::RandomGraph random{.vertices = {}, .edges = {}, .directed = true};
  for (const auto& edge : club().edges) random.edges.push_back({edge.source, edge.target, 1.0});
  const auto oracle = reference::pagerank(reference::serial_graph(random));
  Input<NoValue> input = club();
  input.options.is_directed = true;
  cases::on_ranks(3, [&](Context& context) {
    const auto graph = cases::build(context, input);
    const auto all = run(graph, Ranking{}).values.gather();
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_NEAR(all[i].value, oracle.ranks[i], 1e-12);
      sum += all[i].value;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    return 0;
  });
}

/// A hub of 5,000 arcs: blocks, lanes and tree all matter.
TEST(Determinism, a_hub_longer_than_a_block_is_equal_to_the_bit_everywhere) {
  Input<NoValue> input;
  for (VertexId leaf = 1; leaf <= 5'000; ++leaf) {
    input.edges.push_back({leaf, 0, {}});
    input.edges.push_back({0, leaf, {}});
    input.edges.push_back({leaf, leaf / 2 + 1, {}});
  }
  const Ranking program{.iterations = 6};
  const std::string expected = job(input, program, 1);
  EXPECT_EQ(job(input, program, 3), expected);
  EXPECT_EQ(job(input, program, 2, 3), expected);
  EXPECT_EQ(job(input, program, 4, 1, {.direction = Direction::push}), expected);
}

}  // namespace
}  // namespace weir
