// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/signals.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include <weir/cli/supervised.hpp>
#include <weir/engine/runtime/launcher.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int suspending[] = {SIGTERM, SIGUSR1};
constexpr int exit_failed = 1;
constexpr std::chrono::milliseconds poll_interval{20};
/// Less than launchers wait between SIGTERM and SIGKILL (Open MPI: one second).
constexpr std::chrono::milliseconds grace{700};
/// Open MPI's mpirun, told to stop, closes the standard input of rank 0 and sends SIGCONT at once,
/// but SIGTERM only a second later.
constexpr std::chrono::milliseconds longest_announcement{2000};

using Clock = std::chrono::steady_clock;

// A signal handler reaches nothing but globals.
std::atomic<int> received_signal{0};
std::atomic<Clock::rep> continued_at{0};  // 0: never
const CancelToken* active_token = nullptr;
const CancelToken* stop_token = nullptr;  // null: no signal suspends
std::mutex outputs_mutex;
std::vector<std::string> outputs;

void handle(int signal) {
  received_signal.store(signal);
  if (active_token != nullptr) active_token->cancel();
}

void suspend(int signal) {
  received_signal.store(signal);
  const bool is_first = stop_token != nullptr && !stop_token->is_cancelled();
  if (is_first) {
    stop_token->cancel();
  } else if (active_token != nullptr) {
    active_token->cancel();
  }
}

void note_continuation(int /*signal*/) {
  continued_at.store(Clock::now().time_since_epoch().count());
}

/// What io::OutputFile left: `NAME.weir-PID-NUMBER` beside the file.
void remove_temporaries() {
  const std::lock_guard lock(outputs_mutex);
  for (const std::string& output : outputs) {
    std::error_code error;
    const auto target = std::filesystem::absolute(io::output_target(output), error);
    const std::string prefix = target.filename().string() + ".weir-" + std::to_string(::getpid());
    for (std::filesystem::directory_iterator at(target.parent_path(), error), end;
         !error && at != end; at.increment(error)) {
      const bool is_ours = at->path().filename().string().starts_with(prefix + '-');
      if (is_ours) (void)::unlink(at->path().c_str());
    }
  }
}

}  // namespace

SignalWatch::SignalWatch(bool is_speaker, bool suspends)
    : is_speaker_(is_speaker), suspends_(suspends) {
  active_token = &cancel_;
  stop_token = suspends ? &stop_ : nullptr;
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (const int signal : watched) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    // What nohup or a shell ignores for its background jobs stays ignored.
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
  action.sa_handler = suspend;
  if (suspends_) {
    for (const int signal : suspending) ::sigaction(signal, &action, nullptr);
  }
  if (is_launched_by_mpi()) {
    action.sa_handler = note_continuation;
    ::sigaction(SIGCONT, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over its limit is an error of the write
  watcher_ = std::thread([this] { watch(); });
}

SignalWatch::~SignalWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wakes_.notify_one();
  watcher_.join();
  for (const int signal : watched) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == handle) std::signal(signal, SIG_DFL);
  }
  if (suspends_) {
    for (const int signal : suspending) std::signal(signal, SIG_DFL);
  }
  std::signal(SIGCONT, SIG_DFL);
  active_token = nullptr;
  stop_token = nullptr;
}

bool SignalWatch::is_suspended() {
  return stop_token != nullptr && stop_token->is_cancelled() && !active_token->is_cancelled();
}

std::string SignalWatch::received() {
  switch (received_signal.load()) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGHUP: return "SIGHUP";
    case SIGUSR1: return "SIGUSR1";
    default: return {};
  }
}

void SignalWatch::settle() {
  const Clock::rep since = continued_at.load();
  if (since == 0) return;
  const Clock::time_point end = Clock::time_point(Clock::duration(since)) + longest_announcement;
  while (received_signal.load() == 0 && Clock::now() < end)
    std::this_thread::sleep_for(poll_interval);
}

void SignalWatch::will_write(const std::string& path) {
  if (const auto folder = JobFolder::of_environment()) folder->note_output(path);
  const std::lock_guard lock(outputs_mutex);
  outputs.push_back(path);
}

void SignalWatch::watch() {
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds since_signal{0};
  while (!wakes_.wait_for(lock, poll_interval, [&] { return is_over_; })) {
    if (received_signal == 0 || (suspends_ && !cancel_.is_cancelled())) continue;
    since_signal += poll_interval;
    if (since_signal >= grace) end_by_force();
  }
}

void SignalWatch::end_by_force() const {
  remove_temporaries();
  const std::string text = "weir: stopped by " + received() + "\n";
  if (is_speaker_) (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_failed);
}

}  // namespace weir::cli
