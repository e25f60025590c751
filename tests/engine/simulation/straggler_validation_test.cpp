// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/straggler_validation.hpp>

#include <gtest/gtest.h>

namespace weir::simulation {

namespace {

// [Jiang24 §6.3] as weir simulate validate prints it: rows beside the paper's 0.7 points, and goals
// that it lies between the stages where one slow host costs least and most.
TEST(StragglerValidationTest, ThePublishedCostLiesBetweenTheStages) {
  training::Validation validation;
  validate_stragglers(validation);
  ASSERT_EQ(validation.rows.size(), 4U);
  for (const training::ValidationRow& row : validation.rows) {
    EXPECT_EQ(row.measured, 0.7);
    EXPECT_GT(row.predicted, 0);
    EXPECT_EQ(row.unit, "%");
    EXPECT_FALSE(row.is_fitted);
  }
  const double mean = validation.rows[0].predicted;
  const double least = validation.rows[1].predicted;
  const double last = validation.rows[2].predicted;
  EXPECT_LT(least, mean);
  EXPECT_LT(mean, last);
  EXPECT_GT(validation.rows[3].predicted, 2 * mean);  // backward passes are the longer ones
  ASSERT_EQ(validation.goals.size(), 2U);
  EXPECT_TRUE(validation.is_met());
}

}  // namespace

}  // namespace weir::simulation
