// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/link_fit.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <weir/engine/model/check.hpp>

namespace weir::schedule {

Link fit_link(std::span<const MessageTime> times) {
  double num_times = 0;
  double x = 0;
  double t = 0;
  bool has_sizes = false;
  for (const MessageTime& each : times) {
    WEIR_EXPECT(
        std::isfinite(each.seconds) && each.seconds > 0 && each.bytes >= 0, usage,
        "found a message of " + std::to_string(each.seconds) + " s; expected a time above 0");
    ++num_times;
    x += each.bytes;
    t += each.seconds;
    has_sizes = has_sizes || each.bytes != times.front().bytes;
  }
  WEIR_EXPECT(has_sizes, usage, "found messages of one size; expected two sizes or more");
  double covariance = 0;
  double variance = 0;
  for (const MessageTime& each : times) {
    covariance += (each.bytes - x / num_times) * (each.seconds - t / num_times);
    variance += (each.bytes - x / num_times) * (each.bytes - x / num_times);
  }
  const double seconds_per_byte = covariance / variance;
  const double least_bytes =
      std::min_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
        return a.bytes < b.bytes;
      })->bytes;
  double num_shortest = 0;
  double latency = 0;
  for (const MessageTime& each : times) {
    if (each.bytes != least_bytes) continue;
    ++num_shortest;
    latency += each.seconds - each.bytes * seconds_per_byte;
  }
  latency = std::max(latency / num_shortest, 0.0);
  WEIR_EXPECT(seconds_per_byte > 0, usage,
              "found long messages no slower than short ones; expected times that grow with bytes");
  return {1 / seconds_per_byte, latency};
}

FitSpread spread_around(const Link& link, std::span<const MessageTime> times) {
  WEIR_EXPECT(!times.empty(), usage, "found no message; expected one or more");
  std::vector<double> ratios;
  for (const MessageTime& each : times) {
    ratios.push_back(each.seconds / (link.latency_seconds + each.bytes / link.bandwidth));
  }
  std::sort(ratios.begin(), ratios.end());
  const std::size_t quarter = (ratios.size() - 1) / 4;
  return {ratios[quarter], ratios[ratios.size() - 1 - quarter]};
}

}  // namespace weir::schedule
