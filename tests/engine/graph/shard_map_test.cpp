// SPDX-License-Identifier: Apache-2.0
// The shard rule against arithmetic on big integers: docs/semantics.md, part 4, "Shards".
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/graph/shard_map.hpp>
#include <weir/tests/reference/random_graph.hpp>

namespace weir {
namespace {

__extension__ using Big = unsigned __int128;
using FirstIds = std::vector<std::optional<VertexId>>;
constexpr VertexId least = std::numeric_limits<VertexId>::min();
constexpr VertexId greatest = std::numeric_limits<VertexId>::max();

TEST(ShardRule, a_vertex_weighs_four_plus_its_arcs) {
  EXPECT_EQ(ShardMap::weight(0, 0), 4U);
  EXPECT_EQ(ShardMap::weight(3, 5), 12U);
}

TEST(ShardRule, small_graphs_have_one_shard_per_vertex_up_to_256) {
  EXPECT_EQ(ShardMap::num_shards_for(0, 0), 1U);
  EXPECT_EQ(ShardMap::num_shards_for(4, 1), 1U);
  EXPECT_EQ(ShardMap::num_shards_for(34 * 4 + 2 * 78 * 2, 34), 34U);
  EXPECT_EQ(ShardMap::num_shards_for(10'000, 300), 256U);
}

TEST(ShardRule, large_graphs_have_one_shard_per_131072_of_weight_up_to_2_to_the_20) {
  constexpr std::uint64_t unit = 131'072;
  EXPECT_EQ(ShardMap::num_shards_for(256 * unit, 1'000'000), 256U);
  EXPECT_EQ(ShardMap::num_shards_for(256 * unit + 1, 1'000'000), 257U);
  EXPECT_EQ(ShardMap::num_shards_for(unit << 20, 1'000'000'000), 1U << 20);
  EXPECT_EQ(ShardMap::num_shards_for((unit << 20) + 1, 1'000'000'000), 1U << 20);
}

TEST(ShardRule, weights_of_1e11_arcs_do_not_overflow) {
  constexpr std::uint64_t total = 4 * 10'000'000'000U + 2 * 100'000'000'000U;
  const ShardIndex shards = ShardMap::num_shards_for(total, 10'000'000'000U);
  EXPECT_EQ(shards, 1U << 20);
  for (const std::uint64_t before : {std::uint64_t{0}, total / 3, total / 2 + 1, total - 4}) {
    EXPECT_EQ(ShardMap::shard_for(before, total, shards),
              static_cast<ShardIndex>(Big{before} * shards / total));
  }
  EXPECT_EQ(ShardMap::shard_for(total - 4, total, shards), shards - 1);
}

TEST(ShardRule, equals_the_quotient_of_big_integers) {
  reference::Dice dice(1);
  for (int round = 0; round < 10'000; ++round) {
    const std::uint64_t total = 1 + (dice.next() >> dice.below(64));
    const std::uint64_t before = dice.next() % total;
    const auto shards = static_cast<ShardIndex>(1 + dice.below(1U << 20));
    ASSERT_EQ(ShardMap::shard_for(before, total, shards),
              static_cast<ShardIndex>(Big{before} * shards / total));
  }
}

TEST(ShardRule, nothing_to_weigh_is_shard_zero) { EXPECT_EQ(ShardMap::shard_for(0, 0, 7), 0U); }

TEST(ShardMap, an_id_belongs_to_the_shard_whose_range_holds_it) {
  const ShardMap map(FirstIds{-5, 10, 20}, 1);
  EXPECT_EQ(map.shard_of(-5), 0U);
  EXPECT_EQ(map.shard_of(9), 0U);
  EXPECT_EQ(map.shard_of(10), 1U);
  EXPECT_EQ(map.shard_of(19), 1U);
  EXPECT_EQ(map.shard_of(20), 2U);
}

TEST(ShardMap, ids_outside_every_range_join_the_first_or_the_last_shard) {
  const ShardMap map(FirstIds{-5, 10, 20}, 1);
  EXPECT_EQ(map.shard_of(-6), 0U);
  EXPECT_EQ(map.shard_of(least), 0U);
  EXPECT_EQ(map.shard_of(greatest), 2U);
}

TEST(ShardMap, empty_shards_hold_no_id) {
  const ShardMap map(FirstIds{0, {}, {}, 7, {}, 9, {}, {}}, 3);
  EXPECT_EQ(map.num_shards(), 8U);
  for (VertexId id = -3; id < 30; ++id) {
    const ShardIndex expected = id < 7 ? 0 : id < 9 ? 3 : 5;
    EXPECT_EQ(map.shard_of(id), expected) << id;
  }
}

TEST(ShardMap, the_least_and_the_greatest_id_are_ids_like_any_other) {
  const ShardMap map(FirstIds{least, {}, 0, greatest, {}, {}}, 2);
  EXPECT_EQ(map.shard_of(least), 0U);
  EXPECT_EQ(map.shard_of(-1), 0U);
  EXPECT_EQ(map.shard_of(0), 2U);
  EXPECT_EQ(map.shard_of(greatest - 1), 2U);
  EXPECT_EQ(map.shard_of(greatest), 3U);
}

TEST(ShardMap, of_a_graph_without_vertices_gives_every_id_an_owner) {
  const ShardMap map(FirstIds(1), 3);
  EXPECT_EQ(map.num_shards(), 1U);
  for (const VertexId id : {least, VertexId{0}, greatest}) {
    EXPECT_EQ(map.shard_of(id), 0U);
    EXPECT_EQ(map.owner_of(id), 0);
  }
}

TEST(ShardMap, rank_r_owns_from_ceil_r_S_over_R_to_the_next_such_bound) {
  for (const ShardIndex shards : {1U, 2U, 7U, 34U, 256U, 1U << 20}) {
    for (const Rank ranks : {1, 2, 3, 4, 7, 40, 12'288}) {
      const ShardMap map(FirstIds(shards), ranks);
      ShardIndex next = 0;
      for (Rank r = 0; r < ranks; ++r) {
        const auto bound = [&](Big rank) {
          return static_cast<ShardIndex>((rank * shards + static_cast<Big>(ranks) - 1) /
                                         static_cast<Big>(ranks));
        };
        const ShardRange range = map.owned_by(r);
        ASSERT_EQ(range.begin, bound(static_cast<Big>(r)));
        ASSERT_EQ(range.end, bound(static_cast<Big>(r) + 1));
        ASSERT_EQ(range.begin, next) << "ranges follow each other";
        next = range.end;
      }
      EXPECT_EQ(next, shards);
    }
  }
}

TEST(ShardMap, owner_and_owned_ranges_agree_also_with_more_ranks_than_shards) {
  for (const ShardIndex shards : {1U, 3U, 34U, 1000U}) {
    for (const Rank ranks : {1, 2, 3, 4, 7, 40, 64, 4096}) {
      const ShardMap map(FirstIds(shards), ranks);
      for (Rank r = 0; r < ranks; ++r) {
        for (ShardIndex s = map.owned_by(r).begin; s < map.owned_by(r).end; ++s)
          ASSERT_EQ(map.owner_of_shard(s), r) << shards << " shards on " << ranks;
      }
    }
  }
}

TEST(ShardMap, no_rank_owns_more_than_one_shard_above_the_fewest) {
  const ShardMap map(FirstIds(1000), 7);
  ShardIndex fewest = 1000;
  ShardIndex most = 0;
  for (Rank r = 0; r < 7; ++r) {
    fewest = std::min(fewest, map.owned_by(r).size());
    most = std::max(most, map.owned_by(r).size());
  }
  EXPECT_LE(most - fewest, 1U);
}

}  // namespace
}  // namespace weir
