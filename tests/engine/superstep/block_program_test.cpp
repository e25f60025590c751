// SPDX-License-Identifier: Apache-2.0
// Block programs: docs/semantics.md, part 10.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/superstep/block_program.hpp>
#include <weir/tests/engine/superstep/job.hpp>

namespace weir {
namespace {

using cases::Input;
using cases::on_ranks;

/// Arcs from the source, as in docs/guide/block_programs.md.
struct Hops {
  using Value = std::int64_t;
  using Message = std::int64_t;
  static constexpr Edges along_edges = Edges::in;  // the lists of a block are its out-lists
  static constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();

  VertexId source = 0;
  std::vector<std::int64_t> hops{};  // by slot
  std::vector<std::int64_t> told{};

  void compute(const Block& block, Boundary<Message>& boundary) {
    if (boundary.superstep() == 0) hops.assign(block.num_slots(), unreached);
    std::vector<Slot> reached;
    const auto reach = [&](Slot slot, std::int64_t distance) {
      if (distance >= hops[slot]) return;
      hops[slot] = distance;
      reached.push_back(slot);
    };
    for (Row row = 0; boundary.superstep() == 0 && row < block.num_rows(); ++row) {
      if (block.id(block.slot(row)) == source) reach(block.slot(row), 0);
    }
    for (const auto& [slot, link, distances] : boundary.received()) reach(slot, distances.front());
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const Slot slot = reached[i];
      if (block.is_ghost(slot)) continue;
      for (const Slot each : block.neighbours(block.row(slot))) reach(each, hops[slot] + 1);
    }
    std::sort(reached.begin(), reached.end());
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    for (const Slot slot : reached) {
      if (block.is_ghost(slot)) boundary.send(slot, hops[slot]);
    }
  }
  Value value(const Block& block, Row row) const { return hops[block.slot(row)]; }
};

TEST(BlockProgram, a_confluent_program_gives_the_same_values_at_any_number_of_ranks) {
  Input<NoValue> input{.edges = {}, .vertices = {1000}};
  for (VertexId v = 0; v < 60; ++v) {
    input.edges.push_back({v * 7 % 60, (v * 7 + 7) % 60, {}});
    input.edges.push_back({v, v * v % 60, {}});
  }
  const auto hops_on = [&](Rank ranks, int threads) {
    return on_ranks(ranks, threads, [&](Context& context) {
      return cases::values_of(run(cases::build(context, input), Hops{.source = 0}));
    })[0];
  };
  const std::string expected = hops_on(1, 1);
  EXPECT_NE(expected.find("7 1\n"), std::string::npos) << expected;
  EXPECT_NE(expected.find("1000 9223372036854775807\n"), std::string::npos) << expected;
  for (const Rank ranks : cases::rank_counts) {
    for (const int threads : {1, 2}) EXPECT_EQ(hops_on(ranks, threads), expected) << ranks;
  }
}

/// Own vertices tell their ghosts one copy of their id and as many more as its last digit says;
/// ghosts tell their owners theirs in the same superstep. Empty lists are not sent.
struct Copies {
  using Value = std::int64_t;
  using Message = VertexId;

  std::vector<std::int64_t> heard{};

  static auto copies(VertexId id) {
    return std::vector<VertexId>(static_cast<std::size_t>(id % 10 + 1), id);
  }
  void compute(const Block& block, Boundary<Message>& boundary) {
    if (boundary.superstep() == 0) {
      heard.assign(block.num_rows(), 0);
      for (const Slot slot : boundary.shared_slots()) {
        boundary.send(slot, copies(block.id(slot)));
        boundary.send(slot, std::span<const VertexId>());
      }
      return;
    }
    std::size_t num_ghosts = 0;
    for (const auto& [slot, link, values] : boundary.received()) {
      const VertexId id = block.id(slot);
      const auto expected = copies(id);
      if (!std::equal(values.begin(), values.end(), expected.begin(), expected.end()))
        throw std::runtime_error("a wrong list at vertex " + std::to_string(id));
      if (block.is_ghost(slot)) {
        ++num_ghosts;
      } else {
        ++heard[block.row(slot)];
      }
    }
    if (num_ghosts != block.num_slots() - block.num_rows())
      throw std::runtime_error("a ghost heard nothing");
  }
  Value value(const Block&, Row row) const { return heard[row]; }
};

TEST(BlockProgram, values_travel_from_owners_to_ghosts_and_back) {
  Input<NoValue> input;
  for (VertexId v = 0; v < 40; ++v) input.edges.push_back({v, (v + 13) % 40, {}});
  for (const Rank ranks : cases::rank_counts) {
    on_ranks(ranks, [&](Context& context) {
      const auto graph = cases::build(context, input);
      const auto result = run(graph, Copies{});
      EXPECT_EQ(result.report.num_supersteps, ranks == 1 ? 1U : 2U);
      // Each vertex is read by one other: it is a ghost where that one lives, if not here.
      std::uint64_t num_values = 0;
      for (const auto& [id, heard] : result.values.gather()) {
        const bool is_ghost =
            graph.shards().owner_of(id) != graph.shards().owner_of((id + 13) % 40);
        EXPECT_EQ(heard, is_ghost ? 1 : 0) << id;
        num_values += is_ghost ? 2 * static_cast<std::uint64_t>(id % 10 + 1) : 0;
      }
      EXPECT_EQ(result.report.num_messages, num_values);
      return 0;
    });
  }
}

/// Counts down from what it has most of; the least proposal is what all agree on.
struct Countdown {
  using Value = std::int64_t;
  using Message = std::int64_t;

  Rank rank = 0;
  std::vector<std::int64_t> agreed{};

  void compute(const Block&, Boundary<Message>& boundary) {
    agreed.push_back(boundary.agreed().value_or(-1));
    const std::int64_t step = boundary.superstep();
    if (step < 3) boundary.propose(10 * step + rank + 5);
    if (step < 3 && rank == 1) boundary.propose(10 * step);
    if (step < 3 && rank == 1) boundary.propose(10 * step + 1);
  }
  Value value(const Block&, Row) const {
    std::int64_t all = 0;
    for (const std::int64_t each : agreed) all = 100 * all + each + 1;
    return all;
  }
};

TEST(BlockProgram, all_agree_on_the_least_proposal_and_go_on_for_it) {
  on_ranks(3, [&](Context& context) {
    const auto graph = cases::build(context, cases::path(9));
    const auto result = run(graph, Countdown{context.rank()});
    EXPECT_EQ(result.report.num_supersteps, 4U);
    EXPECT_EQ(result.report.ending, Ending::quiet);
    for (const auto& [id, value] : result.values.gather()) EXPECT_EQ(value, 11121) << id;
    return 0;
  });
}

struct Failing {
  using Value = int;
  using Message = int;
  Rank first = 0;  // this and later ranks throw in superstep 2
  Rank rank = 0;
  void compute(const Block& block, Boundary<Message>& boundary) {
    for (const Slot slot : boundary.shared_slots()) boundary.send(slot, 1);
    boundary.propose(0);
    if (boundary.superstep() != 2 || rank < first) return;
    block.for_each_run([](Row, Row) { throw std::runtime_error("broken"); });
  }
  Value value(const Block&, Row) const { return 0; }
};

TEST(BlockProgram, what_compute_throws_every_rank_throws_and_the_context_stays_usable) {
  on_ranks(4, [&](Context& context) {
    const auto graph = cases::build(context, cases::path(40));
    for (int round = 0; round < 3; ++round) {
      try {
        run(graph, Failing{1, context.rank()});
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::program);
        EXPECT_EQ(error.text(), "rank 1, superstep 2: broken");
      }
      EXPECT_EQ(run(graph, Failing{9, 0}, {.max_supersteps = 4}).report.num_supersteps, 4U);
    }
    return 0;
  });
}

TEST(BlockProgram, obeys_the_options_of_a_run) {
  on_ranks(2, [&](Context& context) {
    const auto graph = cases::build(context, cases::path(10));
    std::vector<Superstep> seen;
    RunOptions options{.max_supersteps = 5};
    options.progress = [&](const SuperstepReport& report) {
      seen.push_back(report.superstep);
      EXPECT_EQ(report.num_computed, 10U);
    };
    const auto result = run(graph, Failing{9, 0}, options);
    EXPECT_EQ(seen, (std::vector<Superstep>{0, 1, 2, 3, 4}));
    EXPECT_EQ(result.report.ending, Ending::superstep_limit);
    EXPECT_GT(result.report.bytes_sent, 0U);

    options.progress = [&](const SuperstepReport& report) {
      if (report.superstep == 1 && context.rank() == 1) options.cancel.cancel();
    };
    try {
      run(graph, Failing{9, 0}, options);
      ADD_FAILURE() << "not cancelled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
      EXPECT_EQ(error.text(), "cancelled by the caller in superstep 2");
    }
    EXPECT_THROW(run(graph, Failing{9, 0}, {.max_supersteps = 0}), Error);
    return 0;
  });
}

/// Looks at the block of the test below.
struct Order {
  using Value = int;
  using Message = int;
  static constexpr Edges along_edges = Edges::both;
  void compute(const Block& block, Boundary<Message>&) const {
    ASSERT_EQ(block.num_slots(), 4U);
    EXPECT_FALSE(block.has_ghosts());
    std::vector<VertexId> ids;
    for (Slot slot = 0; slot < block.num_slots(); ++slot) ids.push_back(block.id(slot));
    EXPECT_EQ(ids, (std::vector<VertexId>{2, 4, 1, 3}));  // 4, 3, 2, 1 arcs
    const Row two = block.row(0);
    EXPECT_EQ(block.slot(two), 0U);
    const auto as_vector = [](std::span<const Slot> list) {
      return std::vector<Slot>(list.begin(), list.end());
    };
    EXPECT_EQ(as_vector(block.first_list(two)), (std::vector<Slot>{2, 3}));   // from 1 and 3
    EXPECT_EQ(as_vector(block.second_list(two)), (std::vector<Slot>{1, 2}));  // to 4 and 1
    EXPECT_EQ(as_vector(block.neighbours(two)), (std::vector<Slot>{2, 3, 1, 2}));
  }
  Value value(const Block&, Row) const { return 0; }
};

TEST(BlockProgram, sees_lists_and_slots_in_heat_order) {
  Input<NoValue> input{.edges = {{1, 2, {}}, {3, 2, {}}, {2, 1, {}}, {2, 4, {}}, {4, 4, {}}}};
  on_ranks(1, [&](Context& context) {
    run(cases::build(context, input), Order{});
    return 0;
  });
}

}  // namespace
}  // namespace weir
