// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/memory.hpp>

#include <gtest/gtest.h>

namespace weir::training {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

Layout tensor8(std::int64_t pipeline, std::int64_t interleave, std::int64_t batch,
               std::int64_t micro_batch) {
  Layout layout;
  layout.tensor = 8;
  layout.pipeline = pipeline;
  layout.interleave = interleave;
  layout.schedule = interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  layout.global_batch = batch;
  layout.micro_batch = micro_batch;
  return layout;
}

struct Published {
  const char* model;
  Layout layout;
  double state_gib, activations_gib, selective_gib;
};

// The twelve values of [Korthikanti22] that [Isaev23] carries.
TEST(MemoryTest, EqualsThePublishedValues) {
  const Published cases[] = {
      {"megatron-22b", tensor8(1, 1, 4, 4), 45.5625, 59.25, 9.5625},
      {"gpt3-175b", tensor8(8, 3, 64, 1), 45.5625, 66.84375, 12.3515625},
      {"megatron-530b", tensor8(35, 3, 280, 1), 31.640625, 114.0234375, 23.076171875},
      {"megatron-1t", tensor8(64, 1, 512, 1), 32.958984375, 131.25, 26.5625}};
  for (const Published& published : cases) {
    const Transformer& model = built_in_model(published.model);
    Layout layout = published.layout;
    EXPECT_EQ(layer_memory(model, layout).model_state_bytes() / gib, published.state_gib);
    EXPECT_EQ(layer_memory(model, layout).activations_bytes / gib, published.activations_gib);
    layout.recompute = Recompute::selective;
    layout.has_sequence_parallelism = true;
    EXPECT_EQ(layer_memory(model, layout).activations_bytes / gib, published.selective_gib);
  }
}

TEST(MemoryTest, ContextRanksShareActivations) {
  Layout layout = tensor8(1, 1, 4, 1);
  const Transformer& model = built_in_model("llama3-70b");
  const double whole = activation_bytes_per_layer(model, layout);
  layout.context = 4;
  EXPECT_EQ(activation_bytes_per_layer(model, layout), whole / 4);
}

TEST(MemoryTest, FullRecomputationKeepsTheInputOfALayer) {
  Layout layout = tensor8(1, 1, 4, 2);
  layout.recompute = Recompute::full;
  const Transformer model = gpt("m", 4, 512, 8);
  EXPECT_EQ(activation_bytes_per_layer(model, layout), 2.0 * 2048 * 2 * 512);
}

TEST(MemoryTest, ZeroSharesStateOut) {
  Layout layout = tensor8(1, 1, 8, 1);
  layout.data = 8;
  const Transformer& model = built_in_model("megatron-22b");
  const MemoryUse whole = layer_memory(model, layout);
  layout.zero_stage = 1;
  EXPECT_EQ(layer_memory(model, layout).optimizer_bytes, whole.optimizer_bytes / 8);
  EXPECT_EQ(layer_memory(model, layout).gradients_bytes, whole.gradients_bytes);
  layout.zero_stage = 3;
  EXPECT_EQ(layer_memory(model, layout).model_state_bytes(), whole.model_state_bytes() / 8);
}

TEST(MemoryTest, ADeviceHoldsTheEmbeddingToo) {
  Layout layout = tensor8(8, 1, 64, 1);
  const Transformer& model = built_in_model("gpt3-175b");
  const double more = device_memory(model, layout).model_state_bytes() -
                      layer_memory(model, layout).model_state_bytes();
  const double embedding = 12288.0 * (51200 + 2048);
  const double vectors = 12 * 13.0 * 12288;
  EXPECT_NEAR(more, 18 * (embedding + vectors) / 8, 1);
  EXPECT_EQ(device_memory(model, layout).activations_bytes,
            layer_memory(model, layout).activations_bytes);
}

// In the place of 5 s bytes a token and head of its rank there are 4, whatever the sequence.
TEST(MemoryTest, FusedAttentionKeepsNoScores) {
  Transformer model = built_in_model("gpt3-175b");
  Layout layout;
  layout.tensor = 8;
  layout.context = 2;
  layout.micro_batch = 2;
  for (const std::int64_t s : {2048, 16384}) {
    model.sequence = s;
    const double unfused = activation_bytes_per_layer(model, layout);
    const double fused = activation_bytes_per_layer(model, layout, LayerKind::dense, true);
    const double heads_and_tokens = 96 / 8 * static_cast<double>(s);
    EXPECT_EQ(unfused - fused, heads_and_tokens * (5 * static_cast<double>(s) - 4));
    Layout selective = layout;
    selective.recompute = Recompute::selective;
    EXPECT_EQ(fused - activation_bytes_per_layer(model, selective, LayerKind::dense, true),
              heads_and_tokens * 4);
    EXPECT_EQ(activation_bytes_per_layer(model, selective, LayerKind::dense, true),
              activation_bytes_per_layer(model, selective));
  }
}

}  // namespace

}  // namespace weir::training
