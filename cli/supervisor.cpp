// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/supervisor.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/cli/processes.hpp>
#include <weir/cli/supervised.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/resilience/failure_detector.hpp>
#include <weir/engine/runtime/launcher.hpp>

namespace weir::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* folder_stem = "weir-supervise-";
constexpr int exit_failed = 1;
constexpr int exit_resumable = 75;
constexpr int exit_not_started = 127;
constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
constexpr std::chrono::milliseconds scan_interval{20};
constexpr std::chrono::seconds segments_interval{1};
constexpr std::chrono::milliseconds time_to_die_together{20};
constexpr std::chrono::milliseconds time_to_answer{500};
/// What a launcher gets to end once its ranks have.
constexpr std::chrono::seconds launcher_grace{5};
/// Of heartbeats, a fifth of a second apart; wrong about one in 10^8 gaps if they were exponential.
constexpr double suspicious_phi = 8;
constexpr double beat_seconds = 0.2;
/// Deaths in a row at one place before it is given up: in a superstep, and before the first.
constexpr int most_deaths_in_superstep = 2;
constexpr int most_deaths_before = 3;

double seconds_of(Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string with_digits(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string name_of_signal(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

/// A handle of a process, readable once it has ended; -1 when there is none. By number: the header
/// of glibc 2.36 has no C linkage.
int open_process(pid_t process) { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// The folder of the job, locked while the supervisor lives and removed at its end.
class OwnedFolder {
 public:
  OwnedFolder() : folder_(make()) {
    lock_ = Descriptor(::open(folder_.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    WEIR_EXPECT(lock_.is_open() && ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0, output,
                folder_.path().string() + ": cannot lock");
  }
  ~OwnedFolder() {
    std::error_code error;
    std::filesystem::remove_all(folder_.path(), error);
  }
  OwnedFolder(const OwnedFolder&) = delete;
  OwnedFolder& operator=(const OwnedFolder&) = delete;

  const JobFolder& get() const { return folder_; }

 private:
  static JobFolder make() {
    std::error_code error;
    std::string name =
        (std::filesystem::temp_directory_path(error) / folder_stem).string() + "XXXXXX";
    WEIR_EXPECT(::mkdtemp(name.data()) != nullptr, output, name + ": cannot create the folder");
    return JobFolder(name);
  }

  JobFolder folder_;
  Descriptor lock_;
};

/// What jobs of supervisors that were killed left behind, ranks that were stopped included.
void clear_abandoned() {
  std::error_code error;
  for (std::filesystem::directory_iterator at(std::filesystem::temp_directory_path(error), error),
       end;
       !error && at != end; at.increment(error)) {
    struct stat status {};
    if (!at->path().filename().string().starts_with(folder_stem)) continue;
    if (::lstat(at->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    const JobFolder folder(at->path());
    // Without a lock it is being made or removed.
    if (status.st_uid != ::getuid() || !std::filesystem::exists(folder.lock(), error)) continue;
    if (!folder.is_abandoned()) continue;
    std::set<std::string> segments;
    for (const pid_t each :
         processes_with(std::string(result_file_variable) + '=' + folder.result().string())) {
      segments.merge(mpi_segments_of(each));
      ::kill(each, SIGKILL);
    }
    folder.remove_temporaries();
    remove_unused_segments(segments);
    std::error_code ignored;
    std::filesystem::remove_all(folder.path(), ignored);
  }
}

/// How one start of the job ended, where not by the job's own verdict.
struct Death {
  std::string what;
  std::optional<Rank> rank{};
  /// False where several died at once: the rank is a guess then.
  bool is_rank_certain = true;
  Superstep superstep = -1;  ///< the rank's; where that is not certain, the furthest
  std::string stack{};
  Clock::time_point at = Clock::now();
};

/// A rank as it shows itself.
struct Watched {
  Heartbeat heartbeat;
  bool is_local;
  Descriptor process;  // readable once it has ended
  FailureDetector detector{beat_seconds};
  std::uint64_t num_beats = 0;
  std::uint64_t num_moves = 0;
  Clock::time_point moved_at = Clock::now();
  bool has_ended = false;
  Clock::time_point ended_at{};

  HeartbeatPage& page() const { return heartbeat.page(); }
  Rank rank() const { return page().rank; }
  bool is_over() const { return page().is_over.load() != 0; }
  Superstep superstep() const { return page().superstep.load(); }
};

/// One start of the command, from fork to the last of its processes.
class Attempt {
 public:
  Attempt(const SuperviseOptions& options, const JobFolder& folder, int number, int signals)
      : options_(options), folder_(folder), signals_(signals) {
    clear_folder();
    stdout_ = make_stdout();
    start(number);
  }
  ~Attempt() { end_all(); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  /// Waits until the job is over or has to be ended; nothing of it is left then. Nothing: the job
  /// ended by itself, or because it was told to.
  std::optional<Death> watch();

  int exit_code() const;
  bool was_stopped() const { return is_stopping_; }
  /// Copies what the job wrote to stdout.
  void release_stdout() const;
  /// When a rank began its first superstep, and the furthest that one came to.
  std::optional<Clock::time_point> computing_since() const { return computing_since_; }
  Superstep furthest() const { return furthest_; }
  const std::optional<JobRecord>& record() const { return record_; }

  std::function<void()> on_computing;

 private:
  void clear_folder() const;
  Descriptor make_stdout() const;
  void start(int number);
  [[noreturn]] void become_command(int number, int failure) const;
  void wait_a_moment();
  void scan();
  void take_signals();
  void pass_on(int signal);
  bool has_verdict();
  void note_ended();
  std::optional<Death> find_death() const;
  std::optional<Death> find_hang();
  std::string stack_of(const Watched& watched) const;
  Death hang_of(const Watched& watched, const std::string& what) const;
  std::optional<Death> death_of_launcher() const;
  bool reap_launcher();
  void end_all();

  const SuperviseOptions& options_;
  const JobFolder& folder_;
  int signals_;
  Descriptor stdout_;
  pid_t launcher_ = -1;
  Descriptor launcher_process_;
  std::optional<int> launcher_status_;
  std::vector<Watched> ranks_;
  std::set<std::string> segments_;
  Clock::time_point next_segments_{};
  std::optional<Clock::time_point> computing_since_;
  std::optional<Clock::time_point> grace_end_;
  Clock::time_point last_scan_ = Clock::now();
  Superstep furthest_ = -1;
  std::optional<Clock::time_point> dead_since_;
  std::optional<JobRecord> record_;
  bool is_stopping_ = false;
  int last_signal_ = 0;
};

void Attempt::clear_folder() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path(), error)) {
    if (entry.path() != folder_.lock()) std::filesystem::remove_all(entry.path(), error);
  }
}

/// A file without a name, so that it goes with the process.
Descriptor Attempt::make_stdout() const {
  Descriptor file(::open(folder_.path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  const std::string name = (folder_.path() / "stdout").string();
  file = Descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  WEIR_EXPECT(file.is_open(), output, name + ": cannot create");
  (void)::unlink(name.c_str());
  return file;
}

void Attempt::start(int number) {
  int failure[2] = {-1, -1};
  WEIR_EXPECT(::pipe2(failure, O_CLOEXEC) == 0, output, "weir supervise: no pipe can be made");
  const Descriptor read_end(failure[0]);
  Descriptor write_end(failure[1]);  // closed by exec
  const pid_t parent = ::getpid();
  launcher_ = ::fork();
  WEIR_EXPECT(launcher_ >= 0, output, "weir supervise: no process can be made");
  if (launcher_ == 0) {
    // The launcher dies with the supervisor, and its ranks see that the lock is free.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(exit_not_started);
    ::setpgid(0, 0);
    become_command(number, write_end.get());
  }
  ::setpgid(launcher_, launcher_);
  write_end = Descriptor();
  int number_of_error = 0;
  WEIR_EXPECT(::read(read_end.get(), &number_of_error, sizeof number_of_error) <= 0, usage,
              options_.command.front() + ": cannot start: " + std::strerror(number_of_error));
  launcher_process_ = Descriptor(open_process(launcher_));
}

/// Writes errno to `failure` when it cannot.
void Attempt::become_command(int number, int failure) const {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  const int empty = ::open("/dev/null", O_RDONLY);
  ::dup2(empty, STDIN_FILENO);
  ::dup2(stdout_.get(), STDOUT_FILENO);
  ::setenv(result_file_variable, folder_.result().c_str(), 1);
  ::setenv(restart_variable, std::to_string(number).c_str(), 1);
  // Open MPI's session lies in the folder, and goes with it where mpirun is killed.
  ::setenv("OMPI_MCA_orte_tmpdir_base", folder_.path().c_str(), 0);
  std::vector<char*> words;
  for (const std::string& word : options_.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(exit_not_started);
}

void Attempt::wait_a_moment() {
  std::vector<pollfd> events{{signals_, POLLIN, 0}};
  if (!launcher_status_) events.push_back({launcher_process_.get(), POLLIN, 0});
  for (const Watched& each : ranks_) {
    if (each.process.is_open() && !each.has_ended)
      events.push_back({each.process.get(), POLLIN, 0});
  }
  (void)::poll(events.data(), events.size(), static_cast<int>(scan_interval.count()));
}

void Attempt::scan() {
  const auto now = Clock::now();
  // A supervisor that did not run itself has seen nobody's silence.
  const bool was_away = now - last_scan_ > std::chrono::seconds(1);
  last_scan_ = now;
  for (Rank r = static_cast<Rank>(ranks_.size()); ranks_.empty() || r < ranks_.front().page().size;
       ++r) {
    auto heartbeat = Heartbeat::open(folder_.heartbeat(r));
    if (!heartbeat) break;
    const bool is_local = heartbeat->page().host == host_name();
    Descriptor process(is_local ? open_process(heartbeat->page().pid) : -1);
    ranks_.push_back({std::move(*heartbeat), is_local, std::move(process)});
  }
  for (Watched& each : ranks_) {
    const std::uint64_t beats = each.page().num_beats.load();
    const std::uint64_t moves = each.page().num_moves.load();
    if (beats != each.num_beats || was_away) each.detector.beat(seconds_of(now));
    if (moves != each.num_moves || was_away) each.moved_at = now;
    each.num_beats = beats;
    each.num_moves = moves;
    furthest_ = std::max(furthest_, each.page().furthest.load());
  }
  if (!computing_since_ && furthest_ >= 0) {
    computing_since_ = now;
    next_segments_ = now;
  }
  if (now >= next_segments_ && !ranks_.empty()) {
    next_segments_ = now + segments_interval;
    for (const Watched& each : ranks_) {
      if (each.is_local) segments_.merge(mpi_segments_of(each.page().pid));
    }
  }
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
  const bool is_all_here =
      !ranks_.empty() && static_cast<Rank>(ranks_.size()) == ranks_.front().page().size &&
      std::all_of(ranks_.begin(), ranks_.end(), [](const Watched& each) { return each.is_local; });
  if (is_end) {
    is_stopping_ = true;
    last_signal_ = signal;
    if (!is_all_here) grace_end_ = Clock::now() + launcher_grace;
  }
  if (!is_all_here) {
    ::kill(launcher_, signal);
    return;
  }
  std::set<pid_t> told;
  for (const Watched& each : ranks_) {
    if (each.is_over() || !told.insert(each.page().pid).second) continue;
    (void)::syscall(SYS_pidfd_send_signal, each.process.get(), signal, nullptr, 0);
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

bool Attempt::reap_launcher() {
  if (launcher_status_) return true;
  int status = 0;
  if (::waitpid(launcher_, &status, WNOHANG) == launcher_) launcher_status_ = status;
  // Orphans that ended.
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    if (info.si_pid == launcher_) {
      if (::waitpid(launcher_, &status, WNOHANG) == launcher_) launcher_status_ = status;
    } else {
      (void)::waitpid(info.si_pid, nullptr, WNOHANG);
    }
  }
  return launcher_status_.has_value();
}

void Attempt::note_ended() {
  const auto now = Clock::now();
  for (Watched& each : ranks_) {
    if (each.has_ended || !each.is_local) continue;
    pollfd event{each.process.get(), POLLIN, 0};
    // Without a handle it had ended before it could be had.
    if (each.process.is_open() && ::poll(&event, 1, 0) <= 0) continue;
    each.has_ended = true;
    each.ended_at = now;
    if (!each.is_over() && !dead_since_) dead_since_ = now;
  }
}

/// Hydra kills all ranks at once when one closes its sockets, which may be over sooner than the
/// death of that one. So the dead are looked at together: the first to die is who wrote a stack,
/// else most likely who was seen first, and of several who has not moved for longest.
std::optional<Death> Attempt::find_death() const {
  if (!dead_since_ || is_stopping_) return std::nullopt;
  if (!launcher_status_ && Clock::now() < *dead_since_ + time_to_die_together) return std::nullopt;
  std::vector<const Watched*> dead;
  Superstep superstep = -1;
  for (const Watched& each : ranks_) {
    if (each.has_ended && !each.is_over()) dead.push_back(&each);
    superstep = std::max(superstep, each.superstep());
  }
  const auto order = [](const Watched* each) {
    return std::tuple(each->page().has_crashed.load() == 0, each->ended_at,
                      each->page().moved_at.load());
  };
  const Watched& first =
      **std::min_element(dead.begin(), dead.end(),
                         [&](const Watched* a, const Watched* b) { return order(a) < order(b); });
  const bool is_certain = dead.size() == 1 || first.page().has_crashed.load() != 0;
  return Death{"rank " + std::to_string(first.rank()) + (is_certain ? "" : " (it seems)") + " died",
               first.rank(),
               is_certain,
               is_certain ? first.superstep() : superstep,
               read_text(folder_.stack(first.rank())),
               *dead_since_};
}

/// The rank is asked first, which takes no debugger; but it must be running to answer.
std::string Attempt::stack_of(const Watched& watched) const {
  const std::uint32_t before = watched.page().num_stacks.load();
  (void)::syscall(SYS_pidfd_send_signal, watched.process.get(), stack_signal, nullptr, 0);
  const auto end = Clock::now() + time_to_answer;
  while (watched.page().num_stacks.load() == before) {
    if (Clock::now() > end) return stacks_of(watched.page().pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return read_text(folder_.stack(watched.rank()));
}

Death Attempt::hang_of(const Watched& watched, const std::string& what) const {
  Death death;
  death.rank = watched.rank();
  death.superstep = watched.superstep();
  death.what = "rank " + std::to_string(watched.rank()) + what;
  if (watched.is_local) death.stack = stack_of(watched);
  return death;
}

std::optional<Death> Attempt::find_hang() {
  if (is_stopping_) return std::nullopt;
  const auto now = Clock::now();
  for (const Watched& each : ranks_) {
    if (each.is_over() || options_.heartbeat <= 0) continue;
    const double silence = each.detector.silence(seconds_of(now));
    if (silence < options_.heartbeat || each.detector.phi(seconds_of(now)) < suspicious_phi)
      continue;
    return hang_of(each, " has been silent for " + with_digits(silence));
  }
  const auto is_still = [&](const Watched& each) {
    return std::chrono::duration<double>(now - each.moved_at).count() > options_.hang;
  };
  // All still: they compute; nobody waits for anybody.
  if (options_.hang <= 0 || std::all_of(ranks_.begin(), ranks_.end(), is_still))
    return std::nullopt;
  for (const Watched& each : ranks_) {
    if (each.is_over() || each.superstep() < 0 || !is_still(each)) continue;
    return hang_of(each, " is stuck: it has moved nothing for " + with_digits(options_.hang) +
                             " while others wait");
  }
  return std::nullopt;
}

std::optional<Death> Attempt::death_of_launcher() const {
  Death death;
  death.superstep = furthest_;
  const int status = *launcher_status_;
  const std::string& name = options_.command.front();
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

std::optional<Death> Attempt::watch() {
  for (;;) {
    wait_a_moment();
    take_signals();
    const bool was_computing = computing_since_.has_value();
    scan();
    if (!was_computing && computing_since_ && on_computing) on_computing();
    note_ended();
    const bool has_launcher_ended = reap_launcher();
    const bool is_decided = has_verdict();
    if (has_launcher_ended) {
      // What a launcher that was killed had yet to pass on of the results is lost.
      const bool was_killed = WIFSIGNALED(*launcher_status_);
      std::optional<Death> death;
      if (!is_stopping_ && (!is_decided || was_killed)) {
        death = find_death();
        if (!death) death = death_of_launcher();
      }
      end_all();
      return death;
    }
    std::optional<Death> death = is_decided ? std::nullopt : find_death();
    if (!death && !is_decided) death = find_hang();
    if (death && !has_verdict()) {
      end_all();
      return death;
    }
    const bool have_ranks_ended =
        !ranks_.empty() && std::all_of(ranks_.begin(), ranks_.end(), [](const Watched& each) {
          return each.is_over() || each.has_ended;
        });
    if (!grace_end_ && (is_decided || have_ranks_ended)) grace_end_ = Clock::now() + launcher_grace;
    if (grace_end_ && Clock::now() > *grace_end_) {
      end_all();
      if (is_decided || is_stopping_) return std::nullopt;
      return Death{.what = "the job ended without a result, and " + options_.command.front() +
                           " did not end",
                   .superstep = furthest_};
    }
  }
}

void Attempt::end_all() {
  for (const Watched& each : ranks_) {
    if (each.is_local) segments_.merge(mpi_segments_of(each.page().pid));
  }
  int status = 0;
  if (!launcher_status_) {
    ::kill(-launcher_, SIGKILL);
    ::kill(launcher_, SIGKILL);
    if (::waitpid(launcher_, &status, 0) == launcher_) launcher_status_ = status;
  }
  kill_descendants();
  folder_.remove_temporaries();
  remove_unused_segments(segments_);
  segments_.clear();
}

int Attempt::exit_code() const {
  if (record_) return record_->exit_code;
  const int status = launcher_status_.value_or(0);
  if (is_stopping_) return 128 + last_signal_;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Attempt::release_stdout() const {
  char buffer[1 << 16];
  off_t at = 0;
  for (;;) {
    const ssize_t count = ::pread(stdout_.get(), buffer, sizeof buffer, at);
    if (count <= 0) return;
    at += count;
    for (ssize_t written = 0; written < count;) {
      const ssize_t more =
          ::write(STDOUT_FILENO, buffer + written, static_cast<std::size_t>(count - written));
      if (more < 0 && errno == EINTR) continue;
      WEIR_EXPECT(more > 0, output,
                  std::string("standard output: cannot write: ") + std::strerror(errno));
      written += more;
    }
  }
}

/// Counts deaths in a row at one place.
class Poison {
 public:
  /// Returns whether to give up.
  bool add(const Death& death, bool has_progress) {
    const bool is_same =
        !has_progress && last_ && last_->rank == death.rank && last_->superstep == death.superstep;
    num_ = is_same ? num_ + 1 : 1;
    last_ = death;
    // Who kills the launcher in a superstep has nothing against the superstep.
    if (!death.rank && death.superstep >= 0) return false;
    return num_ >= (death.superstep >= 0 ? most_deaths_in_superstep : most_deaths_before);
  }
  int num() const { return num_; }

 private:
  std::optional<Death> last_;
  int num_ = 0;
};

std::string place_of(const Death& death) {
  return death.superstep >= 0 ? " in superstep " + std::to_string(death.superstep)
                              : " before the first superstep";
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

}  // namespace

int supervise(const SuperviseOptions& options, Console& console) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGPIPE, SIG_IGN);
  const Descriptor signals = watch_signals();
  clear_abandoned();
  const OwnedFolder folder;
  Poison poison;
  double backoff = options.backoff;
  Superstep furthest = -1;
  std::optional<Clock::time_point> died_at;
  for (int number = 0;; ++number) {
    Attempt attempt(options, folder.get(), number, signals.get());
    attempt.on_computing = [&] {
      if (!died_at) return;
      console.say("computing again " +
                  with_digits(seconds_of(Clock::now()) - seconds_of(*died_at)) +
                  " after the death");
    };
    const std::optional<Death> death = attempt.watch();
    if (!death) {
      attempt.release_stdout();
      return attempt.exit_code();
    }
    died_at = death->at;
    const bool has_progress = attempt.furthest() > furthest;
    furthest = std::max(furthest, attempt.furthest());
    const bool is_poison = poison.add(*death, has_progress);
    const std::string what = death->what + place_of(*death);
    if (is_poison) {
      console.error(what + ", " + std::to_string(poison.num()) +
                    " times in a row without progress; given up" +
                    (death->stack.empty() ? "" : "; its stack:"));
      say_stack(console, *death);
      return exit_failed;
    }
    if (number == options.max_restarts) {
      console.error(what + " after " + std::to_string(number) + " restarts; given up");
      say_stack(console, *death);
      return exit_failed;
    }
    backoff = has_progress ? options.backoff : std::min(options.longest_backoff, backoff * 2);
    console.say(what + "; starting again (" + std::to_string(number + 1) + " of " +
                std::to_string(options.max_restarts) + ") after " + with_digits(backoff));
    if (!death->stack.empty()) say_stack(console, *death);
    const int signal = sleep_for(backoff, signals.get());
    if (signal != 0 && signal != SIGUSR1) return 128 + signal;
  }
}

}  // namespace weir::cli
