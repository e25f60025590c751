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
  run = weir("simulate validate");
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "--fit")) << run.err;
  run = weir("simulate validate --fit nowhere");
  EXPECT_EQ(run.code, 3);
  EXPECT_TRUE(has(run.err, "nowhere")) << run.err;
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
