// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/vtrain_runs.hpp>

#include <gtest/gtest.h>

#include <weir/tests/engine/training/measured_folder.hpp>

namespace weir::training::test {

namespace {

constexpr std::string_view headings = "\xef\xbb\xbf# GPUs,...\r\n";

TEST(VtrainRunsTest, ReadsBothLayouts) {
  const MeasuredFolder folder;
  const std::string one =
      folder.write("one.csv", std::string(headings) + "8,64,4,2048,32,16,1024,2,2,2,511.5\r\n\r\n");
  const std::vector<MeasuredRun> runs = read_vtrain_runs(one, false);
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(runs[0].model.hidden, 2048);
  EXPECT_EQ(runs[0].model.num_heads, 32);
  EXPECT_EQ(runs[0].model.num_layers, 16);
  EXPECT_EQ(runs[0].model.sequence, 1024);
  EXPECT_EQ(runs[0].layout.global_batch, 64);
  EXPECT_EQ(runs[0].layout.micro_batch, 4);
  EXPECT_EQ(runs[0].layout.num_devices(), 8);
  EXPECT_EQ(runs[0].layout.recompute, Recompute::full);
  EXPECT_DOUBLE_EQ(runs[0].seconds, 0.5115);

  const std::string several =
      folder.write("several.csv", std::string(headings) + "3.6,8,64,4,2048,32,16,1024,8,1,1,4764");
  EXPECT_EQ(read_vtrain_runs(several, true).at(0).layout.tensor, 8);
}

TEST(VtrainRunsTest, RefusesWithFileAndLine) {
  const MeasuredFolder folder;
  const auto error_of = [&](const std::string& row) {
    const std::string path = folder.write("runs.csv", std::string(headings) + row);
    return input_error_of([&] { read_vtrain_runs(path, false); });
  };
  const std::string good = "8,64,4,2048,32,16,1024,2,2,2,511.5\n";
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_NE(error_of(good + "8,64,4\n").find("runs.csv:3: found 3 columns; expected 11"),
            std::string::npos);
  EXPECT_NE(error_of("8,64,x,2048,32,16,1024,2,2,2,5\n").find("runs.csv:2: found 'x'"),
            std::string::npos);
  EXPECT_NE(error_of("8,64,4.5,2048,32,16,1024,2,2,2,5\n").find("whole number"), std::string::npos);
  EXPECT_NE(error_of("8,64,nan,2048,32,16,1024,2,2,2,5\n").find("'nan'"), std::string::npos);
  EXPECT_NE(error_of("8,64,4,2048,32,16,1024,2,2,2,0\n").find("not positive"), std::string::npos);
  EXPECT_NE(error_of("8,64,4,2048,32,16,1024,2,2,4,5\n").find("8 GPUs are not"), std::string::npos);
  EXPECT_NE(input_error_of([&] {
              read_vtrain_runs(folder.path() + "/none", false);
            }).find("cannot be opened"),
            std::string::npos);
}

}  // namespace

}  // namespace weir::training::test
