// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>

namespace weir {

/// How sure one may be that a process which sends heartbeats has failed: phi = -log10 of the
/// probability that a heartbeat comes still later than now [Hayashibara04 §4]. Whoever suspects at
/// phi 1, 2, 3 is wrong about one gap in 10, 100, 1000, whatever the pace of the heartbeats.
///
/// The gaps are taken to be exponential with the mean of the last ones, which needs no measure of
/// their spread and forgives bursts of delay. Times are seconds of one clock that does not run
/// backwards.
class FailureDetector {
 public:
  /// `first_gap`: the mean that is assumed until gaps were seen, above 0; it counts as one of them.
  explicit FailureDetector(double first_gap, std::size_t window = 1000);

  /// A heartbeat came. Times before the last heartbeat's count as the last's.
  void beat(double now);

  /// 0 before the first heartbeat.
  double phi(double now) const;
  /// Seconds since the last heartbeat; 0 before the first.
  double silence(double now) const;

 private:
  std::size_t window_;
  std::deque<double> gaps_;
  double sum_ = 0;  // of gaps_
  double last_ = 0;
  bool has_beat_ = false;
};

}  // namespace weir
