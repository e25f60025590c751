// SPDX-License-Identifier: Apache-2.0
// Ranks that compute shards for others: docs/guide/stragglers.md.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <stdexcept>
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
        const RunOptions options = with_rule(StragglerRule::forced, threads == 2);
        EXPECT_EQ(cases::job(input, program, ranks, threads, options), expected)
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

/// Sends to single vertices in the first superstep alone: later ones must not read it again.
struct Prologue {
  using Value = std::uint64_t;
  using Message = std::uint64_t;
  using Combiner = Sum<std::uint64_t>;
  static constexpr bool reads_arcs = true;
  std::uint64_t init(const VertexInfo& v) const { return static_cast<std::uint64_t>(v.id) % 11; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    if (v.superstep() > 0) v.value() = v.value() * 7 + inbox.combined(Combiner{});
    if (v.superstep() == 0) {
      for (const auto& arc : v.arcs()) v.send(arc, v.value());
    }
    if (v.superstep() >= 5) return v.vote_to_halt();
    v.scatter();
  }
};

TEST(Speculation, what_was_sent_is_read_once) { expect_forced_alike(Prologue{}); }

/// A label that spreads, and stays readable: fewer and fewer vertices see a change.
struct Rumour {
  using Value = std::uint64_t;
  using Message = std::uint64_t;
  static constexpr bool sticky = true;
  std::uint64_t init(const VertexInfo& v) const {
    return mix_bits(static_cast<std::uint64_t>(v.id));
  }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    std::uint64_t least = v.value();
    for (const std::uint64_t label : inbox) least = std::min(least, label);
    if (v.superstep() == 0 || least != v.value()) {
      v.value() = least;
      v.scatter();
    }
    v.vote_to_halt();
  }
};

TEST(Speculation, shards_without_a_vertex_to_visit_are_computed_elsewhere_too) {
  expect_forced_alike(Rumour{});
}

/// The counts of one run, equal on all ranks.
template <class P>
SpeculationReport counts_of(const Input<double>& input, const P& program, Rank ranks,
                            const std::function<RunOptions(Rank)>& options_of) {
  const auto reports = on_ranks(ranks, [&](Context& context) {
    const Graph<double> graph = cases::build(context, input);
    return run(graph, program, options_of(context.rank())).report.speculation;
  });
  for (const SpeculationReport& report : reports) {
    EXPECT_EQ(report.num_stolen, reports[0].num_stolen) << "ranks tell different numbers";
    EXPECT_EQ(report.num_won, reports[0].num_won) << "ranks tell different numbers";
  }
  return reports[0];
}

TEST(Speculation, half_of_the_shards_are_given_away_and_the_others_cloned_by_force) {
  const SpeculationReport counts = counts_of(random_input(3, false), Diffusion{}, 3,
                                             [](Rank) { return with_rule(StragglerRule::forced); });
  EXPECT_GT(counts.num_stolen, 0U);
  EXPECT_GT(counts.num_cloned, 0U);
  EXPECT_GT(counts.input_bytes, 0U);
  EXPECT_EQ(counts.num_won + counts.num_lost, counts.num_cloned);
}

/// Sleeps now and then, for a while that depends on the seed and on how often it was called.
class Dawdling {
 public:
  explicit Dawdling(std::uint64_t seed) : dice_(seed) {}
  void operator()(std::size_t) {
    std::uint64_t draw;
    {
      const std::lock_guard lock(mutex_);
      draw = dice_.next();
    }
    if (draw % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw / 4 % 1500));
  }

 private:
  std::mutex mutex_;
  reference::Dice dice_;
};

// WEIR_TEST_RACES: how many.
TEST(Speculation, random_races_are_won_and_lost_without_changing_a_bit) {
  const char* const asked = std::getenv("WEIR_TEST_RACES");
  const std::uint64_t num_races = asked != nullptr ? std::stoul(asked) : 40;
  const Input<double> input = random_input(3, false);
  const std::string expected = cases::job(input, Gossip{}, 1);
  std::uint64_t num_won = 0, num_lost = 0;
  for (std::uint64_t race = 1; race <= num_races; ++race) {
    const Rank ranks = 2 + static_cast<Rank>(race % 3);
    Dawdling dawdling(race);
    RunOptions options = with_rule(StragglerRule::forced);
    options.between_rows = std::ref(dawdling);
    const auto texts = on_ranks(ranks, 1 + static_cast<int>(race % 2), [&](Context& context) {
      const Graph<double> graph = cases::build(context, input);
      const auto result = run(graph, Gossip{}, options);
      if (context.is_root()) {
        num_won += result.report.speculation.num_won;
        num_lost += result.report.speculation.num_lost;
      }
      return cases::describe(result);
    });
    for (const std::string& text : texts) ASSERT_EQ(text, expected) << "race " << race;
  }
  EXPECT_GT(num_won, 0U);
  EXPECT_GT(num_lost, 0U);
}

/// One rank takes long, again and again.
RunOptions dragging(Rank rank, Rank slow, std::chrono::milliseconds pause) {
  RunOptions options = with_rule(StragglerRule::progress_rate);
  if (rank == slow)
    options.between_rows = [pause](std::size_t) { std::this_thread::sleep_for(pause); };
  return options;
}

TEST(Speculation, shards_that_wait_at_a_slow_rank_are_stolen) {
  const Input<double> input = random_input(3, false);
  for (const Rank slow : {0, 2}) {  // with and without the rank that decides
    const SpeculationReport counts = counts_of(input, Diffusion{}, 3, [&](Rank rank) {
      return dragging(rank, slow, std::chrono::milliseconds(15));
    });
    EXPECT_GT(counts.num_stolen, 0U) << "rank " << slow << " is slow";
  }
}

TEST(Speculation, a_shard_in_which_a_rank_is_held_up_is_cloned_and_the_clone_wins) {
  Input<double> input = random_input(3, false);
  input.options.num_shards = 4;
  const std::string expected = cases::job(input, Diffusion{}, 1);
  SpeculationReport counts;
  const auto texts = on_ranks(2, [&](Context& context) {
    const Graph<double> graph = cases::build(context, input);
    const auto result =
        run(graph, Diffusion{}, dragging(context.rank(), 1, std::chrono::milliseconds(10)));
    if (context.is_root()) counts = result.report.speculation;
    return cases::describe(result);
  });
  EXPECT_EQ(texts[0], expected);
  EXPECT_GT(counts.num_won, 0U);
}

TEST(Speculation, nobody_helps_where_it_is_off) {
  const SpeculationReport counts =
      counts_of(random_input(3, false), Diffusion{}, 3, [&](Rank rank) {
        RunOptions options = dragging(rank, 1, std::chrono::milliseconds(5));
        options.speculation.rule = StragglerRule::off;
        return options;
      });
  EXPECT_EQ(counts.num_stolen + counts.num_cloned, 0U);
}

/// Gives another value each time that a vertex is computed.
struct Fickle {
  using Value = std::uint64_t;
  using Message = std::uint64_t;
  using Combiner = Max<std::uint64_t>;
  std::atomic<std::uint64_t>* counter;
  std::uint64_t init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.value() = counter->fetch_add(1);
    if (v.superstep() == 2) v.vote_to_halt();
  }
};

TEST(Speculation, attempts_that_part_are_told_with_ranks_shard_and_vertex) {
  std::atomic<std::uint64_t> counter{0};
  const Input<double> input = random_input(3, false);
  const std::string error =
      cases::error_of(input, Fickle{&counter}, 3, with_rule(StragglerRule::forced, true));
  EXPECT_NE(error.find("internal: rank "), std::string::npos) << error;
  EXPECT_NE(error.find("superstep 0, vertex "), std::string::npos) << error;
  EXPECT_NE(error.find("computed shard "), std::string::npos) << error;
}

/// Throws at one vertex, wherever it is computed.
struct Tripping {
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  VertexId at = 0;
  double init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.scatter();
    if (v.superstep() == 2 && v.id() == at) throw std::runtime_error("tripped");
  }
};

TEST(Speculation, what_a_program_throws_is_thrown_by_the_owner_of_the_vertex) {
  const Input<double> input = random_input(3, false);
  for (std::size_t i = 0; i < input.vertices.size(); i += 37) {
    const Tripping program{input.vertices[i]};
    EXPECT_EQ(cases::error_of(input, program, 3, with_rule(StragglerRule::forced)),
              cases::error_of(input, program, 3, with_rule(StragglerRule::off)));
  }
}

}  // namespace
}  // namespace weir
