// SPDX-License-Identifier: Apache-2.0
// Programs that do everything at random, on random graphs, against a serial machine written from
// docs/semantics.md: values, superstep counts and message counts are equal to the bit at any number
// of ranks and threads, in push and in pull.
#include <cstdint>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>
#include <weir/tests/engine/superstep/serial_machine.hpp>

namespace weir {
namespace {

struct Total : Aggregator<Sum<double>> {};
struct Count : Aggregator<Sum<std::int64_t>> {};
struct Lowest : Aggregator<Min<double>> {};

template <class C>
struct WithCombiner {
  using Message = typename C::value_type;
  using Combiner = C;
};
struct WithoutCombiner {
  using Message = double;
};

/// Scatters, sends (also to nobody), halts, aggregates and, when `mutates`, changes the graph, all
/// by `v.random()`.
template <class Kind, Edges edges, bool mutates>
struct Chaos : Kind {
  using Message = typename Kind::Message;
  using Value = Message;
  using Aggregators = weir::Aggregators<Total, Count, Lowest>;
  static constexpr Edges along_edges = edges;
  static constexpr bool mutates_topology = mutates;
  static constexpr bool reads_arcs = true;

  Value init(const VertexInfo& v) const {
    return static_cast<Value>(v.id % 97) + static_cast<Value>(v.out_degree + 2 * v.in_degree);
  }

  void compute(VertexHandle auto& v, const auto& inbox) const {
    CounterRandom random = v.random();
    const auto one_in = [&](std::uint64_t n) { return random.next() % n == 0; };
    Value arrived{};
    if constexpr (requires { typename Kind::Combiner; }) {
      arrived = inbox.combined(typename Kind::Combiner{});
      if (inbox.empty()) arrived = 1;
    } else {
      for (const Message& m : inbox) arrived = arrived / 3 + m;  // the order shows
    }
    const auto total = static_cast<Value>(v.aggregated(Total{}) / 1024);
    v.value() = clip(v.value() / 2 + arrived / 3 + total + static_cast<Value>(v.num_vertices()));
    v.aggregate(Total{}, static_cast<double>(v.value()) / 7);
    if (one_in(2)) v.aggregate(Total{}, random.next_unit());
    v.aggregate(Count{}, v.aggregated(Count{}) / 2 + 1);
    if (one_in(3)) v.aggregate(Lowest{}, -random.next_unit());
    if (!one_in(3)) v.scatter();
    for (const auto& arc : v.arcs()) {
      if (one_in(6)) v.send(arc.target, v.value() / 5);
      if constexpr (mutates) {
        if (one_in(12)) v.remove_edge(arc.target);
        if (one_in(12)) v.add_edge(arc.target, 0.5);
      }
    }
    if (one_in(5)) v.send(v.id() + 1, 2);          // often to nobody
    if (one_in(5)) v.send(v.id(), v.value() / 7);  // to itself
    if constexpr (mutates) {
      const auto new_id = v.id() / 2 + static_cast<VertexId>(random.next() % 8);
      if (one_in(9)) v.remove();
      if (one_in(9)) v.add_vertex(new_id, static_cast<Value>(new_id % 5));
      if (one_in(9)) v.add_edge(new_id, 0.25);
    }
    if (v.superstep() > 2 && !one_in(4)) v.vote_to_halt();
  }

  Message publish(const Value& value, const VertexInfo& source) const {
    return clip(value / 3 + static_cast<Value>(source.out_degree));
  }
  Message along(const Message& published, const Arc<double>& arc) const {
    return published + static_cast<Message>(4 * arc.value);
  }

 private:
  static Value clip(Value x) {
    if constexpr (std::is_integral_v<Value>) {
      return x % 100'003;
    } else {
      return x > 1e6 ? x / 1e6 : x;
    }
  }
};

template <class Program>
class EngineEqualsSerialMachine : public testing::Test {};
using Programs = testing::Types<Chaos<WithCombiner<Sum<double>>, Edges::both, false>,
                                Chaos<WithCombiner<Min<std::int64_t>>, Edges::out, false>,
                                Chaos<WithoutCombiner, Edges::in, false>,
                                Chaos<WithoutCombiner, Edges::both, true>,
                                Chaos<WithCombiner<Sum<double>>, Edges::out, true>,
                                Chaos<WithCombiner<Min<std::int64_t>>, Edges::in, true>>;
TYPED_TEST_SUITE(EngineEqualsSerialMachine, Programs);

TYPED_TEST(EngineEqualsSerialMachine, on_random_graphs_at_any_ranks_threads_and_direction) {
  constexpr Superstep limit = 12;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    cases::Input<double> input = cases::input_of(reference::random_graph(seed));
    if (seed % 4 == 0) input.options.num_shards = static_cast<std::uint32_t>(1 + seed);
    RunOptions options{.max_supersteps = limit, .seed = seed};
    cases::SerialMachine<TypeParam, TypeParam::along_edges> machine(input, TypeParam{}, seed);
    const std::string expected = machine.run(limit);
    for (const Rank ranks : cases::rank_counts) {
      options.direction = static_cast<Direction>((seed + static_cast<std::uint64_t>(ranks)) % 3);
      ASSERT_EQ(cases::job(input, TypeParam{}, ranks, 1 + static_cast<int>(seed % 2), options),
                expected)
          << "seed " << seed << " on " << ranks;
    }
  }
}

/// Programs whose graph stays: after a change a superstep visits every row.
template <class Program>
class EngineSharesWorkAmongThreads : public testing::Test {};
using UnchangingPrograms = testing::Types<Chaos<WithCombiner<Sum<double>>, Edges::both, false>,
                                          Chaos<WithCombiner<Min<std::int64_t>>, Edges::out, false>,
                                          Chaos<WithoutCombiner, Edges::in, false>>;
TYPED_TEST_SUITE(EngineSharesWorkAmongThreads, UnchangingPrograms);

/// So many arcs that threads share a sparse superstep, so many rows that they are found by marks.
TYPED_TEST(EngineSharesWorkAmongThreads, and_equals_the_serial_machine_all_the_same) {
  constexpr Superstep limit = 3;
  constexpr std::uint64_t seed = 110;  // 6,182 vertices, 23,471 edges
  const auto input = cases::input_of(reference::random_graph(seed, 8000));
  cases::SerialMachine<TypeParam, TypeParam::along_edges> machine(input, TypeParam{}, seed);
  const std::string expected = machine.run(limit);
  const RunOptions options{.max_supersteps = limit, .direction = Direction::push, .seed = seed};
  for (const Rank ranks : {1, 3})
    ASSERT_EQ(cases::job(input, TypeParam{}, ranks, 2, options), expected) << ranks << " ranks";
}

}  // namespace
}  // namespace weir
