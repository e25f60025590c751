// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/profiled_plan.hpp>

#include <cmath>

#include <gtest/gtest.h>

#include <weir/tests/engine/training/measured_folder.hpp>

namespace weir::training::test {

namespace {

/// Layers 0 to 25 that take 1 ms + 2 ms per sample forward, twice that backward, 5 ms of update.
std::string affine_profile() {
  std::string text = "{";
  for (const int micro_batch : {1, 2, 8}) {
    text += (text.size() > 1 ? ",\"" : "\"") + std::to_string(micro_batch) + "\": {\"4\": {";
    const double forward = 1e-3 + 2e-3 * micro_batch;
    for (int layer = 0; layer < 26; ++layer) {
      text += (layer > 0 ? ",\"" : "\"") + std::to_string(layer) + "\": [" +
              std::to_string(forward) + "," + std::to_string(2 * forward) + ",0.005]";
    }
    text += "}}";
  }
  return text + "}";
}

/// Bandwidth of 10 GB/s at any size.
constexpr std::string_view flat_network = R"({"inter": {"X": {"1": [[0, 0, 10], 1e10]}}})";

/// Stages of layers 0-12 and 13-25, each on two replicas.
constexpr std::string_view two_stages = R"({"pipeline_list": [{"num_stages": 2,
  "layers_per_stage": [[0,1,2,3,4,5,6,7,8,9,10,11,12], [13,14,15,16,17,18,19,20,21,22,23,24,25]],
  "tmp_per_stage": [[[[["X",4,"z"]],4], [[["X",4,"z"]],4]], [[[["X",4,"z"]],4], [[["X",4,"z"]],4]]],
  "dp": [2, 2]}], "mbs": 4, "gbs": 64, "real": 1.5, "max_mem": 2e10})";

TEST(ProfiledPlanTest, WorkIsALineOverTheMicroBatch) {
  const MeasuredFolder folder;
  const LayerProfile profile = LayerProfile::read(folder.write("p.json", affine_profile()));
  EXPECT_NEAR(profile.work_seconds({3, 4}, 4, 4), 2 * 3 * (1e-3 + 4 * 2e-3), 1e-9);
  EXPECT_NEAR(profile.update_seconds({3, 4, 5}, 4), 0.015, 1e-12);
}

TEST(ProfiledPlanTest, TheLineIsNearestInRelativeError) {
  const MeasuredFolder folder;
  const LayerProfile profile = LayerProfile::read(folder.write(
      "p.json",
      R"({"1": {"1": {"0": [1, 0, 0]}}, "2": {"1": {"0": [1, 0, 0]}}, "9": {"1": {"0": [8, 0, 0]}}})"));
  // Where the sum of squared relative errors is least its two slopes vanish.
  double slope_of_constant = 0;
  double slope_of_factor = 0;
  for (const auto& [size, seconds] : {std::pair(1.0, 1.0), {2.0, 1.0}, {9.0, 8.0}}) {
    const double line = profile.work_seconds({0}, 1, static_cast<std::int64_t>(size));
    slope_of_constant += (line - seconds) / (seconds * seconds);
    slope_of_factor += size * (line - seconds) / (seconds * seconds);
  }
  EXPECT_NEAR(slope_of_constant, 0, 1e-12);
  EXPECT_NEAR(slope_of_factor, 0, 1e-12);
}

TEST(ProfiledPlanTest, TimeOfAPipeline) {
  const MeasuredFolder folder;
  const ProfiledPlan plan =
      read_profiled_plan(folder.write("OPT-350_plan_config_N4.json", two_stages));
  EXPECT_EQ(plan.model, "OPT-350");
  EXPECT_EQ(plan.num_devices(), 16);
  EXPECT_EQ(plan.num_micro_batches(), 8);

  const Profiles profiles = {{"X", LayerProfile::read(folder.write("p.json", affine_profile()))}};
  const FittedBandwidth bandwidth = FittedBandwidth::read(folder.write("n.json", flat_network));
  const double send = 2.0 * 4 * 2048 * 1024 / 1e10;
  const double stage = 13 * 3 * 9e-3 + 2 * send;
  const double parameters = 12 * (12 * 1024.0 * 1024 + 13 * 1024) + 1024.0 * (50272 + 2048);
  const double reduction = 2 * 0.5 * 4 * parameters / 4 / 1e10;
  EXPECT_NEAR(predict_seconds(plan, profiles, bandwidth), 9 * stage + reduction + 13 * 0.005, 1e-9);
}

TEST(ProfiledPlanTest, MemoryOfTheFullestStage) {
  const MeasuredFolder folder;
  const ProfiledPlan plan =
      read_profiled_plan(folder.write("OPT-350_plan_config_N4.json", two_stages));
  // The first stage: twelve blocks, two micro-batches in flight, s b h (10 + 24/t + 5 a s/(h t)).
  const double parameters = 12 * (12 * 1024.0 * 1024 + 13 * 1024) + 1024.0 * (50272 + 2048);
  const double layer = 2048.0 * 4 * 1024 * (10 + 6 + 5 * 16 * 2048.0 / (1024 * 4));
  EXPECT_NEAR(predict_bytes(plan), 18 * parameters / 4 + 2 * 12 * layer, 1);
}

TEST(ProfiledPlanTest, BandwidthFollowsItsCurveUpToItsMost) {
  const MeasuredFolder folder;
  const FittedBandwidth bandwidth = FittedBandwidth::read(
      folder.write("n.json", R"({"inter": {"X": {"1": [[0, 2, 10], 1.5e10]}}})"));
  EXPECT_DOUBLE_EQ(bandwidth.bytes_per_second("X", 1), 10e9);
  EXPECT_DOUBLE_EQ(bandwidth.bytes_per_second("X", 4 << 20), 14e9);
  EXPECT_DOUBLE_EQ(bandwidth.bytes_per_second("X", 1e12), 15e9);
}

TEST(ProfiledPlanTest, RefusesWhatIsMissing) {
  const MeasuredFolder folder;
  const LayerProfile profile = LayerProfile::read(folder.write("p.json", affine_profile()));
  EXPECT_NE(input_error_of([&] { profile.work_seconds({26}, 4, 1); }).find("layer 26"),
            std::string::npos);
  EXPECT_NE(input_error_of([&] { profile.work_seconds({1}, 2, 1); }).find("tensor degree 2"),
            std::string::npos);
  const FittedBandwidth bandwidth = FittedBandwidth::read(folder.write("n.json", flat_network));
  EXPECT_NE(input_error_of([&] { bandwidth.bytes_per_second("Y", 1); }).find("bandwidth of Y"),
            std::string::npos);
  const ProfiledPlan plan =
      read_profiled_plan(folder.write("OPT-350_plan_config_N4.json", two_stages));
  EXPECT_NE(input_error_of([&] {
              predict_seconds(plan, {}, bandwidth);
            }).find("no profile of OPT-350 on X"),
            std::string::npos);
  for (const std::string_view text : {"", "{", "[]", "{\"pipeline_list\": []}",
                                      "{\"pipeline_list\": [{}]}", "{\"pipeline_list\": 7}"}) {
    const std::string path = folder.write("m_plan.json", text);
    EXPECT_NE(input_error_of([&] { read_profiled_plan(path); }).find("m_plan.json"),
              std::string::npos)
        << text;
  }
  std::string huge(two_stages);
  huge.replace(huge.find("\"gbs\": 64"), 9, "\"gbs\": 1e30");
  const std::string path = folder.write("h_plan.json", huge);
  EXPECT_NE(input_error_of([&] { read_profiled_plan(path); }).find("found 1e+30"),
            std::string::npos);
  const std::string broken = folder.write("q.json", R"({"x": {"1": {"0": [1, 2, 3]}}})");
  EXPECT_NE(input_error_of([&] { LayerProfile::read(broken); }).find("'x'"), std::string::npos);
}

}  // namespace

}  // namespace weir::training::test
