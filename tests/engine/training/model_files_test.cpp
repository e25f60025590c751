// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/model_files.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::training {

namespace {

ModelFile parse(const std::string& text) {
  const auto found = parse_model_file("dir/model", text);
  EXPECT_TRUE(found);
  return found.value_or(ModelFile{});
}

std::string refusal(const std::string& text) {
  try {
    parse_model_file("dir/model", text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ModelFiles, MegatronsAttentionBackend) {
  const std::string sizes =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 ";
  EXPECT_FALSE(parse(sizes).has_fused_attention);
  EXPECT_EQ(parse(sizes + "--attention-backend flash").has_fused_attention, true);
  EXPECT_EQ(parse(sizes + "--attention-backend unfused").has_fused_attention, false);
  EXPECT_EQ(parse(sizes + "--attention-backend local").has_fused_attention, false);
}

TEST(ModelFiles, CalculonsJsonIsAGpt) {
  const ModelFile file = parse(
      R"({"hidden": 12288, "feedforward": 49152, "seq_size": 2048, "attn_heads": 96,
          "attn_size": 128, "num_blocks": 96})");
  EXPECT_EQ(file.model.name, "model");
  EXPECT_EQ(num_parameters(file.model), num_parameters(built_in_model("gpt3-175b")));
  EXPECT_FALSE(file.global_batch);
}

TEST(ModelFiles, CalculonsOwnFilesAreTheBuiltInModels) {
  const char* data = std::getenv("WEIR_TEST_DATA");
  const std::string folder = std::string(data ? data : "") + "/training/calculon/model-";
  if (!data || !std::filesystem::exists(folder + "gpt3-175B.json")) {
    GTEST_SKIP() << "WEIR_TEST_DATA is not set";
  }
  for (const auto& [file, name] :
       {std::pair("gpt3-175B", "gpt3-175b"), std::pair("megatron-22B", "megatron-22b"),
        std::pair("turing-530B", "megatron-530b"), std::pair("megatron-1T", "megatron-1t")}) {
    const auto read = read_model_file(folder + file + ".json");
    ASSERT_TRUE(read) << file;
    EXPECT_EQ(num_parameters(read->model), num_parameters(built_in_model(name))) << file;
  }
}

TEST(ModelFiles, CalculonsMistakesAreNamed) {
  expect_part(refusal(R"({"num_blocks": 2, "hidden": 0})"), "dir/model: found 0 hidden");
  expect_part(refusal(R"({"num_blocks": 2.5})"), "found 2.5 num_blocks");
  expect_part(refusal(R"({"num_blocks": 1e300})"), "expected a whole number");
  expect_part(refusal(R"({"num_blocks": 2, "hidden": 8})"), "found no attn_heads");
}

TEST(ModelFiles, MegatronsArgumentsAsInAScript) {
  const ModelFile file = parse(
      "#!/bin/bash\n"
      "GPT_ARGS=\"\n"
      "    --num-layers 96 \\\n"
      "    --hidden-size=12288 --num-attention-heads 96 \\\n"
      "    --seq-length 2048 --global-batch-size 1536 # samples\n"
      "    --micro-batch-size 1 --lr 6.0e-5\n"
      "    --tensor-model-parallel-size 8 --pipeline-model-parallel-size 8\n"
      "    --num-layers-per-virtual-pipeline-stage 3 --sequence-parallel\n"
      "    --recompute-granularity selective --use-distributed-optimizer\"\n");
  EXPECT_EQ(num_parameters(file.model), num_parameters(built_in_model("gpt3-175b")));
  EXPECT_EQ(file.global_batch, 1536);
  EXPECT_EQ(file.constraints.tensor, 8);
  EXPECT_EQ(file.constraints.context, 1);
  EXPECT_EQ(file.constraints.pipeline, 8);
  EXPECT_EQ(file.constraints.interleave, 4);
  EXPECT_EQ(file.constraints.schedule, Schedule::interleaved);
  EXPECT_EQ(file.constraints.recompute, Recompute::selective);
  EXPECT_EQ(file.constraints.zero_stage, 1);
}

TEST(ModelFiles, MegatronsArgumentsOfLlamaAndOfExperts) {
  const std::string llama =
      "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
      "--group-query-attention --num-query-groups 8 --swiglu --disable-bias-linear "
      "--position-embedding-type rope --untie-embeddings-and-output-weights --seq-length 8192 ";
  // Normalisations keep their shifts there unless told otherwise, which Llama has none of.
  EXPECT_EQ(num_parameters(parse(llama + "--vocab-size 128256").model),
            num_parameters(built_in_model("llama3-8b")));
  const ModelFile file = parse(llama +
                               "--vocab-size 32000 --num-experts 8 --moe-router-topk 2 "
                               "--expert-model-parallel-size 4");
  EXPECT_EQ(num_parameters(file.model), num_parameters(built_in_model("mixtral-8x7b")));
  EXPECT_EQ(file.constraints.expert, 4);
}

TEST(ModelFiles, MegatronsArgumentsOfDeepSeek) {
  const ModelFile file = parse(
      "--num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128\n"
      "--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128\n"
      "--qk-pos-emb-head-dim 64 --v-head-dim 128 --kv-channels 128\n"
      "--swiglu --disable-bias-linear --position-embedding-type rope --vocab-size 129280\n"
      "--untie-embeddings-and-output-weights --seq-length 4096\n"
      "--num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048\n"
      "--moe-shared-expert-intermediate-size 2048 --moe-layer-freq ([0]*3+[1]*58)\n"
      "--moe-router-num-groups 8 --moe-router-group-topk 4 --moe-router-enable-expert-bias\n");
  EXPECT_EQ(num_parameters(file.model), num_parameters(built_in_model("deepseek-v3")));
  EXPECT_EQ(file.model.experts.most_nodes, 4);
}

TEST(ModelFiles, MegatronsMistakesAreNamedWithTheirLine) {
  expect_part(refusal("--num-layers 2\n--hidden-size many\n--num-attention-heads 2"),
              "dir/model:2: found --hidden-size");
  expect_part(refusal("--num-layers 2 --hidden-size 64"), "found no --num-attention-heads");
  expect_part(refusal("--num-layers -5"), "dir/model:1: found --num-layers");
  expect_part(refusal("--num-layers"), "dir/model:1: found --num-layers");
  expect_part(refusal("--num-layers 99999999999999999999 --hidden-size 4"), "--num-layers");
  const std::string sizes =
      "--num-layers 2 --hidden-size 64 --num-attention-heads 2 --seq-length 8\n";
  expect_part(refusal(sizes + "--recompute-granularity most"), "dir/model:2: found --recompute");
  expect_part(refusal(sizes + "--num-experts 4 --moe-layer-freq 2"), "--moe-layer-freq");
  expect_part(refusal(sizes + "--num-experts 4 --moe-router-topk 5"), "the chosen at most");
  expect_part(refusal(sizes + "--num-layers-per-virtual-pipeline-stage 4"), "a divisor");
}

TEST(ModelFiles, OtherFilesAreNone) {
  EXPECT_FALSE(parse_model_file("f", "a 4\nb 3\n"));
  EXPECT_FALSE(parse_model_file("f", "{\"nodes\": [], \"edges\": []}"));
  EXPECT_FALSE(parse_model_file("f", "{"));
  EXPECT_FALSE(parse_model_file("f", ""));
}

}  // namespace

}  // namespace weir::training
