// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace weir {

/// Buffers that the threads of a rank take and give back, so that they are as many as the threads
/// and keep their memory.
template <class T>
class Pool {
 public:
  T take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    T buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give(T buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;
  std::vector<T> free_;
};

}  // namespace weir
