// SPDX-License-Identifier: Apache-2.0
// weir plan.
#include <algorithm>
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

TEST_F(PlanTest, FaultsAreSaidInOneLine) {
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
