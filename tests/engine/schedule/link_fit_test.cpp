// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/link_fit.hpp>

namespace weir::schedule {

namespace {

using Times = std::vector<MessageTime>;

Times times_of(double latency, double bandwidth, const std::vector<double>& noise = {1}) {
  Times times;
  std::size_t i = 0;
  for (const double bytes : {64.0, 4096.0, 65536.0, 524288.0, 4194304.0}) {
    times.push_back({bytes, (latency + bytes / bandwidth) * noise[i++ % noise.size()]});
  }
  return times;
}

TEST(LinkFit, FindsTheLinkOfExactTimes) {
  for (const double latency : {0.0, 1e-6, 50e-6, 1e-3}) {
    for (const double bandwidth : {12.5e6, 1e9, 25e9}) {
      const Link link = fit_link(times_of(latency, bandwidth));
      EXPECT_NEAR(link.latency_seconds, latency, 1e-6 * latency + 1e-12);
      EXPECT_NEAR(link.bandwidth, bandwidth, 1e-6 * bandwidth);
    }
  }
}

// By hand: times 1, 2, 4 of 0, 1, 2 bytes, whose slope is 3/2.
TEST(LinkFit, IsTheLeastSquaresSlopeAndWhatItLeavesOfTheShortest) {
  const Link link = fit_link(Times{{0, 1}, {1, 2}, {2, 4}});
  EXPECT_NEAR(link.latency_seconds, 1, 1e-12);
  EXPECT_NEAR(link.bandwidth, 2.0 / 3, 1e-12);
}

TEST(LinkFit, NoiseOfLongMessagesDoesNotHideTheLatency) {
  // Five per cent of the longest time is a thousand latencies.
  const Link link = fit_link(times_of(10e-6, 12.5e6, {1, 1, 1, 1, 1.05}));
  EXPECT_NEAR(link.latency_seconds, 10e-6, 1e-6);
  EXPECT_NEAR(link.bandwidth, 12.5e6, 0.7e6);
}

TEST(LinkFit, ALinkThatLetsShortMessagesPassFasterHasTheBandwidthOfLongOnes) {
  Times times = times_of(10e-6, 12.5e6);
  for (std::size_t i = 0; i < 3; ++i) times[i].seconds = 10e-6 + times[i].bytes / 1e9;
  EXPECT_NEAR(fit_link(times).bandwidth, 12.5e6, 0.3e6);
  EXPECT_NEAR(fit_link(times).latency_seconds, 5e-6, 1e-6);  // 64 bytes take 5 us of the 10
}

TEST(LinkFit, ALatencyIsNotNegative) {
  const Link link = fit_link(Times{{100, 0.5}, {200, 2}, {300, 3.5}});
  EXPECT_EQ(link.latency_seconds, 0);
  EXPECT_GT(link.bandwidth, 0);
}

TEST(LinkFit, RefusesWhatNoLinkExplains) {
  EXPECT_THROW(fit_link(Times{}), Error);
  EXPECT_THROW(fit_link(Times{{64, 1e-6}, {64, 2e-6}}), Error);
  EXPECT_THROW(fit_link(Times{{64, 1e-6}, {128, 0}}), Error);
  EXPECT_THROW(fit_link(Times{{64, 1e-6}, {128, std::numeric_limits<double>::infinity()}}), Error);
  EXPECT_THROW(fit_link(Times{{64, 2e-6}, {128, 1e-6}}), Error);
}

TEST(LinkFit, SpreadIsThatOfTheMiddleHalf) {
  const Link link{1e6, 1e-6};
  Times times;
  for (const double ratio : {0.2, 0.9, 1.0, 1.3, 50.0}) times.push_back({99, 100e-6 * ratio});
  const FitSpread spread = spread_around(link, times);
  EXPECT_NEAR(spread.lower_quartile, 0.9, 1e-9);
  EXPECT_NEAR(spread.upper_quartile, 1.3, 1e-9);
  EXPECT_THROW(spread_around(link, Times{}), Error);
}

}  // namespace

}  // namespace weir::schedule
