// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/process_placement.hpp>

namespace weir::schedule {

namespace {

using Hosts = std::vector<std::uint32_t>;

/// The least bytes between hosts of all orders that keep rank 0 at process 0.
double least_of_all(const Hosts& hosts, const std::vector<Traffic>& traffic) {
  ProcessOfRank processes(hosts.size());
  std::iota(processes.begin(), processes.end(), 0U);
  double least = std::numeric_limits<double>::infinity();
  do {
    double bytes = 0;
    for (const Traffic& pair : traffic) {
      if (hosts[processes[pair.a]] != hosts[processes[pair.b]]) bytes += pair.bytes;
    }
    least = std::min(least, bytes);
  } while (std::next_permutation(processes.begin() + 1, processes.end()));
  return least;
}

TEST(ProcessPlacement, PackedFillsHostAfterHost) {
  EXPECT_EQ(packed_processes(Hosts{0, 1, 0, 1}), (ProcessOfRank{0, 2, 1, 3}));
  EXPECT_EQ(packed_processes(Hosts{7, 3, 3, 7, 7}), (ProcessOfRank{0, 3, 4, 1, 2}));
}

TEST(ProcessPlacement, RoundRobinGoesFromHostToHost) {
  EXPECT_EQ(round_robin_processes(Hosts{0, 0, 1, 1}), (ProcessOfRank{0, 2, 1, 3}));
  EXPECT_EQ(round_robin_processes(Hosts{0, 0, 0, 1, 2, 2}), (ProcessOfRank{0, 3, 4, 1, 5, 2}));
}

TEST(ProcessPlacement, AChainIsCutOnce) {
  const std::vector<Traffic> chain{{0, 1, 8}, {1, 2, 8}, {2, 3, 8}};
  EXPECT_EQ(placed_processes(Hosts{0, 1, 0, 1}, chain), (ProcessOfRank{0, 2, 1, 3}));
  EXPECT_EQ(placed_processes(Hosts{0, 0, 1, 1}, chain), (ProcessOfRank{0, 1, 2, 3}));
}

TEST(ProcessPlacement, RanksThatTalkShareAHostThoughTheyAreNotNeighbours) {
  const std::vector<Traffic> pairs{{0, 3, 100}, {1, 2, 100}, {0, 1, 1}, {2, 3, 1}};
  const ProcessOfRank found = placed_processes(Hosts{0, 0, 1, 1}, pairs);
  EXPECT_EQ(found, (ProcessOfRank{0, 2, 3, 1}));
  EXPECT_EQ(bytes_between_hosts(pairs, Hosts{0, 0, 1, 1}, found), 2);
}

TEST(ProcessPlacement, WithNothingToGainTheOrderStays) {
  const std::vector<Traffic> equal{{0, 1, 8}, {0, 2, 8}, {0, 3, 8},
                                   {1, 2, 8}, {1, 3, 8}, {2, 3, 8}};
  EXPECT_EQ(placed_processes(Hosts{0, 1, 0, 1}, equal), (ProcessOfRank{0, 1, 2, 3}));
  EXPECT_EQ(
      placed_processes(Hosts{4, 4, 4}, equal.empty() ? equal : std::vector<Traffic>{{0, 2, 9}}),
      (ProcessOfRank{0, 1, 2}));
  EXPECT_EQ(placed_processes(Hosts{0}, {}), (ProcessOfRank{0}));
}

TEST(ProcessPlacement, FindsTheLeastOfAllOrdersOnEqualHosts) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 30; ++trial) {
    Hosts hosts{0, 0, 0, 1, 1, 1};
    if (trial % 3 == 1) hosts = {0, 1, 2, 0, 1, 2};
    if (trial % 3 == 2) hosts = {0, 1, 0, 1};
    std::vector<Traffic> traffic;
    for (std::uint32_t a = 0; a < hosts.size(); ++a) {
      for (std::uint32_t b = 0; b < hosts.size(); ++b) {
        if (a != b) traffic.push_back({a, b, static_cast<double>(random() % 1000)});
      }
    }
    const ProcessOfRank found = placed_processes(hosts, traffic);
    ASSERT_TRUE(std::is_permutation(found.begin(), found.end(), packed_processes(hosts).begin()));
    EXPECT_EQ(found.front(), 0U);
    EXPECT_EQ(bytes_between_hosts(traffic, hosts, found), least_of_all(hosts, traffic));
  }
}

TEST(ProcessPlacement, OnUnequalHostsRank0StaysAndNothingGetsWorse) {
  std::mt19937 random(8);
  const Hosts hosts{0, 1, 1, 1, 1};
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<Traffic> traffic;
    for (std::uint32_t a = 0; a < 5; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        traffic.push_back({a, b, static_cast<double>(random() % 1000)});
      }
    }
    const ProcessOfRank found = placed_processes(hosts, traffic);
    EXPECT_EQ(found.front(), 0U);
    // Rank 0 is alone on its host, whatever it talks to.
    EXPECT_EQ(bytes_between_hosts(traffic, hosts, found), least_of_all(hosts, traffic));
  }
}

TEST(ProcessPlacement, TrafficOfAnUnknownRankIsRefused) {
  EXPECT_THROW(placed_processes(Hosts{0, 1}, {{0, 2, 1}}), Error);
}

}  // namespace

}  // namespace weir::schedule
