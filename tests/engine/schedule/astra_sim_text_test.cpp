// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/astra_sim_text.hpp>
#include <weir/engine/schedule/topology_files.hpp>

namespace weir::schedule {

namespace {

TEST(AstraSimText, IsReadBackToTheBit) {
  const std::vector<Level> levels{{"between hosts", {11.9e6 / 3, 47.3e-6 / 7}, {}},
                                  {"same host", {2e9 / 3, 1e-7}, {}}};
  const Topology written = make_tree("probe", levels, {3, 4}, {});
  const Topology read = parse_topology("cluster.yml", astra_sim_text(written));
  ASSERT_EQ(read.levels().size(), 2U);
  ASSERT_EQ(read.num_devices(), 12U);
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(read.levels()[l].group_of_device, written.levels()[l].group_of_device);
    EXPECT_DOUBLE_EQ(read.levels()[l].link.bandwidth, written.levels()[l].link.bandwidth);
    EXPECT_DOUBLE_EQ(read.levels()[l].link.latency_seconds,
                     written.levels()[l].link.latency_seconds);
  }
}

TEST(AstraSimText, RefusesGroupsOfDifferentSizes) {
  const Link link{1e9, 0};
  const Topology uneven("uneven", {{"all", link, {0, 0, 0}}, {"host", link, {0, 0, 1}}},
                        std::vector<Device>(3));
  EXPECT_THROW(astra_sim_text(uneven), Error);
}

}  // namespace

}  // namespace weir::schedule
