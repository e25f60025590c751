// SPDX-License-Identifier: Apache-2.0
// weir plan.
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

using PlanTest = Workplace;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(PlanTest, PrintsATableAndWritesThePlan) {
  write("layers.txt", "a 4\nb 3\nc 2\nd 6\ne 5\n");
  const auto run = weir("plan layers.txt --cluster 4x2@100,10 --stages 3 --json plan.json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "5 operators, 4 edges")) << run.out;
  EXPECT_TRUE(has(run.out, "1 pipeline of 3 devices, 3 stages; 5 devices idle")) << run.out;
  EXPECT_TRUE(has(run.out, "8.000 ms per micro-batch, 2.500 times as fast")) << run.out;
  const auto plan = nlohmann::json::parse(read("plan.json"));
  EXPECT_EQ(plan.at("format"), "weir-plan");
  EXPECT_EQ(plan.at("seconds_per_micro_batch"), 0.008);
  EXPECT_EQ(plan.at("idle_devices"), 5);
  ASSERT_EQ(plan.at("stages").size(), 3U);
  EXPECT_EQ(plan.at("stages")[0].at("operators"), (nlohmann::json{"a", "b"}));
  ASSERT_EQ(plan.at("ranks").size(), 3U);
  EXPECT_EQ(plan.at("ranks")[2].at("stage"), 2);
  EXPECT_EQ(plan.at("ranks")[2].at("device"), "device2");
  const auto alone = weir("plan layers.txt --cluster 4x2@100,10 --stages 3 --json -");
  EXPECT_EQ(alone.out, read("plan.json"));
}

// D102, nnscaler 30; D107, astra-sim 215: a time that is not zero, with its unit.
TEST_F(PlanTest, ABatchFillsThePipelineFirst) {
  write("layers.txt", "a 2\nb 3\nc 1\n");
  const auto run = weir("plan layers.txt --cluster 4@100 --stages 3 --micro-batches 4");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "15.000 ms for 4 micro-batches")) << run.out;
  EXPECT_TRUE(has(run.out, "; 1 device idle")) << run.out;
}

TEST_F(PlanTest, ExplainsEachStage) {
  write("layers.txt", "a 4 8 1e6 1e6\nb 4 8 1e6 1e6\n");
  const auto run = weir("plan layers.txt --cluster 2@1 --explain --speed 1=0.5");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "is bound by compute; it is the slowest")) << run.out;
  EXPECT_TRUE(has(run.out, "no plan of this form is faster")) << run.out;
}

TEST_F(PlanTest, ReadsClustersFromFiles) {
  write("layers.txt", "a 4\nb 4\n");
  write("topology.conf",
        "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n"
        "SwitchName=top Switches=s[0-1]\n");
  const auto run = weir("plan layers.txt --cluster topology.conf --devices-per-node 2 --gpus 6");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "topology.conf: 6 devices, switch0")) << run.out;
}

TEST_F(PlanTest, PipeDreamsObjective) {
  write("layers.txt", "a 2 0 0 1e6 1e6\nb 4 0 0 1e6 1e6\nc 2 0 0 1e6 1e6\n");
  const auto run = weir("plan layers.txt --cluster 2@1 --objective pipedream");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "6.000 ms per micro-batch")) << run.out;
}

TEST_F(PlanTest, PlansATransformer) {
  const auto run = weir(
      "plan gpt3-175b --cluster a100-8x64 --gpus 512 --batch 1536 --top 3 --explain "
      "--json plan.json");
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part :
       {"model    gpt3-175b: ", "512 devices, 8 in a node, 312 TF/s, 76.000 GB",
        " s per iteration of 1536 samples", "seconds of an iteration",
        "GB of a device of the first stage", "plan 1 is the fastest of ", "  plan 3 takes "}) {
    EXPECT_TRUE(has(run.out, part)) << part << run.out;
  }
  const auto plan = nlohmann::json::parse(read("plan.json"));
  EXPECT_EQ(plan.at("format"), "weir-parallel-plan");
  const auto number = [&](const char* name) { return plan.at(name).get<std::int64_t>(); };
  EXPECT_EQ(number("tensor") * number("context") * number("pipeline") * number("data"), 512);
  EXPECT_EQ(number("data") * number("micro_batch") * number("micro_batches"), 1536);
  EXPECT_GT(plan.at("seconds").get<double>(), 0);
  EXPECT_LE(plan.at("memory_bytes").get<double>(), 76e9);
  for (const auto& [sum, parts] : {std::pair{"seconds", "seconds_by_cause"},
                                   std::pair{"memory_bytes", "memory_bytes_by_use"}}) {
    double total = 0;
    for (const auto& part : plan.at(parts)) total += part.get<double>();
    EXPECT_NEAR(total, plan.at(sum).get<double>(), 1e-9 * total);
  }
  EXPECT_EQ(plan.at("ranks").size(), 512U);
  // Placed: each rank on a device of its own, the chosen placement first and none faster.
  std::set<std::int64_t> devices;
  for (const auto& rank : plan.at("ranks")) devices.insert(rank.at("device").get<std::int64_t>());
  EXPECT_EQ(devices.size(), 512U);
  const auto& placements = plan.at("placements");
  EXPECT_GT(placements.size(), 2U);
  for (const auto& each : placements) {
    EXPECT_LE(placements[0].at("seconds").get<double>(),
              each.at("seconds").get<double>() * (1 + 1e-9));
    EXPECT_GT(each.at("hop_bytes").get<double>(), 0);
  }
  const auto chosen = placements[0].at("source").get<std::string>();
  EXPECT_TRUE(has(run.out, "placed   " + chosen + ", best of ")) << run.out;
  EXPECT_TRUE(has(run.out, " TB x hops, busiest uplink ")) << run.out;
  EXPECT_TRUE(has(run.out, "placements of plan 1, simulated")) << run.out;
  EXPECT_EQ(plan.at("ticks").size(), plan.at("pipeline").get<std::size_t>());
  const auto fixed = weir(
      "plan gpt3-175b --cluster a100-8x64 --batch 1536 --tensor 8 --pipeline 8 --schedule 1f1b "
      "--recompute full --zero 1 --micro-batch 2");
  ASSERT_EQ(fixed.code, 0) << fixed.err;
  EXPECT_TRUE(has(fixed.out,
                  "plan     tensor 8, context 1, pipeline 8, data 8, micro-batch 2, 1f1b, "
                  "recompute full, ZeRO 1\n"))
      << fixed.out;
}

TEST_F(PlanTest, FusedAttentionMakesRoomForLongSamples) {
  const std::string plan =
      "plan llama3-8b --cluster h100-8x4 --batch 8 --sequence 131072 --recompute none";
  const auto fused = weir(plan);
  EXPECT_EQ(fused.code, 0) << fused.err;
  const auto unfused = weir(plan + " --attention unfused");
  EXPECT_EQ(unfused.code, 3) << unfused.out;
  EXPECT_TRUE(has(unfused.err, "found no layout that fits in memory")) << unfused.err;
}

TEST_F(PlanTest, CalculonsSystemIsACluster) {
  write("system.json", R"({
    "matrix": {"float16": {"tflops": 312, "gflops_efficiency": [[128, 0.95], [0, 0.1]]}},
    "mem1": {"GiB": 80, "GBps": 2048, "MB_efficiency": [[100, 0.9], [0, 0.3]]},
    "networks": [
      {"bandwidth": 300, "efficiency": 0.65, "size": 8, "latency": 1e-5},
      {"bandwidth": 25, "efficiency": 0.9, "size": 65536, "latency": 2e-5}]})");
  const auto run =
      weir("plan gpt3-175b --cluster system.json --gpus 64 --batch 64 --json plan.json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "system.json: 64 devices, 8 in a node, 312 TF/s, 81.604 GB")) << run.out;
  const auto plan = nlohmann::json::parse(read("plan.json"));
  EXPECT_EQ(plan.at("machine").at("matmul_efficiency"), 0.95);
  EXPECT_DOUBLE_EQ(plan.at("machine").at("node_bytes_per_second").get<double>(), 0.65 * 300e9);
  write("layers.txt", "a 4\nb 4\n");
  const auto stages = weir("plan layers.txt --cluster system.json --gpus 2");
  ASSERT_EQ(stages.code, 0) << stages.err;
  write("system.json", R"({"networks": []})");
  EXPECT_EQ(weir("plan gpt3-175b --cluster system.json --batch 64").code, 3);
}

TEST_F(PlanTest, PlansExpertsOverTheirRanks) {
  const auto run = weir(
      "plan deepseek-v3 --cluster h100-8x256 --batch 15360 --pipeline 16 --expert 64 --json "
      "plan.json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "671.026e9 parameters, 36.6")) << run.out;
  const auto plan = nlohmann::json::parse(read("plan.json"));
  EXPECT_EQ(plan.at("expert"), 64);
  EXPECT_GT(plan.at("seconds_by_cause").at("experts").get<double>(), 0);
  const auto uneven = weir(
      "plan deepseek-v3 --cluster h100-8x256 --batch 15360 --pipeline 16 --expert 64 "
      "--expert-load 1.5 --json -");
  ASSERT_EQ(uneven.code, 0) << uneven.err;
  EXPECT_GT(nlohmann::json::parse(uneven.out).at("seconds").get<double>(),
            plan.at("seconds").get<double>());
}

TEST_F(PlanTest, PlansTransformersFromFiles) {
  write("gpt3.json",
        R"({"hidden": 12288, "feedforward": 49152, "seq_size": 2048, "attn_heads": 96,
            "attn_size": 128, "num_blocks": 96})");
  const auto run = weir("plan gpt3.json --cluster a100-8x64 --batch 1536 --json -");
  const auto named = weir("plan gpt3-175b --cluster a100-8x64 --batch 1536 --json -");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out).at("seconds"),
            nlohmann::json::parse(named.out).at("seconds"));
  write("plan.json", run.out);
  const auto simulated = weir("simulate plan.json");
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_TRUE(has(simulated.out, "plan     gpt3.json on a100-8x64: ")) << simulated.out;
  write("run.sh",
        "--num-layers 48 --hidden-size 6144 --num-attention-heads 64 --seq-length 2048\n"
        "--tensor-model-parallel-size 8 --global-batch-size 32 --recompute-activations\n");
  const auto script = weir("plan run.sh --cluster a100-8x2 --micro-batch 2");
  ASSERT_EQ(script.code, 0) << script.err;
  EXPECT_TRUE(has(script.out,
                  "plan     tensor 8, context 1, pipeline 1, data 2, micro-batch 2, 1f1b, "
                  "recompute selective, ZeRO 0\n"))
      << script.out;
}

TEST_F(PlanTest, FaultsAreSaidInOneLine) {
  write("run.sh", "--num-layers 48\n--hidden-size wide\n");
  write("layers.txt", "a 4 0 0 30e9\nb 4\n");
  write("bad.txt", "a 4\nb four\n");
  struct Case {
    std::string line;
    int code;
    std::string error;
  };
  for (const Case& each : {
           Case{"plan layers.txt", 2, "weir: --cluster: found nothing; expected a cluster"},
           Case{"plan layers.txt --cluster z100-8x2", 2, "weir: cluster: found \"z100-8x2\""},
           Case{"plan layers.txt --cluster no-such-file", 3, "weir: no-such-file: cannot open"},
           Case{"plan layers.txt --cluster 4@1 --gpus 5", 2,
                "weir: 4@1: found 5 devices asked for; expected 1 to 4"},
           Case{"plan layers.txt --cluster 4@1 --stages 3", 3,
                "weir: found 3 stages for 2 operators"},
           Case{"plan layers.txt --cluster 4@1 --speed 1", 2,
                "weir: --speed: found \"1\"; expected DEVICE=FACTOR"},
           Case{"plan layers.txt --cluster 4@1 --objective pipedream --explain", 2,
                "weir: --objective: found pipedream with an option"},
           Case{"plan bad.txt --cluster 4@1", 3, "weir: bad.txt:2: found forward time \"four\""},
           Case{"plan layers.txt --cluster a100-8x2", 3,
                "weir: a100-8x2: found no plan that fits in memory: at best the stage of 2 "
                "operators, a to b, needs 120.000 GB"},
           Case{"plan gpt3-175 --cluster a100-8x2 --batch 8", 2,
                "weir: model 'gpt3-175' is not built in; there are megatron-1.7b, "},
           Case{"plan gpt3-175b --cluster a100-8x2", 2, "weir: --batch: found nothing"},
           Case{"plan gpt3-175b --cluster a100-8x2 --batch 8 --stages 3", 2,
                "weir: gpt3-175b: found a model with an option of operator files"},
           Case{"plan layers.txt --cluster a100-8x2 --batch 8", 2,
                "weir: layers.txt: found a file of operators with an option of models"},
           Case{"plan gpt3-175b --cluster 8x2@25,3 --batch 8", 2, "weir: --peak: found nothing"},
           Case{"plan gpt3-175b --cluster a100-8x2 --batch 16 --tensor 5", 2,
                "weir: gpt3-175b: found no layout of 16 devices and batch 16 that the options"},
           Case{"plan megatron-1t --cluster a100-8x2 --batch 16", 3,
                "weir: megatron-1t: found no layout that fits in memory: the smallest (tensor"},
           Case{"plan llama3-8b --cluster a100-8x8 --batch 64 --context 16", 3,
                "weir: llama3-8b: found a ring that does not hide its transfers: hop 7 -> 8 of 16 "
                "context ranks, between nodes at 20 GB/s, needs blocks of 7800 tokens; they have "
                "512"},
           Case{"plan llama3-8b --cluster a100-8x8 --batch 64 --expert 2", 2,
                "weir: llama3-8b: found an option of experts; expected a model that has some"},
           Case{"plan run.sh --cluster a100-8x2", 3, "weir: run.sh:2: found --hidden-size"},
       }) {
    const auto run = weir(each.line);
    EXPECT_EQ(run.code, each.code) << each.line;
    EXPECT_TRUE(run.err.starts_with(each.error)) << run.err;
    EXPECT_EQ(run.out, "") << each.line;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
}

}  // namespace

}  // namespace weir::test
