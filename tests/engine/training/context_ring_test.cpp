// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/context_ring.hpp>

#include <cmath>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/parallel_plan.hpp>

namespace weir::training {

namespace {

/// Tokens that a block of a model with as many key-value heads as heads needs without a mask.
double unmasked_tokens(double peak_flops, double bytes_per_second) {
  Machine machine;
  machine.peak_flops = peak_flops;
  machine.node_bytes_per_second = bytes_per_second;
  Layout layout;
  layout.context = 8;
  return slowest_hop(built_in_model("gpt3-175b"), layout, machine).needed_tokens / 2;
}

// [Liu24, table 2]; its row for A100 over InfiniBand prints 24.5K, which its own next column does
// not bear out.
TEST(ContextRing, NeedsThePublishedBlocks) {
  EXPECT_DOUBLE_EQ(unmasked_tokens(312e12, 300e9), 1040);
  EXPECT_DOUBLE_EQ(unmasked_tokens(312e12, 12.5e9), 24960);
  EXPECT_EQ(std::round(unmasked_tokens(123e12, 112e9)), 1098);
  EXPECT_EQ(std::round(unmasked_tokens(275e12, 268e9)), 1026);
  EXPECT_EQ(std::round(unmasked_tokens(196e12, 186e9)), 1054);
}

TEST(ContextRing, FewerKeyValueHeadsNeedShorterBlocks) {
  Machine machine;
  machine.peak_flops = 989e12;
  machine.network_bytes_per_second = 8 * 50e9;
  Layout layout;
  layout.tensor = 8;
  layout.context = 16;
  Transformer model = built_in_model("llama3-405b");
  model.sequence = 131072;
  const RingHop hop = slowest_hop(model, layout, machine);
  EXPECT_TRUE(hop.is_between_nodes);
  EXPECT_DOUBLE_EQ(hop.needed_tokens, 2 * 989e12 / 50e9 * 8 / 128);
  EXPECT_TRUE(hop.is_hidden());  // as the published run has it
  model.sequence = 16384;
  EXPECT_FALSE(slowest_hop(model, layout, machine).is_hidden());
}

TEST(ContextRing, TheHopThatLeavesTheNodeIsNamed) {
  Machine machine;
  Layout layout;
  layout.tensor = 2;
  layout.context = 8;
  const RingHop hop = slowest_hop(built_in_model("gpt3-175b"), layout, machine);
  EXPECT_EQ(hop.from, 3);
  EXPECT_EQ(hop.to, 4);
  EXPECT_EQ(describe(hop, layout),
            "hop 3 -> 4 of 8 context ranks, between nodes at 11.25 GB/s, needs blocks of 55467 "
            "tokens; they have 256");
  layout.context = 4;
  EXPECT_FALSE(slowest_hop(built_in_model("gpt3-175b"), layout, machine).is_between_nodes);
}

TEST(ContextRing, OnlyWhatAttentionDoesNotHideIsExposed) {
  Transformer model = built_in_model("llama3-8b");
  Layout layout;
  layout.context = 4;
  Software software;
  software.has_fused_attention = true;
  Machine machine;
  const double gathered = predict(model, layout, machine, software).context;
  software.has_context_ring = true;
  const double exposed = predict(model, layout, machine, software).context;
  EXPECT_GT(gathered, exposed);
  machine.node_bytes_per_second = 1e9;
  EXPECT_GT(predict(model, layout, machine, software).context, exposed);
  model.sequence = 262144;
  machine.node_bytes_per_second = 230e9;
  EXPECT_EQ(predict(model, layout, machine, software).context, 0);
}

TEST(ContextRing, ThePlannerRefusesARingThatDoesNotHideItsTransfers) {
  ParallelPlanRequest request;
  request.model = built_in_model("llama3-8b");
  request.num_devices = 64;
  request.global_batch = 64;
  request.software.has_context_ring = true;
  request.constraints.context = 16;
  try {
    plan_parallel(request, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    const std::string text = error.what();
    EXPECT_NE(text.find("hop 7 -> 8 of 16 context ranks, between nodes at 11.25 GB/s"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("they have 512"), std::string::npos) << text;
  }
  request.software.has_context_ring = false;
  EXPECT_EQ(plan_parallel(request, 1).best.front().layout.context, 16);
  request.software.has_context_ring = true;
  request.model.sequence = 1 << 20;
  const Layout layout = plan_parallel(request, 1).best.front().layout;
  EXPECT_EQ(layout.context, 16);
  EXPECT_TRUE(slowest_hop(request.model, layout, request.machine).is_hidden());
}

// Latent keys and values and their positions travel whole; grouped ones cut by tensor ranks.
TEST(ContextRing, BytesOfAToken) {
  Layout layout;
  layout.tensor = 4;
  EXPECT_EQ(kv_bytes_per_token(built_in_model("deepseek-v3"), layout), 2 * (512 + 64));
  EXPECT_EQ(kv_bytes_per_token(built_in_model("llama3-8b"), layout), 2 * 2 * 8 * 128 / 4);
}

}  // namespace

}  // namespace weir::training
