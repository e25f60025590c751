// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/collective_time.hpp>

#include <gtest/gtest.h>

namespace weir::training {

namespace {

GroupLinks group_of(std::int64_t num_ranks, std::int64_t in_node) {
  return {num_ranks, in_node, 200e9, 1e-6, 25e9, 10e-6};
}

TEST(CollectiveTimeTest, ARingMovesAlmostTwiceTheBytes) {
  EXPECT_NEAR(ring_all_reduce_seconds(group_of(8, 8), 1e9), 2 * 7.0 / 8 * 1e9 / 200e9 + 14e-6,
              1e-12);
  EXPECT_NEAR(ring_all_gather_seconds(group_of(8, 8), 1e9), 7.0 / 8 * 1e9 / 200e9 + 7e-6, 1e-12);
}

// D105, astra-sim 207: on one link 8 and 64 ranks differ, by 2(n-1)/n of the bytes and 2(n-1)
// steps.
TEST(CollectiveTimeTest, MoreRanksOnOneLinkTakeLonger) {
  EXPECT_NEAR(ring_all_reduce_seconds(group_of(8, 8), 1e9), 1.75 * 1e9 / 200e9 + 14e-6, 1e-12);
  EXPECT_NEAR(ring_all_reduce_seconds(group_of(64, 64), 1e9), 1.96875 * 1e9 / 200e9 + 126e-6,
              1e-12);
}

TEST(CollectiveTimeTest, AcrossNodesTheAdaptersLimit) {
  EXPECT_NEAR(ring_all_gather_seconds(group_of(4, 1), 1e9), 3.0 / 4 * 1e9 / 25e9 + 30e-6, 1e-12);
  // Two ranks on each node bring two adapters to the one ring; eight would outrun the node.
  EXPECT_NEAR(ring_all_gather_seconds(group_of(4, 2), 1e9), 3.0 / 4 * 1e9 / 50e9 + 30e-6, 1e-12);
  GroupLinks many = group_of(32, 8);
  many.network_bytes_per_second = 50e9;
  EXPECT_NEAR(ring_all_gather_seconds(many, 1e9), 31.0 / 32 * 1e9 / 200e9 + 310e-6, 1e-12);
}

TEST(CollectiveTimeTest, TreesWinWhereLatencyCounts) {
  EXPECT_LT(tree_all_reduce_seconds(group_of(512, 1), 1e3),
            ring_all_reduce_seconds(group_of(512, 1), 1e3));
  EXPECT_GT(tree_all_reduce_seconds(group_of(4, 1), 1e9),
            ring_all_reduce_seconds(group_of(4, 1), 1e9));
  EXPECT_NEAR(tree_all_reduce_seconds(group_of(8, 1), 0), 2 * 3 * 10e-6, 1e-15);
}

TEST(CollectiveTimeTest, HierarchyIsRingsOfRings) {
  const double inside = 2 * 7.0 / 8 * 1e9 / 200e9 + 14e-6;
  const double across = 2 * 3.0 / 4 * (1e9 / 8) / 25e9 + 6 * 10e-6;
  EXPECT_NEAR(hierarchical_all_reduce_seconds(group_of(32, 8), 1e9), inside + across, 1e-12);
}

TEST(CollectiveTimeTest, OneRankTakesNoTime) {
  EXPECT_EQ(ring_all_reduce_seconds(group_of(1, 1), 1e9), 0);
  EXPECT_EQ(tree_all_reduce_seconds(group_of(1, 1), 1e9), 0);
  EXPECT_EQ(hierarchical_all_reduce_seconds(group_of(1, 1), 1e9), 0);
}

// Every rank keeps 1/n of its bytes; what leaves the node is shared by no one.
TEST(CollectiveTimeTest, AllToAllSendsToEveryRankAlike) {
  GroupLinks group;
  group.num_ranks = 8;
  group.num_ranks_in_node = 8;
  group.node_bytes_per_second = 100;
  EXPECT_DOUBLE_EQ(all_to_all_seconds(group, 800), 7);
  group.num_ranks_in_node = 2;
  group.network_bytes_per_second = 10;
  EXPECT_DOUBLE_EQ(all_to_all_seconds(group, 800), 60);  // 600 bytes out, 100 beside them inside
  EXPECT_DOUBLE_EQ(all_to_all_seconds(group, 800, 0.5), 30);
  group.network_latency_seconds = 1;
  EXPECT_DOUBLE_EQ(all_to_all_seconds(group, 800), 67);
  group.num_ranks = 1;
  EXPECT_EQ(all_to_all_seconds(group, 800), 0);
}

}  // namespace

}  // namespace weir::training
