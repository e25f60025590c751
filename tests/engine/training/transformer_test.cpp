// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/transformer.hpp>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::training {

namespace {

TEST(TransformerTest, CountsEveryTensorOfLlama) {
  // Embedding and projection; per layer queries, keys, values, output, three matrices of the
  // network, two scales; the last scale.
  const double expected =
      2.0 * 128256 * 4096 +
      32.0 * (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336 + 2 * 4096) + 4096;
  EXPECT_EQ(num_parameters(built_in_model("llama3-8b")), expected);
  EXPECT_EQ(expected, 8030261248.0);
}

TEST(TransformerTest, CountsAsTheFormulaOfMegatron) {
  for (const Transformer& model : built_in_models()) {
    if (model.is_gated) continue;
    const auto L = static_cast<double>(model.num_layers);
    const auto h = static_cast<double>(model.hidden);
    const auto V = static_cast<double>(model.vocabulary);
    const auto s = static_cast<double>(model.sequence);
    const double formula =
        12 * L * h * h * (1 + 13 / (12 * h) + (V + s) / (12 * L * h));  // [Narayanan21]
    EXPECT_NEAR(num_parameters(model), formula + 2 * h, 1e-12 * formula) << model.name;
  }
}

TEST(TransformerTest, CountsOperationsAsTheFormulasOfMegatron) {
  for (const char* name : {"megatron-1.7b", "gpt3-175b", "megatron-1t"}) {
    const Transformer& model = built_in_model(name);
    const auto L = static_cast<double>(model.num_layers);
    const auto h = static_cast<double>(model.hidden);
    const auto V = static_cast<double>(model.vocabulary);
    const auto s = static_cast<double>(model.sequence);
    const double unit = 64 * s * L * h * h;
    const double asked = 72 * unit * (1 + s / (6 * h) + V / (12 * L * h));
    EXPECT_NEAR(model_flops(model, 64), asked, 1e-12 * asked);
    EXPECT_EQ(hardware_flops(model, 64, Recompute::none), model_flops(model, 64));
    const double selective = 72 * unit * (1 + s / (3 * h) + V / (12 * L * h));
    EXPECT_NEAR(hardware_flops(model, 64, Recompute::selective), selective, 1e-12 * selective);
    const double full = 96 * unit * (1 + s / (6 * h) + V / (16 * L * h));
    EXPECT_NEAR(hardware_flops(model, 64, Recompute::full), full, 1e-12 * full);
  }
}

TEST(TransformerTest, FewerKeyValueHeadsCostLess) {
  Transformer model = gpt("m", 2, 64, 8);
  const double all = parameters_per_layer(model);
  model.num_kv_heads = 2;
  // Keys and values shrink from 64 to 16 columns: 2 * 48 columns of 64 weights and a bias.
  EXPECT_EQ(all - parameters_per_layer(model), 2.0 * 48 * 65);
}

TEST(TransformerTest, AnUnknownNameListsTheKnownOnes) {
  try {
    built_in_model("gpt4");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.text().find("gpt4"), std::string::npos);
    EXPECT_NE(error.text().find("llama3-405b"), std::string::npos);
  }
}

TEST(TransformerTest, RefusesSizesThatDoNotFit) {
  for (const Transformer& model : built_in_models()) EXPECT_NO_THROW(check(model)) << model.name;
  Transformer model = gpt("m", 2, 64, 8);
  model.num_kv_heads = 3;
  EXPECT_THROW(check(model), Error);
  model.num_kv_heads = 0;
  EXPECT_THROW(check(model), Error);
}

}  // namespace

}  // namespace weir::training
