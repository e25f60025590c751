// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/topology.hpp>

namespace weir::schedule {

namespace {

TEST(TopologyTest, NamedClustersAreTrees) {
  const Topology cluster = parse_cluster("a100-8x1536");
  EXPECT_EQ(cluster.num_devices(), 12288U);
  ASSERT_EQ(cluster.levels().size(), 2U);
  EXPECT_EQ(cluster.num_groups(1), 1536U);
  EXPECT_DOUBLE_EQ(cluster.link_between(0, 7).bandwidth, 300e9);
  EXPECT_DOUBLE_EQ(cluster.link_between(7, 8).bandwidth, 25e9);
  EXPECT_EQ(cluster.hops(3, 3), 0U);
  EXPECT_EQ(cluster.hops(0, 7), 2U);
  EXPECT_EQ(cluster.hops(0, 12287), 4U);
  const Topology switches = parse_cluster("h100-8x64x24");
  EXPECT_EQ(switches.num_devices(), 12288U);
  EXPECT_EQ(switches.common_level(0, 8 * 64), 0U);
  EXPECT_EQ(switches.common_level(0, 8 * 64 - 1), 1U);
  EXPECT_EQ(switches.levels()[1].name, "switch");
}

TEST(TopologyTest, PlainClustersHaveTheirBandwidths) {
  const Topology cluster = parse_cluster("8x2@25,3.125");
  EXPECT_EQ(cluster.num_devices(), 16U);
  EXPECT_DOUBLE_EQ(cluster.link_between(0, 1).bandwidth, 25e9);
  EXPECT_DOUBLE_EQ(cluster.link_between(0, 8).bandwidth, 3.125e9);
  EXPECT_DOUBLE_EQ(cluster.devices()[0].memory_bytes, 0);
}

TEST(TopologyTest, WhatIsNoClusterIsRefused) {
  for (const char* spec : {"", "a100", "z9-8x2", "a100-8x", "a100-0x2", "a100-8x2x2x2", "8x2@25",
                           "8x2@25,0", "8@x", "a100-8x99999999"}) {
    EXPECT_THROW(parse_cluster(spec), Error) << spec;
  }
  EXPECT_TRUE(is_cluster_spec("a100-8x2"));
  EXPECT_TRUE(is_cluster_spec("4@1"));
  EXPECT_FALSE(is_cluster_spec("topology.conf"));
  EXPECT_FALSE(is_cluster_spec("nccl-ndv5-h100.xml"));
}

TEST(TopologyTest, GroupsLieInsideEachOther) {
  const std::vector<Device> devices(4);
  const Level all{"cluster", {1e9, 0}, {0, 0, 0, 0}};
  EXPECT_NO_THROW(Topology("t", {all, {"node", {1e9, 0}, {0, 0, 1, 1}}}, devices));
  EXPECT_THROW(Topology("t", {{"cluster", {1e9, 0}, {0, 0, 1, 1}}}, devices), Error);
  EXPECT_THROW(Topology("t", {all, {"node", {1e9, 0}, {0, 1, 0, 1}}}, devices), Error);
  EXPECT_THROW(Topology("t", {all, {"node", {1e9, 0}, {0, 0, 2, 2}}}, devices), Error);
  EXPECT_THROW(Topology("t", {all, {"node", {0, 0}, {0, 0, 1, 1}}}, devices), Error);
  EXPECT_THROW(
      Topology("t", {all, {"switch", {1e9, 0}, {0, 0, 1, 1}}, {"node", {1e9, 0}, {0, 1, 1, 2}}},
               devices),
      Error);
}

TEST(TopologyTest, SpeedsAndParts) {
  Topology cluster = parse_cluster("4x2@10,1");
  cluster.scale_speed(3, 0.5);
  EXPECT_DOUBLE_EQ(cluster.devices()[3].speed, 0.5);
  EXPECT_THROW(cluster.scale_speed(8, 1), Error);
  EXPECT_THROW(cluster.scale_speed(0, 0), Error);
  const Topology part = cluster.first(5);
  EXPECT_EQ(part.num_devices(), 5U);
  EXPECT_DOUBLE_EQ(part.devices()[3].speed, 0.5);
  EXPECT_EQ(part.num_groups(1), 2U);
  EXPECT_THROW(cluster.first(9), Error);
}

}  // namespace

}  // namespace weir::schedule
