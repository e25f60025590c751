// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <weir/engine/superstep/options.hpp>

namespace weir::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into a cancel token while it lives, and ignores SIGPIPE, so
/// that a closed pipe is a write error.
///
/// Of a job that can be suspended, SIGTERM and SIGUSR1 set a stop token instead the first time, and
/// nothing is ended by force after them.
///
/// When the job has not ended in order soon after the signal (it waits for a rank that is gone,
/// say), the process is ended by force, without leaving a temporary file. One at a time.
class SignalWatch {
 public:
  /// `is_speaker`: says so when it ends the process.
  SignalWatch(bool is_speaker, bool suspends);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  const CancelToken& cancel() const { return cancel_; }
  const CancelToken& stop() const { return stop_; }

  /// Whether the stop token was pulled, here or by another rank, and nothing else.
  static bool is_suspended();

  /// Name of the signal that came, e.g. "SIGTERM"; empty without one.
  static std::string received();

  /// Returns at once unless the launcher has said that it may be about to stop this rank: then when
  /// the signal is here, or when it is too late for it. To be called before half of an input could
  /// be taken for all of it, or a result be given its name.
  static void settle();

  /// Temporary files of this output are removed when the process is ended by force.
  static void will_write(const std::string& path);

 private:
  void watch();
  [[noreturn]] void end_by_force() const;

  CancelToken cancel_;
  CancelToken stop_;
  bool is_speaker_;
  bool suspends_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool is_over_ = false;
  std::thread watcher_;
};

}  // namespace weir::cli
