// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/interrupted_job.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <weir/engine/model/check.hpp>

namespace weir::simulation {

namespace {

constexpr std::int64_t most_failures = 100'000;
constexpr double never = std::numeric_limits<double>::infinity();

/// Times of failures in order, given ones and random ones.
class Failures {
 public:
  explicit Failures(const InterruptedJob& job)
      : given_(job.failures), mean_(job.mean_seconds_between_failures), random_(job.seed) {
    std::sort(given_.begin(), given_.end());
    draw();
  }

  double next() const { return std::min(at_ < given_.size() ? given_[at_] : never, next_random_); }
  void pop() {
    if (at_ < given_.size() && given_[at_] <= next_random_) {
      ++at_;
    } else {
      draw();
    }
  }

 private:
  void draw() {
    if (mean_ <= 0) return;
    constexpr double values = 9007199254740992.0;  // 2^53
    const double uniform = (static_cast<double>(random_() >> 11) + 0.5) / values;
    last_random_ -= mean_ * std::log(uniform);
    next_random_ = last_random_;
  }

  std::vector<double> given_;
  std::size_t at_ = 0;
  double mean_;
  double last_random_ = 0;
  double next_random_ = never;
  std::mt19937_64 random_;
};

void check(const InterruptedJob& job) {
  const auto is_amount = [](double value) { return std::isfinite(value) && value >= 0; };
  WEIR_EXPECT(job.num_iterations > 0 && is_amount(job.iteration_seconds) &&
                  job.snapshot_every >= 0 && is_amount(job.snapshot_seconds) &&
                  is_amount(job.restart_seconds) && is_amount(job.mean_seconds_between_failures) &&
                  std::all_of(job.failures.begin(), job.failures.end(), is_amount),
              usage, "job: found a number of iterations or of seconds that makes no sense");
}

}  // namespace

JobTime run(const InterruptedJob& job) {
  check(job);
  Failures failures(job);
  JobTime time;
  double now = 0;
  std::int64_t done = 0;
  std::int64_t saved = 0;
  // What was done since the last snapshot.
  double work = 0;
  const auto restart = [&] {
    const double failed = failures.next();
    time.lost += work + failed - now;
    work = 0;
    done = saved;
    do {
      WEIR_EXPECT(++time.num_failures <= most_failures, input,
                  "job: found " + std::to_string(most_failures) +
                      " failures before its end; expected fewer, or snapshots more often");
      now = failures.next() + job.restart_seconds;
      failures.pop();
    } while (failures.next() < now);
    time.restarts += now - failed;
  };
  /// Works or saves for so long, unless a failure comes before the end.
  const auto passes = [&](double seconds) {
    if (failures.next() < now + seconds) {
      restart();
      return false;
    }
    now += seconds;
    return true;
  };
  while (done < job.num_iterations) {
    if (!passes(job.iteration_seconds)) continue;
    work += job.iteration_seconds;
    ++done;
    const bool is_saved = job.snapshot_every > 0 && done % job.snapshot_every == 0;
    if (!is_saved || done == job.num_iterations) continue;
    if (!passes(job.snapshot_seconds)) continue;
    time.snapshots += job.snapshot_seconds;
    ++time.num_snapshots;
    time.work += work;
    work = 0;
    saved = done;
  }
  time.work += work;
  return time;
}

}  // namespace weir::simulation
