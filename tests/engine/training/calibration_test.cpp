// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/calibration.hpp>

#include <gtest/gtest.h>

namespace weir::training {

namespace {

MeasuredRun run_of(std::int64_t tensor, std::int64_t data, std::int64_t micro_batch) {
  MeasuredRun run;
  run.model = built_in_model("megatron-3.6b");
  run.layout.tensor = tensor;
  run.layout.data = data;
  run.layout.global_batch = 512;
  run.layout.micro_batch = micro_batch;
  return run;
}

TEST(CalibrationTest, FindsTheMachineThatMadeTheRows) {
  Machine truth;
  truth.matmul_efficiency = 0.61;
  truth.node_bytes_per_second = 150e9;
  std::vector<MeasuredRun> runs = {run_of(1, 64, 4), run_of(4, 16, 4), run_of(8, 8, 2),
                                   run_of(8, 8, 16)};
  for (MeasuredRun& run : runs) run.seconds = predict(run.model, run.layout, truth, {}).total();

  const Machine found = calibrate({},
                                  {{"efficiency", &Machine::matmul_efficiency, {0.8, 1}},
                                   {"node", &Machine::node_bytes_per_second, {230e9, 1}}},
                                  observations_of(runs, {}), 1e-4);
  EXPECT_NEAR(found.matmul_efficiency, 0.61, 1e-4);
  EXPECT_NEAR(found.node_bytes_per_second, 150e9, 1e-3 * 150e9);
  EXPECT_EQ(found.memory_bytes_per_second, truth.memory_bytes_per_second);
}

}  // namespace

}  // namespace weir::training
