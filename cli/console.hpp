// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <string_view>

#include <weir/engine/runtime/log.hpp>

namespace weir::cli {

/// How much is said on stderr.
enum class Verbosity { errors, warnings, information, debug };

/// Lines on stderr, each with `weir: ` before it, and on a terminal one progress line that is
/// rewritten. Every line is one write, so that lines of several processes do not mix. Thread-safe.
class Console final : public LogSink {
 public:
  /// `shows_progress`: of this process, when stderr is a terminal.
  Console(Verbosity verbosity, bool shows_progress);
  ~Console() override;

  void error(std::string_view text);
  void warn(std::string_view text);
  void say(std::string_view text);
  void write(LogLevel level, std::string_view text) override;

  /// Replaces the progress line, ten times a second at most.
  void progress(std::string_view text);
  void end_progress();

 private:
  void line(std::string_view prefix, std::string_view text);
  void erase_progress();

  Verbosity verbosity_;
  bool shows_progress_;
  std::mutex mutex_;
  bool has_progress_ = false;
  std::chrono::steady_clock::time_point next_progress_{};
};

}  // namespace weir::cli
