// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/console.hpp>

#include <cstdio>
#include <string>

#include <unistd.h>

namespace weir::cli {

namespace {

constexpr std::chrono::milliseconds progress_interval{100};
constexpr std::string_view erase_line = "\r\033[K";

void write_to_stderr(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (count <= 0) return;  // nobody listens
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

Console::Console(Verbosity verbosity, bool shows_progress)
    : verbosity_(verbosity),
      shows_progress_(shows_progress && verbosity >= Verbosity::information &&
                      ::isatty(STDERR_FILENO) == 1) {}

Console::~Console() { end_progress(); }

void Console::error(std::string_view text) { line("weir: ", text); }

void Console::warn(std::string_view text) {
  if (verbosity_ >= Verbosity::warnings) line("weir: warning: ", text);
}

void Console::say(std::string_view text) {
  if (verbosity_ >= Verbosity::information) line("weir: ", text);
}

void Console::write(LogLevel level, std::string_view text) {
  switch (level) {
    case LogLevel::warning: return warn(text);
    case LogLevel::info: return say(text);
    case LogLevel::debug:
      if (verbosity_ >= Verbosity::debug) line("weir: debug: ", text);
  }
}

void Console::line(std::string_view prefix, std::string_view text) {
  std::string whole(prefix);
  for (const char c : text) whole += c == '\n' ? ' ' : c;  // an error is one line
  whole += '\n';
  const std::lock_guard lock(mutex_);
  erase_progress();
  write_to_stderr(whole);
}

void Console::progress(std::string_view text) {
  if (!shows_progress_) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_progress_) return;
  next_progress_ = now + progress_interval;
  has_progress_ = true;
  write_to_stderr(std::string(erase_line) + std::string(text));
}

void Console::end_progress() {
  const std::lock_guard lock(mutex_);
  erase_progress();
  next_progress_ = {};
}

void Console::erase_progress() {
  if (has_progress_) write_to_stderr(erase_line);
  has_progress_ = false;
}

}  // namespace weir::cli
