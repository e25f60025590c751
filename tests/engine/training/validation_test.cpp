// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/validation.hpp>

#include <optional>

#include <gtest/gtest.h>

#include <weir/engine/model/random.hpp>
#include <weir/tests/engine/training/measured_folder.hpp>
#include <weir/tests/reference/graph_files.hpp>

namespace weir::training::test {

namespace {

TEST(ValidationTest, ErrorsAreRelativeOrInPoints) {
  EXPECT_NEAR((ValidationRow{"o", "l", "s", 10, 11}).error(), 10, 1e-9);
  EXPECT_DOUBLE_EQ((ValidationRow{"o", "l", "%", 50, 51}).error(), 1);
}

TEST(ValidationTest, FittedRowsAreNoPredictions) {
  const std::vector<ValidationRow> rows = {{"o", "a", "s", 10, 20, true},
                                           {"o", "b", "s", 10, 9},
                                           {"o", "c", "s", 10, 13},
                                           {"other", "d", "s", 10, 100}};
  const ErrorSummary errors = errors_of(rows, "o");
  EXPECT_EQ(errors.num_rows, 2);
  EXPECT_DOUBLE_EQ(errors.mean, 20);
  EXPECT_DOUBLE_EQ(errors.largest, 30);
}

TEST(ValidationTest, OneMissedGoalIsAMiss) {
  Validation validation;
  validation.goals = {{"o", "small", 1, 2}, {"o", "large", 5, 4, true}};
  EXPECT_TRUE(validation.is_met());
  validation.goals.push_back({"o", "missed", 3, 2});
  EXPECT_FALSE(validation.is_met());
  EXPECT_NE(to_text(validation).find("MISSED"), std::string::npos);
}

void expect_met(const Validation& validation) {
  for (const ValidationGoal& goal : validation.goals) {
    EXPECT_TRUE(goal.is_met()) << goal.oracle << ": " << goal.label << ": " << goal.reached;
  }
}

TEST(ValidationTest, PublishedMemoryAndTimesWithRecomputation) {
  Validation validation;
  validate_recompute(validation);
  EXPECT_EQ(validation.goals.size(), 6);
  expect_met(validation);
}

TEST(ValidationTest, PublishedRunsOnThousandsOfDevices) {
  Validation validation;
  validate_scaling(validation);
  EXPECT_EQ(validation.goals.size(), 6);
  expect_met(validation);
}

/// Rows of vTrain's file for several nodes, made by the models on a machine with constants of its
/// own; every second time is multiplied by `defect`.
std::string made_rows(double defect) {
  Machine machine;
  machine.matmul_efficiency = 0.66;
  machine.node_bytes_per_second = 180e9;
  machine.sharing_slowdown = 0.02;
  Software software;
  software.has_scattered_sends = true;
  std::string text = "headings\n";
  int row = 0;
  for (const std::int64_t tensor : {1, 2, 4, 8}) {
    for (const std::int64_t pipeline : {1, 2, 4}) {
      for (const std::int64_t micro_batch : {1, 2, 4}) {
        Layout layout;
        layout.tensor = tensor;
        layout.pipeline = pipeline;
        layout.data = 64 / tensor / pipeline;
        layout.global_batch = 512;
        layout.micro_batch = micro_batch;
        layout.recompute = Recompute::full;
        double seconds =
            predict(built_in_model("megatron-18.4b"), layout, machine, software).total();
        if (row++ % 2 == 1) seconds *= defect;
        text += "18.4,64,512," + std::to_string(micro_batch) + ",6144,48,40,2048," +
                std::to_string(tensor) + ',' + std::to_string(layout.data) + ',' +
                std::to_string(pipeline) + ',' + std::to_string(1e3 * seconds) + '\n';
      }
    }
  }
  return text;
}

TEST(ValidationTest, FitsOneHalfAndPredictsTheOther) {
  const MeasuredFolder folder;
  folder.write("vtrain/multi_nodes_measured.csv", made_rows(1));
  Validation validation;
  validate_vtrain(folder.path(), folder.path(), validation);
  ASSERT_EQ(validation.rows.size(), 36);
  EXPECT_EQ(errors_of(validation.rows, "vTrain, several nodes").num_rows, 18);
  ASSERT_EQ(validation.goals.size(), 2);
  EXPECT_LT(validation.goals[0].reached, 1);
  EXPECT_GT(validation.goals[1].reached, 0.99);
}

TEST(ValidationTest, DoesNotFitTheRowsThatItTests) {
  const MeasuredFolder folder;
  folder.write("vtrain/multi_nodes_measured.csv", made_rows(1.5));
  Validation validation;
  validate_vtrain(folder.path(), folder.path(), validation);
  EXPECT_NEAR(validation.goals.at(0).reached, 100 - 100 / 1.5, 1);
  EXPECT_FALSE(validation.is_met());
}

TEST(ValidationTest, RowsOfAnotherFolderAreAllPredictions) {
  const MeasuredFolder known;
  known.write("vtrain/multi_nodes_measured.csv", made_rows(1));
  const MeasuredFolder further;
  further.write("vtrain/multi_nodes_measured.csv",
                "headings\n18.4,64,512,8,6144,48,40,2048,8,8,1,50000\n");
  Validation validation;
  validate_vtrain(known.path(), further.path(), validation);
  ASSERT_EQ(validation.rows.size(), 1);
  EXPECT_FALSE(validation.rows[0].is_fitted);
  EXPECT_FALSE(validation.is_met());
}

TEST(ValidationTest, FoldersWithoutRowsAreRefused) {
  const MeasuredFolder folder;
  EXPECT_NE(input_error_of([&] { validate(folder.path(), folder.path()); }).find(folder.path()),
            std::string::npos);
}

TEST(ValidationTest, MeetsAllGoalsOnTheMeasuredRows) {
  const auto folder = reference::data_folder();
  if (!folder) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
  const std::string training = *folder / "training";
  const Validation validation = validate(training, training);
  EXPECT_EQ(validation.goals.size(), 17);
  EXPECT_TRUE(validation.left_out.empty());
  expect_met(validation);
}

}  // namespace

}  // namespace weir::training::test
