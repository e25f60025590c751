// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/network.hpp>

#include <string>

#include <gtest/gtest.h>

namespace weir::simulation {

namespace {

using training::Layout;
using training::PlacedPlan;

PlacedPlan plan_of(const std::string& spec, const std::string& model, Layout layout) {
  const schedule::Topology cluster = schedule::parse_cluster(spec);
  training::ParallelPlanRequest request;
  request.model = training::built_in_model(model);
  request.machine = training::machine_of(cluster, 300e12);
  layout.has_sequence_parallelism = layout.tensor > 1;
  training::ParallelPlans found;
  found.best = {{layout, {}, {}}};
  return place_in_order(request, found, cluster);
}

Layout layout_of(std::int64_t t, std::int64_t c, std::int64_t p, std::int64_t d) {
  Layout layout;
  layout.tensor = t;
  layout.context = c;
  layout.pipeline = p;
  layout.data = d;
  layout.global_batch = p * d;
  return layout;
}

// D106, astra-sim 137, 370: two exchanges that cross the same two links in opposite order, in two
// chunks each. A message takes all its links at once, so that none holds one and waits for another:
// they run one after the other.
TEST(NetworkTest, MessagesInOppositeOrderComplete) {
  const PlacedPlan plan = plan_of("8x2@300,25", "megatron-22b", layout_of(8, 1, 2, 1));
  Network network(plan);
  const Route there{1, {{0, 1}, {1, 1}}};
  const Route back{1, {{1, 1}, {0, 1}}};
  EXPECT_EQ(network.send(there, 0, 1), 1);
  EXPECT_EQ(network.send(back, 0, 1), 2);
  EXPECT_EQ(network.send(there, 1, 1), 3);
  EXPECT_EQ(network.send(back, 2, 1), 4);
  EXPECT_EQ(network.send(there, 10, 2), 12);  // free again; twice as slow
}

TEST(NetworkTest, RingsAreWhereTheTimeModelThinks) {
  const PlacedPlan plan = plan_of("8x4@300,25", "megatron-22b", layout_of(8, 1, 1, 4));
  const Network network(plan);
  EXPECT_DOUBLE_EQ(network.tensor_factor(5), 1);
  EXPECT_DOUBLE_EQ(network.data_factor(0), 1);
}

// Gradients of 2 data ranks inside a node travel at 300 GB/s, as the model thinks of ranks that lie
// stage by stage; in the order of ranks the two are on nodes of their own, at 25 GB/s.
TEST(NetworkTest, RingsOfGradientsThatLeaveTheNode) {
  PlacedPlan plan = plan_of("8x2@300,25", "megatron-22b", layout_of(4, 1, 2, 2));
  EXPECT_DOUBLE_EQ(Network(plan).data_factor(0), 12);
  for (std::size_t rank = 0; rank < 16; ++rank) {
    const training::RankCoordinates at = coordinates_of(plan.layout(), rank);
    plan.device_of_rank[rank] =
        static_cast<std::uint32_t>((at.pipeline * 2 + at.data) * 4 + at.tensor);
  }
  EXPECT_DOUBLE_EQ(Network(plan).data_factor(0), 1);
}

// Behind one switch rings travel at the adapters' 25 GB/s; the model's network is the slowest link,
// 5 GB/s.
TEST(NetworkTest, RingsBehindASwitchAreFasterThanTheModelThinks) {
  const PlacedPlan plan = plan_of("8x4x2@300,25,5", "megatron-22b", layout_of(8, 1, 2, 4));
  PlacedPlan placed = plan;
  for (std::size_t rank = 0; rank < 64; ++rank) {
    const training::RankCoordinates at = coordinates_of(plan.layout(), rank);
    placed.device_of_rank[rank] =
        static_cast<std::uint32_t>((at.pipeline * 4 + at.data) * 8 + at.tensor);
  }
  EXPECT_DOUBLE_EQ(Network(placed).data_factor(0), 0.2);
}

TEST(NetworkTest, ContextRingsThatLeaveTheNode) {
  PlacedPlan plan = plan_of("8x8@300,25", "llama3-8b", layout_of(1, 8, 1, 8));
  EXPECT_DOUBLE_EQ(Network(plan).exchange_factors().context, 1);
  for (std::size_t rank = 0; rank < 64; ++rank) {
    plan.device_of_rank[rank] = static_cast<std::uint32_t>(rank % 8 * 8 + rank / 8);
  }
  EXPECT_DOUBLE_EQ(Network(plan).exchange_factors().context, 12);
}

// Eight expert ranks in a node send 7/8 of a byte at 300 GB/s; on eight nodes all of it leaves, at
// 25 GB/s; on two nodes of four, half: 4/8 at 25 GB/s.
TEST(NetworkTest, ExchangesOfExpertsThatLeaveTheNode) {
  Layout layout = layout_of(1, 1, 1, 64);
  layout.expert = 8;
  PlacedPlan plan = plan_of("8x8@300,25", "mixtral-8x7b", layout);
  EXPECT_DOUBLE_EQ(Network(plan).exchange_factors().experts, 1);
  for (std::size_t rank = 0; rank < 64; ++rank) {
    plan.device_of_rank[rank] = static_cast<std::uint32_t>(rank % 8 * 8 + rank / 8);
  }
  EXPECT_DOUBLE_EQ(Network(plan).exchange_factors().experts, 12);
  for (std::size_t rank = 0; rank < 64; ++rank) {
    plan.device_of_rank[rank] =
        static_cast<std::uint32_t>(rank / 16 * 16 + rank % 2 * 8 + rank % 16 / 2);
  }
  EXPECT_DOUBLE_EQ(Network(plan).exchange_factors().experts, (4 / 25.0) / (7 / 300.0));
}

}  // namespace

}  // namespace weir::simulation
