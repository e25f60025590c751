// SPDX-License-Identifier: Apache-2.0
// What one program may rely on: docs/semantics.md, parts 1 to 3. D numbers name cases that users
// of other engines reported.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>

namespace weir {
namespace {

using cases::Input;
using cases::job;
using cases::job_everywhere;

/// The figure of the Pregel paper: the largest value floods the graph. [Malewicz10, figure 2]
struct LargestValue {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Max<std::int64_t>;
  Value init(const VertexInfo& v) const {
    constexpr Value values[] = {3, 6, 2, 1};
    return values[v.id];
  }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    const Value largest = std::max(v.value(), inbox.combined(Combiner{}));
    if (v.superstep() == 0 || largest > v.value()) {
      v.value() = largest;
      v.scatter();
    }
    v.vote_to_halt();
  }
};

TEST(Supersteps, the_figure_of_the_pregel_paper_takes_its_four_supersteps) {
  const Input<NoValue> figure{
      .edges = {{0, 1, {}}, {1, 0, {}}, {1, 3, {}}, {2, 1, {}}, {2, 3, {}}, {3, 2, {}}}};
  EXPECT_EQ(job_everywhere(figure, LargestValue{}),
            "0 6\n1 6\n2 6\n3 6\n"
            "superstep 0 phase 0: computed 4, scattered 4, messages 6, dropped 0, mutations 0\n"
            "superstep 1 phase 0: computed 4, scattered 2, messages 2, dropped 0, mutations 0\n"
            "superstep 2 phase 0: computed 2, scattered 1, messages 2, dropped 0, mutations 0\n"
            "superstep 3 phase 0: computed 2, scattered 0, messages 0, dropped 0, mutations 0\n"
            "end: quiet after 4, messages 10, dropped 0\n");
}

/// The smallest id of the component.
struct SmallestId {
  using Value = VertexId;
  using Message = VertexId;
  using Combiner = Min<VertexId>;
  static constexpr Edges along_edges = Edges::both;
  Value init(const VertexInfo& v) const { return v.id; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    const VertexId smallest = inbox.combined(Combiner{});
    if (v.superstep() == 0 || smallest < v.value()) {
      v.value() = std::min(smallest, v.value());
      v.scatter();
    }
    v.vote_to_halt();
  }
};

// D89: ends when no vertex is active and no message is in flight, not at the limit.
TEST(Supersteps, components_of_a_path_of_ten_end_by_themselves) {
  const std::string text = job_everywhere(cases::path(10), SmallestId{}, {.max_supersteps = 50});
  EXPECT_NE(text.find("end: quiet after 11,"), std::string::npos) << text;
  for (int id = 1; id <= 10; ++id)
    EXPECT_NE(text.find(std::to_string(id) + " 1\n"), std::string::npos);
}

// D29: ids past 2^31.
TEST(Supersteps, two_vertices_past_two_to_the_31_are_one_component) {
  const Input<NoValue> input{.edges = {{2147483649, 2147483648, {}}}};
  EXPECT_EQ(job_everywhere(input, SmallestId{}).substr(0, 44),
            "2147483648 2147483648\n2147483649 2147483648\n");
}

// D76: empty ranks and empty graphs take part in everything.
TEST(Supersteps, more_ranks_than_vertices_and_no_vertices_at_all_work) {
  EXPECT_EQ(job(cases::path(3), SmallestId{}, 7), job(cases::path(3), SmallestId{}, 1));
  const Input<NoValue> one{.edges = {}, .vertices = {5}};
  EXPECT_EQ(job(one, SmallestId{}, 4), job(one, SmallestId{}, 1));
  const std::string none = job(Input<NoValue>{}, SmallestId{}, 3);
  EXPECT_EQ(none, job(Input<NoValue>{}, SmallestId{}, 1));
  EXPECT_NE(none.find("end: quiet after 1, messages 0"), std::string::npos) << none;
}

TEST(Supersteps, sixty_four_ranks_give_the_result_of_one) {
  EXPECT_EQ(job(cases::path(100), SmallestId{}, 64), job(cases::path(100), SmallestId{}, 1));
}

TEST(Supersteps, the_limit_ends_a_job_and_is_no_error) {
  for (const Superstep limit : {0, 1, 3}) {
    const std::string text =
        job_everywhere(cases::path(10), SmallestId{}, {.max_supersteps = limit});
    EXPECT_NE(text.find("end: limit after " + std::to_string(limit)), std::string::npos) << text;
  }
}

/// Counts how often it computed; halts for good in superstep `halts_in`.
struct Counting {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  Superstep halts_in = 3;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    EXPECT_TRUE(inbox.empty());
    EXPECT_EQ(v.superstep(), v.value());
    ++v.value();
    if (v.superstep() == halts_in) v.vote_to_halt();
  }
};

// D90: halting is a vote, not the want of messages.
TEST(Supersteps, a_vertex_without_messages_computes_until_it_votes_to_halt) {
  EXPECT_EQ(job_everywhere(cases::path(3), Counting{}).substr(0, 12), "1 4\n2 4\n3 4\n");
}

/// Writes the superstep in which a message was read.
template <bool any_message>
struct Waking {
  using Value = std::int64_t;
  using Message = double;
  using Combiner = Min<double>;
  static constexpr bool wakes_on_any_message = any_message;
  bool sends = false;
  Value init(const VertexInfo&) const { return -1; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    if (v.superstep() > 0) v.value() = v.superstep() * 10 + (inbox.empty() ? 0 : 1);
    if (v.superstep() == 0 && v.id() == 1) {
      if (sends) {
        v.send(2, Combiner::identity());
      } else {
        v.scatter();
      }
    }
    v.vote_to_halt();
  }
  Message publish(const Value&, const VertexInfo&) const { return Combiner::identity(); }
};

TEST(Supersteps, a_message_equal_to_the_identity_is_no_message) {
  EXPECT_EQ(job_everywhere(cases::path(2), Waking<false>{}).substr(0, 10), "1 -1\n2 -1\n");
  EXPECT_EQ(job_everywhere(cases::path(2), Waking<false>{true}).substr(0, 10), "1 -1\n2 -1\n");
}

TEST(Supersteps, any_message_wakes_a_program_that_asks_for_it) {
  EXPECT_EQ(job_everywhere(cases::path(2), Waking<true>{}).substr(0, 10), "1 -1\n2 11\n");
  EXPECT_EQ(job_everywhere(cases::path(2), Waking<true>{true}).substr(0, 10), "1 -1\n2 11\n");
}

/// Minus zero is not plus zero: the sum of nothing wakes nobody, plus zero does.
struct ZeroSum {
  using Value = std::int64_t;
  using Message = double;
  using Combiner = Sum<double>;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    EXPECT_EQ(std::signbit(inbox.combined(Combiner{})), false) << "the sum of nothing is +0.0";
    ++v.value();
    if (v.superstep() == 0 && v.id() == 1) v.send(2, 0.0);
    if (v.superstep() == 0 && v.id() == 1) v.send(3, -0.0);
    v.vote_to_halt();
  }
};

TEST(Supersteps, a_halted_vertex_wakes_when_its_inbox_differs_from_the_identity_in_any_bit) {
  EXPECT_EQ(job_everywhere(cases::path(3), ZeroSum{}).substr(0, 12), "1 1\n2 2\n3 1\n");
}

/// Superstep 0: everyone publishes what it is, then changes. Superstep 1 must read the old word.
struct Visibility {
  using Value = std::string;
  using Message = std::string;
  static constexpr Edges along_edges = Edges::both;
  Value init(const VertexInfo& v) const { return std::to_string(v.id); }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    std::string heard;
    for (const std::string& word : inbox) heard += "<" + word;
    v.value() += heard + "@" + std::to_string(v.superstep());
    if (v.superstep() < 2) {
      v.scatter();
    } else {
      v.vote_to_halt();
    }
  }
};

TEST(Supersteps, what_is_scattered_is_read_in_the_next_superstep_as_compute_left_it) {
  const Input<NoValue> input{.edges = {{1, 2, {}}}};
  const std::string text = job_everywhere(input, Visibility{});
  EXPECT_EQ(text.substr(0, text.find("superstep")),
            "1 1@0<2@0@1<2@0<1@0@1@2\n2 2@0<1@0@1<1@0<2@0@1@2\n");
}

/// Every vertex sends words to vertex 5; loops and far targets too.
struct Letters {
  using Value = std::vector<std::string>;
  using Message = std::string;
  Value init(const VertexInfo&) const { return {}; }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    for (const std::string& letter : inbox) v.value().push_back(letter);
    if (v.superstep() == 0) {
      v.send(5, "first of " + std::to_string(v.id()));
      v.send(-77, "to nobody");
      v.send(5, "second of " + std::to_string(v.id()));
      if (v.id() == 3) v.scatter();
    }
    v.vote_to_halt();
  }
  Message publish(const Value&, const VertexInfo& source) const {
    return "scattered by " + std::to_string(source.id);
  }
};

TEST(Sends, arrive_after_scattered_messages_by_shard_row_and_sequence_of_the_source) {
  // One shard: rows in heat order, 3 before 5 before 4.
  const Input<NoValue> input{.edges = {{3, 5, {}}, {3, 4, {}}, {3, 5, {}}},
                             .options = {.num_shards = 1}};
  const std::string text = job_everywhere(input, Letters{});
  EXPECT_EQ(text.substr(0, text.find("superstep")),
            "3 \n4 scattered by 3,\n"
            "5 scattered by 3,scattered by 3,first of 3,second of 3,first of 5,second of 5,"
            "first of 4,second of 4,\n");
}

TEST(Sends, to_a_vertex_that_is_not_there_are_dropped_and_counted) {
  const std::string text = job_everywhere(cases::path(6), Letters{});
  EXPECT_NE(text.find("messages 20, dropped 6, mutations"), std::string::npos) << text;
  EXPECT_NE(text.find("end: quiet after 2, messages 20, dropped 6\n"), std::string::npos) << text;
}

/// The same shortest paths with and without a combiner.
template <bool is_combining>
struct Distances;
template <>
struct Distances<true> {
  using Combiner = Min<double>;
};
template <>
struct Distances<false> {};

template <bool is_combining>
struct ShortestPaths : Distances<is_combining> {
  using Value = double;
  using Message = double;
  static constexpr bool reads_arcs = true;
  Value init(const VertexInfo&) const { return Min<double>::identity(); }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    double best = v.superstep() == 0 && v.id() == 0 ? 0.0 : Min<double>::identity();
    if constexpr (is_combining) {
      best = std::min(best, inbox.combined(Min<double>{}));
    } else {
      for (const double m : inbox) best = std::min(best, m);
    }
    if (best < v.value()) {
      v.value() = best;
      for (const auto& arc : v.arcs()) v.send(arc, best + arc.value);
    }
    v.vote_to_halt();
  }
};

// D91: equal results with and without a combiner, and fewer bytes with one.
TEST(Sends, combining_changes_no_result_and_saves_bytes) {
  reference::Dice dice(5);
  Input<double> input;
  for (int i = 0; i < 3000; ++i) {
    input.edges.push_back({static_cast<VertexId>(dice.below(100)),
                           static_cast<VertexId>(dice.below(100)),
                           static_cast<double>(1 + dice.below(64)) / 4});
  }
  for (const Rank ranks : {1, 3}) {
    const auto texts = cases::on_ranks(ranks, [&](Context& context) {
      const auto graph = cases::build(context, input);
      const auto with = run(graph, ShortestPaths<true>{});
      const auto without = run(graph, ShortestPaths<false>{});
      EXPECT_EQ(cases::values_of(with), cases::values_of(without));
      EXPECT_EQ(with.report.num_messages, without.report.num_messages);
      if (ranks > 1) {
        EXPECT_LT(with.report.bytes_sent, without.report.bytes_sent * 9 / 10);
      }
      return cases::describe(with);
    });
    EXPECT_EQ(texts[0], job(input, ShortestPaths<true>{}, 1));
  }
}

enum class Hint { none, wants, first_decides };

/// Breadth-first search; traits only save work.
template <Hint hint>
struct Levels {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Min<std::int64_t>;
  static constexpr bool first_message_decides = hint == Hint::first_decides;
  std::vector<VertexId> sources{3, 3, 1000};
  std::span<const VertexId> starts() const { return sources; }
  Value init(const VertexInfo&) const { return -1; }
  bool wants(const Value& value) const requires(hint == Hint::wants) { return value < 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    if (v.value() < 0) {
      v.value() = v.superstep() == 0 ? 0 : inbox.combined(Combiner{}) + 1;
      v.scatter();
    }
    v.vote_to_halt();
  }
};

TEST(Traits, wants_and_first_message_decides_change_no_value) {
  reference::Dice dice(9);
  Input<NoValue> input;
  for (int i = 0; i < 900; ++i)
    input.edges.push_back(
        {static_cast<VertexId>(dice.below(300)), static_cast<VertexId>(dice.below(300)), {}});
  const auto values = [](const std::string& text) {
    return text.substr(0, text.find("superstep"));
  };
  const std::string plain = values(job_everywhere(input, Levels<Hint::none>{}));
  for (const Rank ranks : {1, 3}) {
    for (const auto direction : {Direction::push, Direction::pull}) {
      const RunOptions options{.direction = direction};
      EXPECT_EQ(values(job(input, Levels<Hint::wants>{}, ranks, 1, options)), plain);
      EXPECT_EQ(values(job(input, Levels<Hint::first_decides>{}, ranks, 1, options)), plain);
    }
  }
}

TEST(Traits, starts_names_the_vertices_of_superstep_zero) {
  const std::string text = job_everywhere(cases::path(5), Levels<Hint::none>{});
  EXPECT_EQ(text.substr(0, 20), "1 2\n2 1\n3 0\n4 1\n5 2\n");
  EXPECT_NE(text.find("superstep 0 phase 0: computed 1,"), std::string::npos) << text;
}

/// Publishes once, then only vertex 1 publishes again, in superstep 2 the same, in 3 another word.
struct Sticky {
  using Value = std::int64_t;  // how often it computed, times 1000, plus the sum of what it read
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  static constexpr bool sticky = true;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.value() = (v.value() / 1000 + 1) * 1000 + inbox.combined(Combiner{});
    if (v.superstep() == 0) v.scatter();
    if (v.id() == 1 && v.superstep() <= 3) {
      if (v.superstep() >= 2) v.scatter();
      return;
    }
    v.vote_to_halt();
  }
  Message publish(const Value& value, const VertexInfo& source) const {
    return source.id == 1 && value / 1000 == 4 ? 500 : source.id;
  }
};

TEST(Traits, sticky_values_stay_readable_and_wake_only_when_they_change) {
  // Vertex 3 reads 1 and 2. It computes in 0, in 1 (both are new) and in 4 (1 changed in 3).
  const Input<NoValue> input{.edges = {{1, 3, {}}, {2, 3, {}}}};
  const std::string text = job_everywhere(input, Sticky{});
  EXPECT_NE(text.find("3 3502\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2 1000\n"), std::string::npos) << text;
}

/// Bools everywhere: values, published, messages, sends.
struct Infection {
  using Value = bool;
  using Message = bool;
  using Combiner = Any;
  Value init(const VertexInfo& v) const { return v.id == 4; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    const bool is_new = !v.value() && inbox.combined(Combiner{});
    if (is_new) v.value() = true;
    if (is_new || (v.superstep() == 0 && v.value())) {
      v.scatter();
      v.send(100, true);
    }
    v.vote_to_halt();
  }
};

TEST(Supersteps, values_and_messages_may_be_bool) {
  Input<NoValue> input = cases::path(6);
  input.vertices = {100, 101};
  EXPECT_EQ(job_everywhere(input, Infection{}).substr(0, 36),
            "1 1\n2 1\n3 1\n4 1\n5 1\n6 1\n100 1\n101 0\n");
}

/// Draws once per superstep.
struct Drawing {
  using Value = std::uint64_t;
  using Message = std::uint64_t;
  using Combiner = Sum<std::uint64_t>;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    CounterRandom expected(11, static_cast<std::uint64_t>(v.superstep()),
                           static_cast<std::uint64_t>(v.id()));
    auto random = v.random();
    EXPECT_EQ(random.next(), expected.next());
    v.value() = v.value() * 3 + random.next();
    if (v.superstep() == 2) v.vote_to_halt();
  }
};

TEST(Supersteps, random_numbers_depend_on_seed_superstep_and_id_alone) {
  job_everywhere(cases::path(9), Drawing{}, {.seed = 11});
}

TEST(Options, a_run_may_start_from_the_values_of_another) {
  for (const Rank ranks : cases::rank_counts) {
    const auto texts = cases::on_ranks(ranks, [&](Context& context) {
      const auto graph = cases::build(context, cases::path(6));
      const auto half = run(graph, SmallestId{}, {.max_supersteps = 3});
      return cases::values_of(run(graph, SmallestId{}, {}, half.values));
    });
    EXPECT_EQ(texts[0], "1 1\n2 1\n3 1\n4 1\n5 1\n6 1\n");
  }
}

TEST(Options, progress_and_hooks_are_called_once_per_superstep_in_order) {
  const auto texts = cases::on_ranks(3, [](Context& context) {
    const auto graph = cases::build(context, cases::path(4));
    std::string calls;
    RunOptions options;
    options.before_superstep = [&](Superstep s) { calls += "b" + std::to_string(s); };
    options.after_superstep = [&](Superstep s) { calls += "a" + std::to_string(s) + " "; };
    options.progress = [&](const SuperstepReport& step) {
      calls += "p" + std::to_string(step.superstep) + ":" + std::to_string(step.num_computed);
    };
    run(graph, SmallestId{}, options);
    return calls;
  });
  for (const auto& calls : texts) EXPECT_EQ(calls, "b0p0:4a0 b1p1:4a1 b2p2:4a2 b3p3:3a3 b4p4:1a4 ");
}

TEST(Options, a_cancel_token_stops_every_rank_with_the_same_error) {
  const auto texts = cases::on_ranks(4, [](Context& context) -> std::string {
    const auto graph = cases::build(context, cases::path(10));
    RunOptions options;
    options.progress = [&](const SuperstepReport& step) {
      if (context.rank() == 2 && step.superstep == 1) options.cancel.cancel();
    };
    try {
      run(graph, SmallestId{}, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
      // Graph and context can be used again.
      return std::string(error.what()) + "; " + cases::values_of(run(graph, SmallestId{}));
    }
    return "no error";
  });
  for (const auto& text : texts)
    EXPECT_EQ(text.substr(0, 47), "cancelled by the caller in superstep 2; 1 1\n2 1") << text;
}

// D84: two threads run two graphs at once in one process.
TEST(Supersteps, two_contexts_in_two_threads_are_independent) {
  const std::string expected = job(cases::path(40), SmallestId{}, 1);
  std::vector<std::string> found(2);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&found, t] {
      for (int round = 0; round < 10; ++round) {
        Context context({.threads = 2});
        const auto graph = cases::build(context, cases::path(40));
        found[t] = cases::describe(run(graph, SmallestId{}));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(found, std::vector<std::string>(2, expected));
}

}  // namespace
}  // namespace weir
