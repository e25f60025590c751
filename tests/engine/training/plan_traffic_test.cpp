// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/plan_traffic.hpp>

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace weir::training {

namespace {

/// A plan of a layout on as many devices, without its time.
PlacedPlan plan_of(const Transformer& model, const Layout& layout) {
  const schedule::Topology cluster =
      schedule::parse_cluster("a100-" + std::to_string(layout.num_devices()) + "x1");
  ParallelPlanRequest request;
  request.model = model;
  request.software.has_scattered_sends = true;
  ParallelPlans found;
  found.best = {{layout, {}, {}}};
  return place_in_order(request, found, cluster);
}

/// A GPT of 4 layers of width 64, samples of 32 tokens.
Transformer small_gpt() {
  Transformer model = gpt("small", 4, 64, 8);
  model.sequence = 32;
  return model;
}

std::map<std::pair<std::uint32_t, std::uint32_t>, double> bytes_of(const PlacedPlan& plan) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> bytes;
  for (const schedule::Traffic& each : plan_traffic(plan)) {
    EXPECT_LT(each.a, each.b);
    EXPECT_TRUE(bytes.emplace(std::pair(each.a, each.b), each.bytes).second) << "a pair twice";
  }
  return bytes;
}

// Four all-reduces a layer and micro-batch of 2 x 32 x 64 bytes, each rank sends 2 (t-1)/t of them.
TEST(PlanTrafficTest, TensorRanksReduceTheirActivations) {
  Layout layout;
  layout.tensor = 4;
  layout.global_batch = 3;
  auto bytes = bytes_of(plan_of(small_gpt(), layout));
  EXPECT_EQ(bytes.size(), 4U);
  const double all_reduce = 2 * 3.0 / 4 * 2 * 32 * 64;
  EXPECT_DOUBLE_EQ((bytes[{0, 1}]), 4 * 4 * 3 * all_reduce);
  EXPECT_DOUBLE_EQ((bytes[{0, 3}]), 4 * 4 * 3 * all_reduce);
  layout.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ((bytes_of(plan_of(small_gpt(), layout))[{0, 1}]), 6 * 4 * 3 * all_reduce);
  layout.tensor = 2;  // one pair, both ways
  layout.recompute = Recompute::none;
  EXPECT_DOUBLE_EQ((bytes_of(plan_of(small_gpt(), layout))[{0, 1}]),
                   2 * 4 * 4 * 3 * 2 * 0.5 * 2 * 32 * 64);
}

TEST(PlanTrafficTest, StagesSendActivationsAndTheirGradients) {
  Layout layout;
  layout.pipeline = 4;
  layout.global_batch = 8;
  auto bytes = bytes_of(plan_of(small_gpt(), layout));
  EXPECT_EQ(bytes.size(), 3U);
  const double activation = 2 * 32 * 64;
  EXPECT_DOUBLE_EQ((bytes[{1, 2}]), 8 * 2 * activation);
  // Interleaved, the last rank sends to the first.
  layout.pipeline = 2;
  layout.interleave = 2;
  layout.schedule = Schedule::interleaved;
  bytes = bytes_of(plan_of(small_gpt(), layout));
  EXPECT_DOUBLE_EQ((bytes[{0, 1}]), 3 * 8 * 2 * activation);
  // In ZB-V the two chunks of the last rank follow each other in it.
  layout.interleave = 1;
  layout.schedule = Schedule::zb_v;
  bytes = bytes_of(plan_of(small_gpt(), layout));
  EXPECT_DOUBLE_EQ((bytes[{0, 1}]), 2 * 8 * 2 * activation);
}

// One ring over data and context ranks; the ring of keys and values lies on its first hops.
TEST(PlanTrafficTest, GradientsGoAroundDataAndContextRanks) {
  Layout layout;
  layout.context = 2;
  layout.data = 3;
  layout.global_batch = 3;
  const Transformer model = small_gpt();
  auto bytes = bytes_of(plan_of(model, layout));
  EXPECT_EQ(bytes.size(), 6U);
  const double gradients = 4 * 4 * parameters_of(model, LayerKind::dense).common;
  EXPECT_DOUBLE_EQ((bytes[{1, 2}]), 2 * 5.0 / 6 * gradients);
  EXPECT_DOUBLE_EQ((bytes[{0, 5}]), 2 * 5.0 / 6 * gradients);
  // Both ranks send their 16 tokens' keys and values, once forward and twice backward.
  const double block = 16 * 2 * 2 * 64;
  EXPECT_DOUBLE_EQ((bytes[{2, 3}]), 2 * 5.0 / 6 * gradients + 2 * 3 * 4 * block);
}

// All exchange with all. Of those that differ first in the same digit one stands for all, so what
// a rank sends is what the exchange formula says, (e-1)/e of it, and what leaves an aligned half
// too.
TEST(PlanTrafficTest, ExpertRanksExchangeTokens) {
  Transformer model = mixtral_8x7b();
  model.sequence = 64;
  model.experts.num_routed = 24;
  for (const std::int64_t e : {2, 8, 12, 24}) {
    SCOPED_TRACE(e);
    Layout layout;
    layout.data = 24;
    layout.expert = e;
    layout.global_batch = 24;
    const PlacedPlan plan = plan_of(model, layout);
    PlacedPlan without = plan;
    without.model.experts.num_chosen = 1;
    // Twice the copies for two experts a token; rings are the same.
    auto bytes = bytes_of(plan);
    const auto fewer = bytes_of(without);
    for (const auto& [pair, each] : fewer) bytes[pair] -= each;
    double sent = 0;
    double crossing = 0;
    for (const auto& [pair, each] : bytes) {
      if (pair.first >= static_cast<std::uint32_t>(e)) continue;
      if (pair.first == 0) sent += each / 2;
      if ((pair.first < e / 2) != (pair.second < e / 2)) crossing += each;
    }
    const double exchanges = 4.0 * static_cast<double>(model.num_layers);
    const double whole = exchanges * expert_exchange_bytes(without.model, layout);
    EXPECT_NEAR(sent, whole * double(e - 1) / double(e), 1e-9 * whole);
    // Halves that digits separate: each of e/2 sends half of its bytes across.
    if (e != 12 && e != 24) {
      EXPECT_NEAR(crossing, whole * double(e) / 2, 1e-9 * whole * double(e));
    }
  }
}

TEST(PlanTrafficTest, TheGridHasDimensionsOfSeveralRanks) {
  Layout layout;
  layout.tensor = 2;
  layout.data = 3;
  const auto grid = grid_of(layout);
  ASSERT_EQ(grid.size(), 2U);
  EXPECT_EQ(grid[0].name, "tensor");
  EXPECT_EQ(grid[1].name, "data");
  EXPECT_EQ(grid[1].size, 3U);
  EXPECT_EQ(grid_of({}).size(), 1U);
}

}  // namespace

}  // namespace weir::training
