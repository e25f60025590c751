// SPDX-License-Identifier: Apache-2.0
// Every rank throws the same error, soon, and can go on: docs/semantics.md, part 8. D numbers name
// cases that users of other engines reported.
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>

namespace weir {
namespace {

using cases::error_of;
using cases::Input;

enum class Throws { standard, weir_error, integer, bad_alloc };

/// Throws at chosen vertices in superstep 2.
struct Throwing {
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  Throws kind = Throws::standard;
  VertexId first = 0, last = 0;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.scatter();
    if (v.superstep() != 2 || v.id() < first || v.id() > last) return;
    switch (kind) {
      case Throws::standard: throw std::runtime_error("broken at " + std::to_string(v.id()));
      case Throws::weir_error: throw Error(ErrorCode::input, "no such thing");
      case Throws::integer: throw 42;
      case Throws::bad_alloc: throw std::bad_alloc();
    }
  }
};

Input<NoValue> ring() {
  Input<NoValue> input;
  for (VertexId v = 0; v < 12; ++v) input.edges.push_back({v, (v + 1) % 12, {}});
  return input;
}

// D79: one rank fails, the whole job ends at once.
TEST(Errors, what_compute_throws_on_one_rank_is_thrown_on_every_rank_within_two_seconds) {
  const std::pair<Throws, std::string> kinds[] = {
      {Throws::standard, "program: rank 1, superstep 2, vertex 4: broken at 4"},
      {Throws::weir_error, "input: rank 1, superstep 2, vertex 4: no such thing"},
      {Throws::integer, "program: rank 1, superstep 2, vertex 4: an exception of unknown type"},
      {Throws::bad_alloc, "memory: rank 1, superstep 2, vertex 4: out of memory"}};
  for (const auto& [kind, text] : kinds) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(error_of(ring(), Throwing{kind, 4, 4}, 4), text);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  }
}

TEST(Errors, of_several_in_one_superstep_the_smallest_vertex_is_told) {
  for (const Rank ranks : cases::rank_counts) {
    const std::string text = error_of(ring(), Throwing{Throws::standard, 3, 11}, ranks);
    EXPECT_NE(text.find("superstep 2, vertex 3: broken at 3"), std::string::npos) << text;
  }
}

TEST(Errors, the_smallest_vertex_is_told_also_inside_a_shard_in_heat_order) {
  Input<NoValue> input = ring();
  input.options.num_shards = 1;
  for (VertexId v = 0; v < 12; ++v) input.edges.push_back({v, 9, {}});  // 9 is the hottest
  EXPECT_EQ(error_of(input, Throwing{Throws::standard, 3, 11}, 1),
            "program: rank 0, superstep 2, vertex 3: broken at 3");
}

TEST(Errors, graph_and_context_can_be_used_again) {
  cases::on_ranks(3, [](Context& context) {
    const auto graph = cases::build(context, ring());
    for (int round = 0; round < 5; ++round) {
      EXPECT_THROW(run(graph, Throwing{Throws::standard, 7, 7}), Error);
      const auto result = run(graph, Throwing{Throws::standard, -1, -1}, {.max_supersteps = 4});
      EXPECT_EQ(result.report.num_supersteps, 4U);
    }
    return 0;
  });
}

/// An error that leaves the ranks' bodies reaches the caller of run_in_process as it was.
TEST(Errors, an_error_that_leaves_the_job_keeps_its_text) {
  for (int round = 0; round < 20; ++round) {
    try {
      run_in_process(4, {.threads = 1, .deadline = std::chrono::seconds(20)}, [](Context& context) {
        run(cases::build(context, ring()), Throwing{Throws::standard, 4, 4});
      });
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "rank 1, superstep 2, vertex 4: broken at 4");
    }
  }
}

enum class NanIn { publish, along, send, aggregate, nowhere };
struct LowestNumber : Aggregator<Min<double>> {};

/// Makes a NaN at vertex 5 in superstep 1.
struct MakesNan {
  using Value = double;
  using Message = double;
  using Combiner = Min<double>;
  using Aggregators = weir::Aggregators<LowestNumber>;
  NanIn where = NanIn::nowhere;
  Value init(const VertexInfo&) const { return 1; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (v.superstep() > 2) return v.vote_to_halt();
    if (v.superstep() == 1 && v.id() == 5) {
      if (where == NanIn::publish || where == NanIn::along)
        v.value() = where == NanIn::publish ? nan : -7;
      if (where == NanIn::send) v.send(3, nan);
      if (where == NanIn::aggregate) v.aggregate(LowestNumber{}, -nan);
    }
    v.scatter();
  }
  Message publish(const Value& value, const VertexInfo&) const { return value; }
  Message along(double published, const auto&) const {
    return published == -7 ? std::sqrt(published) : published;
  }
};

TEST(Errors, a_nan_where_a_minimum_has_to_order_it_is_an_error) {
  for (const Rank ranks : {1, 3}) {
    const std::string rank = "program: rank " + std::to_string(ranks == 1 ? 0 : 1);
    for (const NanIn where : {NanIn::publish, NanIn::send}) {
      EXPECT_EQ(error_of(ring(), MakesNan{where}, ranks),
                rank + ", superstep 1, vertex 5: a message to a minimum or maximum is NaN");
    }
    EXPECT_EQ(error_of(ring(), MakesNan{NanIn::aggregate}, ranks),
              rank + ", superstep 1, vertex 5: a contribution to a minimum or maximum is NaN");
    EXPECT_EQ(error_of(ring(), MakesNan{NanIn::nowhere}, ranks), "no error");
  }
}

// A message is made where it is read: the target is named, one superstep later.
TEST(Errors, a_nan_made_along_an_arc_is_an_error_in_push_and_in_pull) {
  for (const auto direction : {Direction::push, Direction::pull, Direction::automatic}) {
    for (const Rank ranks : {1, 3}) {
      const std::string text =
          error_of(ring(), MakesNan{NanIn::along}, ranks, {.direction = direction});
      EXPECT_NE(text.find("superstep 2, vertex 6: a message to a minimum or maximum is NaN"),
                std::string::npos)
          << text;
    }
  }
}

struct FailingInit {
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  Value init(const VertexInfo& v) const {
    if (v.id == 7) throw std::runtime_error("no value for 7");
    return 0;
  }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const { v.vote_to_halt(); }
};

TEST(Errors, an_init_that_throws_fails_every_rank_alike) {
  EXPECT_EQ(error_of(ring(), FailingInit{}, 3), "program: rank 1: no value for 7");
}

TEST(Errors, a_callback_that_throws_on_one_rank_ends_the_others) {
  for (const bool is_weir_error : {false, true}) {
    const auto start = std::chrono::steady_clock::now();
    const auto texts = cases::on_ranks(3, [&](Context& context) -> std::string {
      const auto graph = cases::build(context, ring());
      RunOptions options{.max_supersteps = 50};
      options.progress = [&](const SuperstepReport& step) {
        if (context.rank() != 2 || step.superstep != 3) return;
        if (is_weir_error) throw Error(ErrorCode::output, "the progress bar is full");
        throw std::runtime_error("the progress bar is full");
      };
      try {
        run(graph, Throwing{Throws::standard, -1, -1}, options);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), is_weir_error ? ErrorCode::output : ErrorCode::program);
        return error.what();
      }
      return "no error";
    });
    for (const auto& text : texts) EXPECT_EQ(text, "rank 2: the progress bar is full");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  }
}

/// A master that fails, or asks for a phase that is not there.
struct FailingMaster {
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  bool throws = true;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const { v.scatter(); }
  void master(NoMaster&, MasterHandle<FailingMaster>& handle) const {
    if (handle.superstep() < 2) return;
    if (throws) throw std::runtime_error("cannot decide");
    handle.set_phase(5);
  }
};

TEST(Errors, a_master_that_fails_fails_every_rank_alike) {
  EXPECT_EQ(error_of(ring(), FailingMaster{true}, 3),
            "program: superstep 2, master: cannot decide");
  EXPECT_EQ(error_of(ring(), FailingMaster{false}, 3),
            "program: superstep 2, master: found phase 5; expected less than 1");
}

}  // namespace
}  // namespace weir
