// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/supervisor.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/cli/descriptor.hpp>
#include <weir/cli/host_list.hpp>
#include <weir/cli/launch.hpp>
#include <weir/cli/owned_folder.hpp>
#include <weir/cli/processes.hpp>
#include <weir/cli/rank_monitor.hpp>
#include <weir/cli/supervised.hpp>
#include <weir/cli/verdict.hpp>

namespace weir::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int exit_failed = 1;
constexpr int exit_resumable = 75;
constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
constexpr std::chrono::milliseconds scan_interval{20};
/// What a launcher gets to end once its ranks have.
constexpr std::chrono::seconds launcher_grace{5};
/// Segments of shared memory come into being while MPI begins, and seldom later.
constexpr std::chrono::seconds usual_start{5};
constexpr std::chrono::seconds segments_interval{1};

double seconds_since(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

std::string name_of_signal(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

/// One start of the command, from fork to the last of its processes.
class Attempt {
 public:
  Attempt(const SuperviseOptions& options, const JobFolder& folder, int number, int signals)
      : command_(options.command),
        folder_(cleared(folder)),
        signals_(signals),
        launch_(options.command, folder, number),
        ranks_(folder, {options.heartbeat, options.hang}) {}
  ~Attempt() { end_all(); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  /// Waits until the job is over or has to be ended; nothing of it is left then. Nothing: the job
  /// ended by itself, or because it was told to.
  std::optional<Death> watch();

  int exit_code() const;
  const Launch& launch() const { return launch_; }
  const RankMonitor& ranks() const { return ranks_; }

  std::function<void()> on_computing;

 private:
  static const JobFolder& cleared(const JobFolder& folder);
  void wait_a_moment() const;
  void look();
  void look_for_segments();
  void add_segments();
  void take_signals();
  void pass_on(int signal);
  bool has_verdict();
  Death death_of_launcher() const;
  std::optional<Death> why_ended(bool is_decided);
  bool is_past_grace(bool is_decided);
  void end_all();

  const std::vector<std::string>& command_;
  const JobFolder& folder_;
  int signals_;
  Launch launch_;
  RankMonitor ranks_;
  std::set<std::string> segments_;
  Clock::time_point started_at_ = Clock::now();
  Clock::time_point next_segments_{};
  std::optional<Clock::time_point> grace_end_;
  std::optional<JobRecord> record_;
  bool is_stopping_ = false;
  int last_signal_ = 0;
};

const JobFolder& Attempt::cleared(const JobFolder& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(), error)) {
    if (entry.path() != folder.lock()) std::filesystem::remove_all(entry.path(), error);
  }
  return folder;
}

void Attempt::wait_a_moment() const {
  std::vector<pollfd> events{{signals_, POLLIN, 0}, {launch_.handle(), POLLIN, 0}};
  for (const int handle : ranks_.handles()) events.push_back({handle, POLLIN, 0});
  (void)::poll(events.data(), events.size(), static_cast<int>(scan_interval.count()));
}

void Attempt::look() {
  const bool was_computing = ranks_.computing_since().has_value();
  ranks_.scan();
  look_for_segments();
  if (!was_computing && ranks_.computing_since() && on_computing) on_computing();
}

/// Of all that descends from here, since a rank has no page before MPI has begun.
void Attempt::look_for_segments() {
  const auto now = Clock::now();
  const bool is_starting = !ranks_.computing_since() && now < started_at_ + usual_start;
  if (!is_starting && now < next_segments_) return;
  next_segments_ = now + segments_interval;
  add_segments();
}

void Attempt::add_segments() {
  std::set<std::string> added;
  for (const pid_t each : descendants_of(::getpid())) {
    for (const std::string& segment : mpi_segments_of(each)) {
      if (segments_.insert(segment).second) added.insert(segment);
    }
  }
  if (!added.empty()) folder_.note_segments(added);
}

void Attempt::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    pass_on(static_cast<int>(info.ssi_signo));
  }
}

/// To the ranks themselves where all are here: Open MPI's mpirun waits a second before it passes
/// on, and kills a second later, whether they have written their snapshots or not.
void Attempt::pass_on(int signal) {
  const bool is_end = signal != SIGUSR1;
  if (is_end && is_stopping_) {  // for the second time
    end_all();
    return;
  }
  const bool is_all_here = ranks_.are_all_here();
  if (is_end) {
    is_stopping_ = true;
    last_signal_ = signal;
    if (!is_all_here) grace_end_ = Clock::now() + launcher_grace;
  }
  if (is_all_here) {
    ranks_.signal(signal);
  } else {
    launch_.signal(signal);
  }
}

bool Attempt::has_verdict() {
  if (!record_) record_ = folder_.read_record();
  if (!record_) return false;
  // Ranks that miss another one, or that a launcher tells to end because another one is gone, have
  // come to no verdict.
  if (record_->kind == "communication") return false;
  if (record_->kind == "cancelled") return is_stopping_ || record_->exit_code == exit_resumable;
  return true;
}

Death Attempt::death_of_launcher() const {
  Death death;
  death.superstep = ranks_.furthest();
  const int status = launch_.status();
  const std::string& name = command_.front();
  if (WIFSIGNALED(status)) {
    death.what = name + " was ended by " + name_of_signal(WTERMSIG(status));
  } else if (record_) {
    death.what = "the job failed: " + record_->error;
  } else {
    death.what = name + " ended with code " + std::to_string(WEXITSTATUS(status)) +
                 ", and the job without a result";
  }
  return death;
}

/// Once the launcher has ended.
std::optional<Death> Attempt::why_ended(bool is_decided) {
  // What a launcher that was killed had yet to pass on of the results is lost.
  const bool was_killed = WIFSIGNALED(launch_.status());
  if (is_stopping_ || (is_decided && !was_killed)) return std::nullopt;
  const auto death = ranks_.find_death(true);
  return death ? death : death_of_launcher();
}

/// Whether a launcher has not ended long after it should have.
bool Attempt::is_past_grace(bool is_decided) {
  if (!grace_end_ && (is_decided || ranks_.have_all_ended()))
    grace_end_ = Clock::now() + launcher_grace;
  return grace_end_ && Clock::now() > *grace_end_;
}

std::optional<Death> Attempt::watch() {
  for (;;) {
    wait_a_moment();
    take_signals();
    look();
    const bool has_ended = launch_.has_ended();
    const bool is_decided = has_verdict();
    std::optional<Death> death;
    if (has_ended) {
      death = why_ended(is_decided);
      end_all();
      return death;
    }
    if (!is_decided && !is_stopping_) {
      death = ranks_.find_death(false);
      if (!death) death = ranks_.find_hang();
    }
    if (death && !has_verdict()) {
      end_all();
      return death;
    }
    if (!is_past_grace(is_decided)) continue;
    end_all();
    if (is_decided || is_stopping_) return std::nullopt;
    return Death{.what = "the job ended without a result, and " + command_.front() + " did not end",
                 .superstep = ranks_.furthest()};
  }
}

void Attempt::end_all() {
  add_segments();
  launch_.kill();
  kill_descendants();
  folder_.remove_temporaries();
  remove_unused_segments(segments_);
  segments_.clear();
}

int Attempt::exit_code() const {
  if (record_) return record_->exit_code;
  const int status = launch_.status();
  if (is_stopping_) return 128 + last_signal_;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void say_stack(Console& console, const Death& death) {
  std::istringstream lines(death.stack);
  for (std::string line; std::getline(lines, line);) console.error("  " + line);
}

Descriptor watch_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : passed_on) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) ::sigaddset(&set, signal);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Sleeps unless a signal comes; returns the signal, 0 without one.
int sleep_for(double seconds, int signals) {
  pollfd event{signals, POLLIN, 0};
  if (::poll(&event, 1, static_cast<int>(seconds * 1000)) <= 0) return 0;
  signalfd_siginfo info{};
  if (::read(signals, &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Counts deaths by host, and leaves out of the command those that had too many.
class HostCount {
 public:
  explicit HostCount(int most) : most_(most) {}

  /// `command`: what is started next.
  void add(const std::string& host, std::vector<std::string>& command, Console& console) {
    if (most_ == 0 || host.empty() || ++num_deaths_[host] != most_) return;
    const std::string times = std::to_string(most_) + (most_ == 1 ? " time" : " times");
    if (auto without = without_host(command, host, read_text)) {
      command = std::move(*without);
      std::string line;
      for (const std::string& word : command) line += ' ' + word;
      console.say("host " + host + " failed " + times + " and is left out:" + line);
    } else {
      console.say("host " + host + " failed " + times +
                  "; the command names no other hosts to go on with");
    }
  }

 private:
  int most_;
  std::map<std::string, int> num_deaths_;
};

/// What a supervisor remembers from one start of the job to the next.
class Supervisor {
 public:
  Supervisor(const SuperviseOptions& options, Console& console, int signals)
      : options_(options),
        console_(console),
        signals_(signals),
        hosts_(options.drop_host),
        backoff_(options.backoff) {}

  int run();

 private:
  bool gives_up(const Death& death, bool has_progress, int number);

  SuperviseOptions options_;  // the command may become another
  Console& console_;
  int signals_;
  OwnedFolder folder_;
  Poison poison_;
  HostCount hosts_;
  double backoff_;
  Superstep furthest_ = -1;
};

int Supervisor::run() {
  std::optional<Clock::time_point> died_at;
  for (int number = 0;; ++number) {
    Attempt attempt(options_, folder_.get(), number, signals_);
    attempt.on_computing = [&] {
      if (died_at)
        console_.say("computing again " + text_of_seconds(seconds_since(*died_at)) +
                     " after the death");
    };
    const std::optional<Death> death = attempt.watch();
    if (!death) {
      attempt.launch().release_stdout();
      return attempt.exit_code();
    }
    died_at = death->at;
    const bool has_progress = attempt.ranks().furthest() > furthest_;
    furthest_ = std::max(furthest_, attempt.ranks().furthest());
    if (gives_up(*death, has_progress, number)) return exit_failed;
    backoff_ = has_progress ? options_.backoff : std::min(options_.longest_backoff, backoff_ * 2);
    console_.say(death->what + place_of(*death) + "; starting again (" +
                 std::to_string(number + 1) + " of " + std::to_string(options_.max_restarts) +
                 ") after " + text_of_seconds(backoff_));
    say_stack(console_, *death);
    hosts_.add(death->host, options_.command, console_);
    const int signal = sleep_for(backoff_, signals_);
    if (signal != 0 && signal != SIGUSR1) return 128 + signal;
  }
}

bool Supervisor::gives_up(const Death& death, bool has_progress, int number) {
  const std::string what = death.what + place_of(death);
  if (poison_.add(death, has_progress)) {
    console_.error(what + ", " + std::to_string(poison_.num()) +
                   " times in a row without progress; given up" +
                   (death.stack.empty() ? "" : "; its stack:"));
  } else if (number == options_.max_restarts) {
    console_.error(what + " after " + std::to_string(number) + " restarts; given up");
  } else {
    return false;
  }
  say_stack(console_, death);
  return true;
}

}  // namespace

int supervise(const SuperviseOptions& options, Console& console) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGPIPE, SIG_IGN);
  const Descriptor signals = watch_signals();
  clear_abandoned();
  return Supervisor(options, console, signals.get()).run();
}

}  // namespace weir::cli
