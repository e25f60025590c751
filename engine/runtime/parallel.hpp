// SPDX-License-Identifier: Apache-2.0
// The threads of one rank; private to the runtime's sources.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace weir::detail {

/// `num_threads` threads, the calling one included; with one, nothing is ever started.
class Arena {
 public:
  explicit Arena(int num_threads);
  ~Arena();

  /// Calls body(i) for i in [0, count) in roughly ascending order. When bodies threw, the exception
  /// of the smallest i is rethrown; those beyond it may not have been called.
  void run(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace weir::detail
