// SPDX-License-Identifier: Apache-2.0
// Runs one piece of work on several threads; private to parallel.cpp. TBB, or plain threads under
// the thread sanitizer, which does not see what the TBB library orders and would hide or invent
// races.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>

#if defined(__SANITIZE_THREAD__)
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
#else
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#endif

namespace weir::detail {

#if defined(__SANITIZE_THREAD__)

class Team {
 public:
  explicit Team(int num_threads) : num_threads_(static_cast<std::size_t>(num_threads)) {}

  ~Team() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    has_work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Calls work() on this thread and on up to `num_workers` - 1 others, at least once in all.
  void run(std::size_t num_workers, const std::function<void()>& work) {
    if (is_busy_.exchange(true)) {  // a loop within a loop
      work();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      while (threads_.size() + 1 < num_threads_) threads_.emplace_back([this] { serve(); });
      work_ = &work;
      num_wanted_ = num_workers - 1;
    }
    has_work_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    work_ = nullptr;
    is_done_.wait(lock, [&] { return num_active_ == 0; });
    is_busy_ = false;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      has_work_.wait(lock, [&] { return is_over_ || (work_ && num_wanted_ > 0); });
      if (is_over_) return;
      const auto* const work = work_;
      --num_wanted_;
      ++num_active_;
      lock.unlock();
      (*work)();
      lock.lock();
      --num_active_;
      is_done_.notify_one();
    }
  }

  std::size_t num_threads_;
  std::atomic<bool> is_busy_{false};
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable is_done_;
  std::vector<std::thread> threads_;
  const std::function<void()>* work_ = nullptr;
  std::size_t num_wanted_ = 0;
  std::size_t num_active_ = 0;
  bool is_over_ = false;
};

#else

class Team {
 public:
  explicit Team(int num_threads) : more_(num_threads), arena_(MoreThreads::allowed(num_threads)) {}

  /// Calls work() on this thread and on up to `num_workers` - 1 others, at least once in all.
  void run(std::size_t num_workers, const std::function<void()>& work) {
    arena_.execute([&] {
      tbb::parallel_for(
          std::size_t{0}, num_workers, [&](std::size_t) { work(); }, tbb::simple_partitioner{});
    });
  }

 private:
  /// TBB starts no more threads in a process than there are cores, unless it is told to. The
  /// control tells it; an application's own, smaller limit stands.
  class MoreThreads {
   public:
    explicit MoreThreads(int count) {
      if (count > tbb::info::default_concurrency()) control_.emplace(parameter, to_size(count));
    }
    /// How many of `count` threads there may be.
    static int allowed(int count) {
      return static_cast<int>(
          std::min(to_size(count), tbb::global_control::active_value(parameter)));
    }

   private:
    static constexpr auto parameter = tbb::global_control::max_allowed_parallelism;
    static std::size_t to_size(int count) { return static_cast<std::size_t>(count); }
    std::optional<tbb::global_control> control_;
  };

  MoreThreads more_;
  tbb::task_arena arena_;
};

#endif

}  // namespace weir::detail
