// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include <weir/engine/runtime/float_environment.hpp>
#include <weir/engine/runtime/team.hpp>

namespace weir::detail {

namespace {

/// Hands out ascending runs of indices: short ones, and single ones towards the end, so that a slow
/// body keeps nobody waiting.
class Loop {
 public:
  Loop(std::size_t count, std::size_t num_threads, const std::function<void(std::size_t)>& body)
      : count_(count), num_threads_(num_threads), body_(body) {}

  /// Works until nothing is left.
  void work() {
    const FloatEnvironment environment;
    for (;;) {
      const std::size_t left = count_ - std::min(count_, next_.load(std::memory_order_relaxed));
      const std::size_t run = std::clamp<std::size_t>(left / (num_threads_ * 16), 1, 16);
      const std::size_t first = next_.fetch_add(run, std::memory_order_relaxed);
      if (first >= count_) break;
      for (std::size_t i = first; i < std::min(count_, first + run); ++i) call(i);
    }
  }

  void rethrow() {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  void call(std::size_t i) {
    if (i > smallest_failed_.load(std::memory_order_relaxed)) return;
    try {
      body_(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (i >= smallest_failed_.load(std::memory_order_relaxed)) return;
      smallest_failed_.store(i, std::memory_order_relaxed);
      exception_ = std::current_exception();
    }
  }

  std::size_t count_;
  std::size_t num_threads_;
  const std::function<void(std::size_t)>& body_;
  alignas(64) std::atomic<std::size_t> next_{0};
  alignas(64) std::atomic<std::size_t> smallest_failed_{~std::size_t{0}};
  std::mutex mutex_;
  std::exception_ptr exception_;
};

}  // namespace

struct Arena::Threads {
  explicit Threads(int count) : num_threads(static_cast<std::size_t>(count)), team(count) {}
  std::size_t num_threads;
  Team team;
};

Arena::Arena(int num_threads) {
  if (num_threads > 1) threads_ = std::make_unique<Threads>(num_threads);
}

Arena::~Arena() = default;

void Arena::run(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (!threads_ || count <= 1) {
    const FloatEnvironment environment;
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  const std::size_t num_workers = std::min(threads_->num_threads, count);
  Loop loop(count, num_workers, body);
  threads_->team.run(num_workers, [&] { loop.work(); });
  loop.rethrow();
}

}  // namespace weir::detail
