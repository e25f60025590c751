// SPDX-License-Identifier: Apache-2.0
// Ranks that compute shards for others: docs/guide/stragglers.md.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>
#include <weir/tests/reference/random_graph.hpp>

namespace weir {
namespace {

using cases::Input;
using cases::on_ranks;
using schedule::StragglerRule;

/// Sums that depend on the order of addition, an aggregator that does, random numbers, and a value
/// that is not what is published.
struct Diffusion {
  struct Total : Aggregator<Sum<double>> {};
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  using Aggregators = weir::Aggregators<Total>;
  static constexpr Edges along_edges = Edges::both;
  Superstep last = 5;
  double init(const VertexInfo& v) const {
    return 1.0 / (1.0 + static_cast<double>(static_cast<std::uint64_t>(v.id) % 97));
  }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    if (v.superstep() > 0)
      v.value() = 0.3 * v.value() + 0.7 * inbox.combined(Combiner{}) +
                  1e-9 * v.random().next_unit() + 1e-12 * v.aggregated(Total{});
    v.aggregate(Total{}, v.value());
    if (v.superstep() < last) {
      v.scatter();
    } else {
      v.vote_to_halt();
    }
  }
  double publish(double value, const VertexInfo& v) const {
    return value / static_cast<double>(1 + v.out_degree + v.in_degree);
  }
};

/// Messages to single vertices besides those along weighted edges, read one by one, in order.
struct Gossip {
  using Value = std::uint64_t;
  using Message = std::uint64_t;
  static constexpr bool reads_arcs = true;
  std::uint64_t init(const VertexInfo& v) const { return static_cast<std::uint64_t>(v.id); }
  template <class E>
  std::uint64_t along(std::uint64_t published, const Arc<E>& arc) const {
    return published * 3 + static_cast<std::uint64_t>(arc.value * 4);
  }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    for (const std::uint64_t message : inbox) v.value() = v.value() * 31 + message;
    if (v.superstep() >= 4) return v.vote_to_halt();
    for (const auto& arc : v.arcs()) {
      if (arc.target % 3 == 0) v.send(arc, v.value() ^ static_cast<std::uint64_t>(arc.target));
    }
    if (v.value() % 2 == 0) v.scatter();
  }
};

Input<double> random_input(std::uint64_t seed, bool is_directed) {
  const auto graph = reference::random_graph(seed, 300);
  Input<double> input{graph.edges, graph.vertices, {.is_directed = is_directed}};
  input.options.num_shards = 16;
  return input;
}

RunOptions with_rule(StragglerRule rule, bool verify = false) {
  RunOptions options;
  options.speculation = {rule, verify};
  return options;
}

template <class P>
void expect_forced_alike(const P& program) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Input<double> input = random_input(seed, seed % 2 == 0);
    const std::string expected = cases::job(input, program, 1);
    for (const Rank ranks : {2, 3, 4}) {
      for (const int threads : {1, 2}) {
        EXPECT_EQ(cases::job(input, program, ranks, threads, with_rule(StragglerRule::forced)),
                  expected)
            << "seed " << seed << ", " << ranks << " ranks, " << threads << " threads";
      }
    }
  }
}

TEST(Speculation, shards_computed_elsewhere_change_no_bit_of_combined_messages) {
  expect_forced_alike(Diffusion{});
}
TEST(Speculation, shards_computed_elsewhere_change_no_bit_of_lists_of_messages) {
  expect_forced_alike(Gossip{});
}

TEST(Speculation, half_of_the_shards_are_given_away_and_the_others_cloned_by_force) {
  const Input<double> input = random_input(3, false);
  const auto reports = on_ranks(3, [&](Context& context) {
    const Graph<double> graph = cases::build(context, input);
    return run(graph, Diffusion{}, with_rule(StragglerRule::forced)).report.speculation;
  });
  EXPECT_GT(reports[0].num_stolen, 0U);
  EXPECT_GT(reports[0].num_cloned, 0U);
  EXPECT_EQ(reports[0].num_won + reports[0].num_lost, reports[0].num_cloned);
  EXPECT_EQ(reports[0].num_won, reports[1].num_won) << "ranks tell different numbers";
}

}  // namespace
}  // namespace weir
