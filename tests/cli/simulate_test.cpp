// SPDX-License-Identifier: Apache-2.0
// weir simulate.
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
  EXPECT_TRUE(has(run.err, "expected a plan, validate, sort-2004 or snapshots")) << run.err;
  run = weir("simulate snapshot");
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "did you mean snapshots?")) << run.err;
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

TEST_F(SimulateTest, ASortBesideItsPaper) {
  const auto run = weir("simulate sort-2004 --runs 3 --json sort.json");
  EXPECT_EQ(run.code, 0) << run.err;
  // What was fitted stands apart from what is predicted.
  EXPECT_LT(run.out.find("fitted to"), run.out.find("simulated_s"));
  EXPECT_TRUE(has(run.out, "reduce task = 245 s")) << run.out;
  EXPECT_TRUE(has(run.out, "predicted rows within 5 %: yes")) << run.out;
  const auto json = nlohmann::json::parse(read("sort.json"));
  EXPECT_EQ(json.at("met"), true);
  EXPECT_EQ(json.at("runs"), 3);
  std::map<double, std::string> figures;
  for (const auto& row : json.at("rows")) {
    const auto& seconds = row.at("seconds");
    EXPECT_GE(row.at("wasted_share"), 0);
    EXPECT_LE(seconds.at("least"), seconds.at("simulated"));
    if (seconds.at("paper").is_null()) continue;
    figures[seconds.at("paper").get<double>()] = row.at("figure");
    EXPECT_NEAR(seconds.at("simulated").get<double>() / seconds.at("paper").get<double>(), 1, 0.1);
  }
  EXPECT_EQ(figures, (std::map<double, std::string>{
                         {891, "predicted"}, {933, "predicted"}, {1283, "fitted"}}));
}

TEST_F(SimulateTest, SnapshotsWasteLeastWhereTheFormulaSays) {
  const auto run =
      weir("simulate snapshots --stall 0.2s --mtbf 6h --restart 30 --superstep 1.5s --json -");
  EXPECT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_NEAR(json.at("refined_interval_seconds").get<double>(), 92.82, 0.01);
  EXPECT_EQ(json.at("supersteps_between_snapshots"), 62);
  EXPECT_EQ(json.at("met"), true);
  for (const auto& row : json.at("rows")) {
    EXPECT_NEAR(row.at("simulated_waste").get<double>() / row.at("exact_waste").get<double>(), 1,
                0.03);
  }
  // A day between failures of a node: 24 nodes, an hour.
  const auto nodes = weir("simulate snapshots --nodes 24 --failures 1000");
  EXPECT_TRUE(has(nodes.out, "a failure every 3600 s")) << nodes.out << nodes.err;
}

TEST_F(SimulateTest, IsAFunctionOfItsSeed) {
  const std::string line = "simulate snapshots --failures 1000 --seed ";
  const auto one = weir(line + "1");
  EXPECT_EQ(one.out, weir(line + "1 --ranks 2").out);
  EXPECT_NE(one.out, weir(line + "2").out);
}

TEST_F(SimulateTest, RefusesOptionsOutOfBounds) {
  for (const std::string option :
       {"--stall 0", "--stall -1s", "--stall 1y", "--stall s", "--stall nan", "--mtbf 0",
        "--mtbf 1e9d", "--restart -1", "--superstep 0", "--nodes 0", "--failures 0", "--seed -1",
        "--seed x", "--nodes 2 --mtbf 1h", "--runs 3", "--fit ."}) {
    const auto run = weir("simulate snapshots " + option);
    EXPECT_EQ(run.code, 2) << option;
    EXPECT_TRUE(has(run.err, "weir: " + option.substr(0, option.find(' ')) + ": ")) << run.err;
    EXPECT_TRUE(run.out.empty()) << option;
  }
  for (const std::string option : {"--killed 1747", "--killed 0", "--kill-at -1", "--kill-at 1d",
                                   "--runs 0", "--runs 1.5", "--stall 1"}) {
    const auto run = weir("simulate sort-2004 " + option);
    EXPECT_EQ(run.code, 2) << option;
    EXPECT_TRUE(has(run.err, "weir: " + option.substr(0, option.find(' ')) + ": ")) << run.err;
  }
  EXPECT_EQ(weir("simulate validate --fit . --seed 1").code, 2);
}

TEST_F(SimulateTest, ResultsThatCannotBeWrittenAreAnError) {
  const auto run = weir("simulate snapshots --failures 10 --json nowhere/result.json");
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(has(run.err, "nowhere/result.json")) << run.err;
  EXPECT_TRUE(run.out.empty()) << run.out;
}

}  // namespace

}  // namespace weir::test
