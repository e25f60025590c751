// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/plan_placement.hpp>

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/simulation/plan_simulation.hpp>
#include <weir/engine/training/plan_traffic.hpp>

namespace weir::simulation {

namespace {

using training::Layout;
using training::PlacedPlan;

PlacedPlan plan_of(const std::string& model, const schedule::Topology& cluster, Layout layout) {
  training::ParallelPlanRequest request;
  request.model = training::built_in_model(model);
  request.machine = training::machine_of(cluster, 300e12);
  request.software.has_scattered_sends = true;
  request.software.has_fused_attention = true;
  request.software.has_context_ring = true;
  layout.has_sequence_parallelism = layout.tensor > 1;
  layout.recompute = training::Recompute::selective;
  check(layout, request.model);
  training::ParallelPlans found;
  found.best = {{layout, predict(request.model, layout, request.machine, request.software),
                 device_memory(request.model, layout)}};
  return place_in_order(request, found, cluster);
}

Layout layout_of(std::int64_t t, std::int64_t c, std::int64_t p, std::int64_t d, std::int64_t m) {
  Layout layout;
  layout.tensor = t;
  layout.context = c;
  layout.pipeline = p;
  layout.data = d;
  layout.global_batch = m * d;
  return layout;
}

/// Bytes times edges of the tree, counted from the devices alone.
double hop_bytes(const PlacedPlan& plan) {
  double sum = 0;
  for (const schedule::Traffic& each : plan_traffic(plan)) {
    sum += each.bytes * static_cast<double>(plan.cluster.hops(plan.device_of_rank[each.a],
                                                              plan.device_of_rank[each.b]));
  }
  return sum;
}

void expect_best(const PlacedPlan& plan) {
  ASSERT_FALSE(plan.placements.empty());
  const training::PlacementScore& chosen = plan.placements.front();
  for (const training::PlacementScore& each : plan.placements) {
    EXPECT_LE(chosen.seconds, each.seconds * (1 + 1e-9)) << each.source;
  }
  EXPECT_NEAR(chosen.hop_bytes, hop_bytes(plan), 1e-9 * chosen.hop_bytes);
  const std::set<std::uint32_t> distinct(plan.device_of_rank.begin(), plan.device_of_rank.end());
  EXPECT_EQ(distinct.size(), plan.device_of_rank.size());
}

TEST(PlanPlacementTest, IsNeverSlowerThanAnOrder) {
  for (const char* const spec : {"8x8@300,25", "4x4x4@300,25,5", "2x32@100,25"}) {
    for (const Layout& layout :
         {layout_of(4, 1, 4, 4, 16), layout_of(2, 2, 4, 4, 8), layout_of(8, 1, 1, 8, 4)}) {
      const schedule::Topology cluster = schedule::parse_cluster(spec);
      const PlacedPlan in_order = plan_of("gpt3-175b", cluster, layout);
      const PlacedPlan placed = placed_best(in_order);
      SCOPED_TRACE(std::string(spec) + ", " + describe(layout));
      expect_best(placed);
      EXPECT_LE(placed.placements.front().seconds, simulate(in_order).seconds * (1 + 1e-9));
      EXPECT_DOUBLE_EQ(placed.placements.front().seconds, simulate(placed).seconds);
      // All orders of the dimensions, Scotch's map, the best of them refined.
      std::size_t num_orders = 1;
      for (std::size_t i = 2; i <= grid_of(layout).size(); ++i) num_orders *= i;
      EXPECT_EQ(placed.placements.size(), num_orders + 2);
    }
  }
}

// Switches that carry a fiftieth of what nodes send: pipelines stay behind theirs, or gradients do,
// whichever moves more.
TEST(PlanPlacementTest, WhatMovesMostStaysBehindASwitch) {
  const schedule::Topology cluster = schedule::parse_cluster("8x4x2@300,25,0.5");
  // 32,768 micro-batches between two stages, gradients once.
  const PlacedPlan many = placed_best(plan_of("gpt3-175b", cluster, layout_of(8, 1, 2, 4, 32768)));
  expect_best(many);
  const auto& top = cluster.levels()[1].group_of_device;
  const auto is_split = [&](const PlacedPlan& plan, auto move) {
    for (std::size_t r = 0; r < plan.device_of_rank.size(); ++r) {
      training::RankCoordinates at = coordinates_of(plan.layout(), r);
      move(at);
      const std::size_t other = rank_at(plan.layout(), at);
      if (top[plan.device_of_rank[r]] != top[plan.device_of_rank[other]]) return true;
    }
    return false;
  };
  EXPECT_FALSE(is_split(many, [](auto& at) { at.pipeline = 0; }));
  // One micro-batch, gradients of the whole model.
  const PlacedPlan one = placed_best(plan_of("gpt3-175b", cluster, layout_of(8, 1, 2, 4, 1)));
  expect_best(one);
  EXPECT_FALSE(is_split(one, [](auto& at) { at.data = 0; }));
}

// Rings that hide behind attention inside a node are exposed where they leave it.
TEST(PlanPlacementTest, ContextRanksThatAreTornApartAreSlower) {
  const schedule::Topology cluster = schedule::parse_cluster("8x8@300,5");
  const PlacedPlan plan = placed_best(plan_of("llama3-8b", cluster, layout_of(1, 8, 1, 8, 4)));
  expect_best(plan);
  const auto seconds = [&](const std::string& source) {
    for (const training::PlacementScore& each : plan.placements) {
      if (each.source == source) return each.seconds;
    }
    ADD_FAILURE() << "no " << source;
    return 0.0;
  };
  EXPECT_GT(seconds("data-context"), 1.05 * seconds("context-data"));
}

TEST(PlanPlacementTest, ExpertsThatAreTornApartAreSlower) {
  const schedule::Topology cluster = schedule::parse_cluster("8x8@300,25");
  Layout layout = layout_of(1, 1, 8, 8, 16);
  layout.expert = 8;
  const PlacedPlan plan = placed_best(plan_of("mixtral-8x7b", cluster, layout));
  expect_best(plan);
  // Stages inside of nodes put the eight expert ranks on eight nodes.
  double data_first = 0;
  double pipeline_first = 0;
  for (const training::PlacementScore& each : plan.placements) {
    if (each.source == "data-pipeline") data_first = each.seconds;
    if (each.source == "pipeline-data") pipeline_first = each.seconds;
  }
  EXPECT_GT(data_first, 0);
  EXPECT_GT(pipeline_first, 1.05 * data_first);
}

// Once a pipeline is full each micro-batch takes as long as the one before.
TEST(PlanPlacementTest, LongIterationsAreExtended) {
  const schedule::Topology cluster = schedule::parse_cluster("8x8@300,25");
  const PlacedPlan plan = placed_best(plan_of("gpt3-175b", cluster, layout_of(8, 1, 4, 2, 700)));
  expect_best(plan);
  const double simulated = simulate(plan).seconds;
  EXPECT_NEAR(plan.placements.front().seconds, simulated, 1e-6 * simulated);
}

TEST(PlanPlacementTest, TheSameEveryTime) {
  const schedule::Topology cluster = schedule::parse_cluster("8x4x4@300,25,5");
  const PlacedPlan plan = plan_of("gpt3-175b", cluster, layout_of(4, 1, 8, 4, 16));
  EXPECT_EQ(placed_best(plan).device_of_rank, placed_best(plan).device_of_rank);
}

}  // namespace

}  // namespace weir::simulation
