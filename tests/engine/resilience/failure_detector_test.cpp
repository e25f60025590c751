// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/resilience/failure_detector.hpp>

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::test {
namespace {

/// Share of gaps at whose end phi was at least 1, 2 and 3. Gaps come from `draw`.
template <class Draw>
std::array<double, 3> false_suspicions(Draw draw, int num_gaps) {
  FailureDetector detector(0.1);
  std::array<double, 3> shares{};
  double now = 0;
  detector.beat(now);
  for (int i = 0; i < 2000; ++i) detector.beat(now += draw());  // learns the pace
  for (int i = 0; i < num_gaps; ++i) {
    now += draw();
    for (std::size_t level = 0; level < 3; ++level) {
      if (detector.phi(now) >= static_cast<double>(level + 1)) shares[level] += 1.0 / num_gaps;
    }
    detector.beat(now);
  }
  return shares;
}

TEST(FailureDetector, IsWrongAsOftenAsPhiSaysOnExponentialGaps) {
  for (const double mean : {0.002, 0.2, 30.0}) {
    std::mt19937_64 random(7);
    std::exponential_distribution<double> gap(1 / mean);
    const auto shares = false_suspicions([&] { return gap(random); }, 1'000'000);
    RecordProperty("phi_1_2_3_at_" + std::to_string(mean), std::to_string(shares[0]) + " " +
                                                               std::to_string(shares[1]) + " " +
                                                               std::to_string(shares[2]));
    EXPECT_NEAR(shares[0], 0.1, 0.1 * 0.05);
    EXPECT_NEAR(shares[1], 0.01, 0.01 * 0.10);
    EXPECT_NEAR(shares[2], 0.001, 0.001 * 0.20);
  }
}

TEST(FailureDetector, FollowsAChangeOfPace) {
  FailureDetector detector(1, 100);
  double now = 0;
  for (int i = 0; i < 1000; ++i) detector.beat(now += 0.01);
  EXPECT_NEAR(detector.phi(now + 0.1), 10 / std::log(10.0), 1e-6);
  for (int i = 0; i < 100; ++i) detector.beat(now += 10);
  EXPECT_NEAR(detector.phi(now + 10), 1 / std::log(10.0), 1e-6);
}

TEST(FailureDetector, SuspectsNobodyBeforeTheFirstBeatAndMoreWithTime) {
  FailureDetector detector(0.2);
  EXPECT_EQ(detector.phi(1e9), 0);
  detector.beat(1e9);
  EXPECT_EQ(detector.phi(1e9), 0);
  EXPECT_LT(detector.phi(1e9 + 1), detector.phi(1e9 + 2));
  EXPECT_EQ(detector.phi(1e9 - 5), 0);
  EXPECT_DOUBLE_EQ(detector.silence(1e9 + 2), 2);
}

TEST(FailureDetector, RefusesWhatHasNoMean) {
  EXPECT_THROW(FailureDetector(0), Error);
  EXPECT_THROW(FailureDetector(1, 0), Error);
}

}  // namespace
}  // namespace weir::test
