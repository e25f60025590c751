// SPDX-License-Identifier: Apache-2.0
// weir simulate.
#include <string>

#include <gtest/gtest.h>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

using SimulateTest = Workplace;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SimulateTest, SaysHowItIsCalled) {
  auto run = weir("simulate guess --fit .");
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "expected validate")) << run.err;
  for (const char* line :
       {"validate --fit . --slow 1=2", "plan.json --fail 3", "plan.json --slow 1",
        "plan.json --slow host=2", "plan.json --slow 1=fast", "plan.json --snapshot-every never"}) {
    run = weir(std::string("simulate ") + line);
    EXPECT_EQ(run.code, 2) << line << run.err;
  }
  run = weir("simulate nowhere.json");
  EXPECT_EQ(run.code, 3);
  EXPECT_TRUE(has(run.err, "nowhere.json")) << run.err;
  write("plan.json", "{\"format\": \"weir-plan\"}");
  run = weir("simulate plan.json");
  EXPECT_EQ(run.code, 3);
  EXPECT_TRUE(has(run.err, "plan.json: format: found weir-plan")) << run.err;
  run = weir("simulate validate");
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "--fit")) << run.err;
  run = weir("simulate validate --fit nowhere");
  EXPECT_EQ(run.code, 3);
  EXPECT_TRUE(has(run.err, "nowhere")) << run.err;
}

/// The number after a text.
double number_after(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before << " in " << text;
  return at == std::string::npos ? 0 : std::stod(text.substr(at + before.size()));
}

// D107: a plan takes a time that is not zero, with its unit, and its parts sum to it.
TEST_F(SimulateTest, APlanIsReadBackAndRun) {
  auto run = weir(
      "plan gpt3-175b --cluster a100-8x16 --batch 256 --pipeline 8 --schedule zb-v --json "
      "plan.json");
  ASSERT_EQ(run.code, 0) << run.err;
  run = weir("simulate plan.json");
  ASSERT_EQ(run.code, 0) << run.err;
  const double seconds = number_after(run.out, "time     ");
  EXPECT_GT(seconds, 1);
  EXPECT_TRUE(has(run.out, " s per iteration of 256 samples")) << run.out;
  EXPECT_NEAR(number_after(run.out, "closed   "), seconds, 0.05 * seconds);
  EXPECT_NEAR(number_after(run.out, "total"), seconds, 1e-9);
  EXPECT_FALSE(has(run.out, "stragglers")) << run.out;

  run = weir("simulate plan.json --slow 3=1.3,rank:5.forward=1.1 --ranks 2");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_GT(number_after(run.out, "time     "), seconds);
  EXPECT_EQ(number_after(run.out, "without  "), seconds);
  EXPECT_GT(number_after(run.out, "stragglers  "), 0);
  run = weir("simulate plan.json --slow 16=1.3");
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "host 16")) << run.err;
}

TEST_F(SimulateTest, AJobFailsAndGoesOn) {
  ASSERT_EQ(weir("plan megatron-22b --cluster a100-8x1 --batch 4 --json plan.json").code, 0);
  auto run = weir("simulate plan.json --iterations 1000 --fail 100,200 --snapshot-every 10");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "2 failures, 99 snapshots, one after every 10 iterations")) << run.out;
  EXPECT_EQ(number_after(run.out, "restarts"), 400);  // the second comes while it restarts
  EXPECT_EQ(number_after(run.out, "snapshots  "), 99);
  run = weir("simulate plan.json --iterations 100000 --mtbf 21600 --stall 2");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, " % of the work; expected ")) << run.out;
  EXPECT_EQ(run.out, weir("simulate plan.json --iterations 100000 --mtbf 21600 --stall 2").out);
}

TEST_F(SimulateTest, AMissedGoalIsExitCodeOne) {
  // Two rows that no machine explains: twice the devices, a hundred times the time.
  std::filesystem::create_directories(path("vtrain"));
  write("vtrain/multi_nodes_measured.csv",
        "headings\n3.6,64,512,4,3072,32,30,2048,1,64,1,3638\n"
        "3.6,128,512,4,3072,32,30,2048,1,128,1,363800\n");
  const auto run = weir("simulate validate --fit . --ranks 2");
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_TRUE(has(run.out, "MISSED")) << run.out;
  EXPECT_TRUE(has(run.out, "left out")) << run.out;
}

}  // namespace

}  // namespace weir::test
