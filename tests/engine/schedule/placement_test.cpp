// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/placement.hpp>

namespace weir::schedule {

namespace {

Topology tree(const std::vector<std::size_t>& arity) {
  const std::vector<Level> levels(arity.size(), {"level", {1e9, 0}, {}});
  return make_tree("tree", levels, arity, {"d", 1, 0});
}

/// Bytes times edges of the tree between the two, counted from the sizes of the tree alone.
double expected_cost(const std::vector<Traffic>& traffic, const std::vector<std::size_t>& arity,
                     const std::vector<std::uint32_t>& device_of_rank) {
  double sum = 0;
  for (const Traffic& pair : traffic) {
    std::size_t a = device_of_rank[pair.a];
    std::size_t b = device_of_rank[pair.b];
    for (std::size_t l = arity.size(); a != b; --l) {
      a /= arity[l - 1];
      b /= arity[l - 1];
      sum += 2 * pair.bytes;
    }
  }
  return sum;
}

void expect_permutation(const std::vector<std::uint32_t>& devices, std::size_t num_devices) {
  const std::set<std::uint32_t> distinct(devices.begin(), devices.end());
  EXPECT_EQ(distinct.size(), devices.size());
  EXPECT_LT(*distinct.rbegin(), num_devices);
}

/// All placements that differ in more than the names of equal groups: devices are filled in order,
/// and of equal groups side by side the one with the smaller first rank comes first.
class AllPlacements {
 public:
  AllPlacements(std::size_t num_ranks, const std::vector<Traffic>& traffic,
                const std::vector<std::size_t>& arity)
      : arity_(arity), bytes_(num_ranks, std::vector<double>(num_ranks, 0)), is_used_(num_ranks) {
    for (const Traffic& pair : traffic) {
      bytes_[pair.a][pair.b] += pair.bytes;
      bytes_[pair.b][pair.a] += pair.bytes;
    }
  }

  double best() {
    extend(0);
    return best_;
  }

 private:
  void extend(double cost) {
    if (cost >= best_) return;
    if (ranks_.size() == bytes_.size()) {
      best_ = cost;
      return;
    }
    const std::size_t device = ranks_.size();
    std::size_t least = 0;
    std::size_t size = 1;
    for (std::size_t l = arity_.size(); l-- > 0 && device % size == 0;) {
      if (device / size % arity_[l] != 0) least = std::max(least, ranks_[device - size] + 1);
      size *= arity_[l];
    }
    for (std::size_t rank = least; rank < bytes_.size(); ++rank) {
      if (is_used_[rank]) continue;
      double more = 0;
      for (std::size_t other = 0; other < device; ++other) {
        if (bytes_[rank][ranks_[other]] == 0) continue;
        more += expected_cost({{0, 1, bytes_[rank][ranks_[other]]}}, arity_,
                              {std::uint32_t(device), std::uint32_t(other)});
      }
      is_used_[rank] = true;
      ranks_.push_back(rank);
      extend(cost + more);
      ranks_.pop_back();
      is_used_[rank] = false;
    }
  }

  std::vector<std::size_t> arity_;
  std::vector<std::vector<double>> bytes_;
  std::vector<bool> is_used_;
  std::vector<std::size_t> ranks_;
  double best_ = std::numeric_limits<double>::infinity();
};

TEST(PlacementTest, EqualsBruteForceOnSmallTrees) {
  const std::vector<std::vector<std::size_t>> trees = {{3, 4},    {4, 3}, {2, 6},    {3, 2, 2},
                                                       {2, 2, 3}, {2, 4}, {2, 2, 2}, {5, 2}};
  std::mt19937_64 random(12);
  int num_equal = 0;
  constexpr int num_trials = 100;
  for (int trial = 0; trial < num_trials; ++trial) {
    SCOPED_TRACE(trial);
    const auto& arity = trees[random() % trees.size()];
    std::size_t num_ranks = 1;
    for (const std::size_t size : arity) num_ranks *= size;
    std::vector<Traffic> traffic;
    for (std::uint32_t a = 0; a < num_ranks; ++a) {
      for (std::uint32_t b = a + 1; b < num_ranks; ++b) {
        if (random() % 3 == 0) traffic.push_back({a, b, double(1 + random() % 100)});
      }
    }
    const Topology cluster = tree(arity);
    const Placement placement = place(num_ranks, traffic, cluster);
    expect_permutation(placement.device_of_rank, num_ranks);
    const double found = expected_cost(traffic, arity, placement.device_of_rank);
    EXPECT_NEAR(placement.hop_bytes, found, 1e-9 * found);
    const double best = AllPlacements(num_ranks, traffic, arity).best();
    EXPECT_LE(found, 1.02 * best);
    num_equal += found <= best * (1 + 1e-12);
  }
  EXPECT_GE(num_equal, 95);
}

TEST(PlacementTest, IsNeverWorseThanAnOrderOfTheDimensions) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 50; ++trial) {
    SCOPED_TRACE(trial);
    const std::size_t t = std::size_t{1} << random() % 4;
    const std::size_t p = 1 + random() % 8;
    const std::size_t d = 1 + random() % 12;
    const std::vector<Dimension> grid = {{"tp", t, 1000, true},
                                         {"pp", p, double(1 + random() % 100), false},
                                         {"dp", d, double(1 + random() % 300), true}};
    const std::size_t num_nodes = (t * p * d + 3) / 4;
    const Topology cluster = tree({(num_nodes + 3) / 4, 4, 4});
    const Placement best_order = best_dimension_order(grid, cluster);
    const Placement placement = place_grid(grid, cluster);
    expect_permutation(placement.device_of_rank, cluster.num_devices());
    EXPECT_LE(placement.hop_bytes, best_order.hop_bytes * (1 + 1e-12));
  }
}

/// The best orders of [R] runs of Scotch's own evaluation: average distance per unit of weight.
TEST(PlacementTest, TwelveThousandRanks) {
  const Topology cluster = tree({24, 64, 8});
  PlacementOptions options;
  options.level_costs = {242, 42, 2};  // there and back over links of 100, 20 and 1
  const std::vector<Dimension> grid = {
      {"tp", 8, 1000, true}, {"pp", 8, 50, false}, {"dp", 192, 30, true}};
  double bytes = 0;
  for (const Traffic& pair : grid_traffic(grid)) bytes += pair.bytes;
  const Placement order = best_dimension_order(grid, cluster, options);
  EXPECT_EQ(order.source, "tp-pp-dp");
  EXPECT_NEAR(order.hop_bytes / bytes, 5.446, 5e-4);
  const Placement placement = place_grid(grid, cluster, options);
  expect_permutation(placement.device_of_rank, cluster.num_devices());
  EXPECT_LE(placement.hop_bytes, order.hop_bytes);
}

TEST(PlacementTest, TheSameEveryTime) {
  const std::vector<Dimension> grid = {{"a", 4, 5, true}, {"b", 16, 7, true}, {"c", 4, 9, true}};
  const Topology cluster = tree({4, 8, 8});
  EXPECT_EQ(place_grid(grid, cluster).device_of_rank, place_grid(grid, cluster).device_of_rank);
  // Large enough for Scotch to use threads, were it allowed to.
  const std::vector<Dimension> large = {
      {"tp", 4, 1000, true}, {"pp", 16, 30, false}, {"dp", 96, 60, true}};
  const Topology wide = tree({12, 128, 4});
  const Placement first = place_grid(large, wide);
  EXPECT_EQ(first.source, "Scotch");
  EXPECT_EQ(first.device_of_rank, place_grid(large, wide).device_of_rank);
}

TEST(PlacementTest, CandidatesAreAllOrdersScotchAndTheBestRefined) {
  const std::vector<std::size_t> arity = {4, 4, 8};
  const std::vector<Dimension> grid = {
      {"tp", 4, 1000, true}, {"pp", 4, 50, false}, {"dp", 8, 30, true}};
  const std::vector<Traffic> traffic = grid_traffic(grid);
  const auto candidates = candidate_placements(grid, traffic, tree(arity));
  ASSERT_EQ(candidates.size(), 8U);
  EXPECT_EQ(candidates[0].source, "tp-pp-dp");
  for (std::uint32_t rank = 0; rank < 128; ++rank) {
    EXPECT_EQ(candidates[0].device_of_rank[rank], rank);
  }
  EXPECT_EQ(candidates[1].source, "tp-dp-pp");
  EXPECT_EQ(candidates[1].device_of_rank[4], 32U);  // pp 1: behind 4 times 8
  EXPECT_EQ(candidates[6].source, "Scotch");
  const Placement& refined = candidates.back();
  EXPECT_TRUE(refined.source.ends_with(", refined")) << refined.source;
  EXPECT_EQ(refined.device_of_rank, place_grid(grid, tree(arity)).device_of_rank);
  for (const Placement& each : candidates) {
    expect_permutation(each.device_of_rank, 128);
    EXPECT_NEAR(each.hop_bytes, expected_cost(traffic, arity, each.device_of_rank), 1e-6);
    EXPECT_LE(refined.hop_bytes, each.hop_bytes * (1 + 1e-12)) << each.source;
  }
}

// D104, alpa 752.
TEST(PlacementTest, ALongPipelineCrossesNodesOnceForEach) {
  const Topology cluster = parse_cluster("a100-8x4");
  const Placement placement = place_grid({{"pp", 32, 1, false}}, cluster);
  int num_between_nodes = 0;
  for (std::size_t stage = 1; stage < 32; ++stage) {
    num_between_nodes += cluster.common_level(placement.device_of_rank[stage - 1],
                                              placement.device_of_rank[stage]) == 0;
  }
  EXPECT_EQ(num_between_nodes, 3);
}

TEST(PlacementTest, CongestionIsTheTimeOfTheMostLoadedLink) {
  const Topology cluster = parse_cluster("2x2@10,1");
  // Both pairs cross between the nodes: 6 GB leave each, over two devices of 1 GB/s.
  const std::vector<Traffic> traffic = {{0, 2, 4e9}, {1, 3, 2e9}};
  EXPECT_DOUBLE_EQ(congestion_seconds(traffic, cluster, {0, 1, 2, 3}), 3);
  // Inside the nodes the busiest device moves 4 GB at 10 GB/s.
  EXPECT_DOUBLE_EQ(congestion_seconds(traffic, cluster, {0, 2, 1, 3}), 0.4);
  EXPECT_THROW(congestion_seconds(traffic, cluster, {0, 1}), Error);
}

TEST(PlacementTest, GridsTalkToTheirNeighbours) {
  EXPECT_EQ(grid_traffic({{"a", 3, 1, true}}).size(), 3U);
  EXPECT_EQ(grid_traffic({{"a", 3, 1, false}}).size(), 2U);
  EXPECT_EQ(grid_traffic({{"a", 2, 1, true}}).size(), 1U);
  EXPECT_EQ(grid_traffic({{"a", 1, 1, true}}).size(), 0U);
  EXPECT_EQ(grid_traffic({{"a", 4, 1, true}, {"b", 3, 1, false}}).size(), 12U + 8U);
  EXPECT_THROW(grid_traffic({{"a", 0, 1, true}}), Error);
  EXPECT_THROW(place_grid({{"a", 5, 1, true}}, parse_cluster("4@1")), Error);
  EXPECT_THROW(place(2, {{0, 2, 1}}, parse_cluster("4@1")), Error);
}

TEST(PlacementTest, UnevenTreesArePlacedWithoutScotch) {
  const Topology whole = parse_cluster("4x3@10,1");
  const Placement placement = place_grid({{"a", 2, 9, true}, {"b", 5, 1, true}}, whole.first(10));
  expect_permutation(placement.device_of_rank, 10);
}

}  // namespace

}  // namespace weir::schedule
