// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/placed_plan.hpp>

#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::training {

namespace {

/// The best plan of GPT-3 175B with the given schedule.
PlacedPlan plan_of(const std::string& cluster, Schedule schedule) {
  ParallelPlanRequest request;
  request.model = built_in_model("gpt3-175b");
  const schedule::Topology topology = schedule::parse_cluster(cluster);
  request.num_devices = static_cast<std::int64_t>(topology.num_devices());
  request.global_batch = 192;
  request.memory_bytes = 80e9;
  request.machine = machine_of(topology, {});
  request.software.has_scattered_sends = true;
  request.constraints.schedule = schedule;
  request.constraints.pipeline = 8;
  return place_in_order(request, plan_parallel(request, 1), topology);
}

TEST(PlacedPlanTest, RanksAreNumberedFromTheInside) {
  Layout layout;
  layout.tensor = 2;
  layout.context = 3;
  layout.pipeline = 4;
  layout.data = 5;
  EXPECT_EQ(coordinates_of(layout, 1), (RankCoordinates{1, 0, 0, 0}));
  EXPECT_EQ(coordinates_of(layout, 2), (RankCoordinates{0, 1, 0, 0}));
  EXPECT_EQ(coordinates_of(layout, 6), (RankCoordinates{0, 0, 1, 0}));
  EXPECT_EQ(coordinates_of(layout, 24), (RankCoordinates{0, 0, 0, 1}));
  for (std::size_t rank = 0; rank < 120; ++rank) {
    EXPECT_EQ(rank_at(layout, coordinates_of(layout, rank)), rank);
  }
}

TEST(PlacedPlanTest, StagesShareOutAllLayers) {
  PlacedPlan plan = plan_of("a100-8x16", Schedule::one_f_one_b);
  plan.model.num_layers = 99;
  const std::vector<std::int64_t> layers = layers_of_stages(plan);
  EXPECT_EQ(layers, (std::vector<std::int64_t>{12, 12, 12, 12, 12, 13, 13, 13}));
}

TEST(PlacedPlanTest, RefusesMoreRanksThanDevices) {
  ParallelPlanRequest request;
  request.model = built_in_model("megatron-22b");
  request.num_devices = 16;
  request.global_batch = 16;
  const ParallelPlans found = plan_parallel(request, 1);
  EXPECT_THROW(place_in_order(request, found, schedule::parse_cluster("a100-8x1")), Error);
}

}  // namespace

}  // namespace weir::training
