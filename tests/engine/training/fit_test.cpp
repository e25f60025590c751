// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/fit.hpp>

#include <cmath>

#include <gtest/gtest.h>

namespace weir::training {

namespace {

/// Residuals of y = a + b x against rows of the line 3 + 0.5 x.
std::vector<double> line_residuals(const std::vector<double>& constants, bool has_defect) {
  std::vector<double> residuals;
  for (int x = 1; x <= 20; ++x) {
    double measured = 3 + 0.5 * x;
    if (has_defect && x == 10) measured *= 2;
    residuals.push_back(std::log((constants[0] + constants[1] * x) / measured));
  }
  return residuals;
}

TEST(FitTest, FindsTheConstantsOfExactRows) {
  const auto found = fit_constants(
      {{1, 3}, {1, 3}}, [](const auto& c) { return line_residuals(c, false); }, 1e-4);
  EXPECT_NEAR(found[0], 3, 1e-4);
  EXPECT_NEAR(found[1], 0.5, 1e-4);
}

TEST(FitTest, ADefectiveRowBendsLittle) {
  const auto found = fit_constants(
      {{1, 3}, {1, 3}}, [](const auto& c) { return line_residuals(c, true); }, 1e-3);
  EXPECT_NEAR(found[0], 3, 0.01);
  EXPECT_NEAR(found[1], 0.5, 0.002);
}

TEST(FitTest, WithoutEvidenceThePriorStays) {
  const auto found = fit_constants(
      {{2, 0.5}, {7, 0.5}}, [](const auto& c) { return std::vector{std::log(c[0] / 4)}; }, 1e-3);
  EXPECT_NEAR(found[0], 4, 0.01);
  EXPECT_NEAR(found[1], 7, 1e-9);
}

TEST(FitTest, IsDeterministic) {
  const auto residuals = [](const auto& c) { return line_residuals(c, true); };
  EXPECT_EQ(fit_constants({{1, 3}, {1, 3}}, residuals, 0.02),
            fit_constants({{1, 3}, {1, 3}}, residuals, 0.02));
}

TEST(FitTest, RankCorrelation) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 1000}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // Differences of ranks 1, 1, 0, 0: 1 - 6 * 2 / (4 * 15).
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {2, 1, 3, 4}), 0.8);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 1, 2, 2}, {5, 5, 9, 9}), 1);
}

}  // namespace

}  // namespace weir::training
