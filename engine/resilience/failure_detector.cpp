// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/resilience/failure_detector.hpp>

#include <algorithm>
#include <numbers>

#include <weir/engine/model/check.hpp>

namespace weir {

FailureDetector::FailureDetector(double first_gap, std::size_t window)
    : window_(window), gaps_{first_gap}, sum_(first_gap) {
  WEIR_EXPECT(first_gap > 0, usage, "the first gap of a failure detector is above 0");
  WEIR_EXPECT(window > 0, usage, "the window of a failure detector holds at least one gap");
}

void FailureDetector::beat(double now) {
  if (has_beat_) {
    gaps_.push_back(std::max(0.0, now - last_));
    sum_ += gaps_.back();
    if (gaps_.size() > window_) {
      sum_ -= gaps_.front();
      gaps_.pop_front();
    }
  }
  last_ = has_beat_ ? std::max(last_, now) : now;
  has_beat_ = true;
}

double FailureDetector::silence(double now) const {
  return has_beat_ ? std::max(0.0, now - last_) : 0;
}

double FailureDetector::phi(double now) const {
  // Gaps of 0 alone would make every silence a failure.
  constexpr double least_mean = 1e-6;
  const double mean = std::max(least_mean, sum_ / static_cast<double>(gaps_.size()));
  return silence(now) / mean * std::numbers::log10e;
}

}  // namespace weir
