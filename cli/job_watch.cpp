// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/job_watch.hpp>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <weir/cli/partition.hpp>
#include <weir/cli/processes.hpp>
#include <weir/cli/supervised.hpp>

namespace weir::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds beat_interval{200};
constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int max_stack_depth = 64;

// A signal handler reaches nothing but globals.
int stack_file = -1;
HeartbeatPage* crash_page = nullptr;

void show_stack() {
  void* frames[max_stack_depth];
  const int depth = ::backtrace(frames, max_stack_depth);
  if (stack_file >= 0) ::backtrace_symbols_fd(frames, depth, stack_file);
}

void write_stack(int /*signal*/) {
  const int error = errno;
  if (stack_file >= 0) (void)!::ftruncate(stack_file, 0);
  show_stack();
  if (crash_page != nullptr) crash_page->num_stacks.fetch_add(1);
  errno = error;
}

void write_last_stack(int signal) {
  show_stack();
  if (crash_page != nullptr) crash_page->has_crashed.store(1);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void hang() {
  for (volatile bool is_stuck = true; is_stuck;) {
  }
}

RankFault::Point point_of(SnapshotPoint point) {
  using Point = RankFault::Point;
  switch (point) {
    case SnapshotPoint::file: return Point::snapshot;
    case SnapshotPoint::before_manifest: return Point::before_manifest;
    case SnapshotPoint::after_manifest: return Point::after_manifest;
    case SnapshotPoint::reading: break;
  }
  return Point::resume;
}

bool is_of_snapshots(RankFault::Point point) { return point >= RankFault::Point::snapshot; }

/// Whether a fault is due in this start of the job.
bool is_due(const RankFault& fault) {
  if (fault.point != RankFault::Point::resume) return fault.is_repeated || num_restarts() == 0;
  return fault.is_repeated ? num_restarts() >= fault.superstep : num_restarts() == fault.superstep;
}

/// Watches one rank, on the thread of the rank; what regards snapshots, on the thread that writes
/// or reads them.
class RankWatch final : public PortObserver {
 public:
  RankWatch(Rank rank, Rank size, const Injection& injection,
            const std::optional<JobFolder>& folder) {
    if (folder) {
      if (auto made = Heartbeat::create(folder->heartbeat(rank), rank, size)) {
        heartbeat_.emplace(std::move(*made));
      }
    }
    for (const RankFault& fault : injection.rank_faults) {
      if (fault.rank != rank || !is_due(fault)) continue;
      (is_of_snapshots(fault.point) ? snapshot_faults_ : faults_).push_back(fault);
    }
    for (const Partition& each : injection.partitions) {
      if (each.cut_from(rank).empty() || !(each.is_repeated || num_restarts() == 0)) continue;
      partitions_.push_back(each);
      cuts_ = std::make_shared<Cuts>();
    }
    rank_ = rank;
    const auto slow = injection.slowness.find(rank);
    if (slow != injection.slowness.end()) slowness_ = slow->second;
  }

  bool is_needed() const {
    return heartbeat_ || !faults_.empty() || !snapshot_faults_.empty() || cuts_ || slowness_ > 1;
  }
  /// The cuts of its links; none: nothing is ever cut.
  const std::shared_ptr<Cuts>& cuts() const { return cuts_; }

  void submitting(const FrameHeader& header) override {
    move();
    if (faults_.empty()) return;
    if (header.kind == FrameKind::data) suffer(RankFault::Point::send);
    if (header.kind == FrameKind::fold_up || header.kind == FrameKind::fold_down) {
      suffer(RankFault::Point::barrier);
    }
  }

  void progressing() override { move(); }

  void before_superstep(Superstep step) {
    step_ = step;
    if (heartbeat_) {
      HeartbeatPage& page = heartbeat_->page();
      page.superstep.store(step, std::memory_order_relaxed);
      if (step > page.furthest.load()) page.furthest.store(step);
    }
    move();
    for (const Partition& each : partitions_) {
      if (each.superstep != step) continue;
      for (const Rank other : each.cut_from(rank_)) cuts_->cut(other, each.time);
    }
    suffer(RankFault::Point::superstep);
  }

  void after_superstep() { suffer(RankFault::Point::barrier); }

  bool is_slow() const { return slowness_ > 1; }

  /// A slow rank sleeps as many times longer as it is slow, thread by thread, for what a thread
  /// computed since the last call.
  void slow_down(std::size_t num_rows) const {
    constexpr double least_sleep = 1e-3;  // shorter ones take longer than they say
    thread_local double last = 0, owed = 0;
    const double now = thread_seconds();
    if (num_rows > 0) owed += (now - last) * (slowness_ - 1);
    if (owed >= least_sleep)
      std::this_thread::sleep_for(std::chrono::duration<double>(std::exchange(owed, 0)));
    last = now;
  }

  void at(SnapshotPoint point, Superstep next) {
    for (RankFault& fault : snapshot_faults_) {
      if (fault.point != point_of(point) || fault.superstep == done) continue;
      if (point != SnapshotPoint::reading && next < fault.superstep) continue;
      fault.superstep = done;
      act(fault);
    }
  }

  void end_run() {
    step_ = -1;
    if (heartbeat_) heartbeat_->page().superstep.store(-1, std::memory_order_relaxed);
  }

  void beat() {
    if (heartbeat_) heartbeat_->page().num_beats.fetch_add(1, std::memory_order_relaxed);
  }

  HeartbeatPage* page() const { return heartbeat_ ? &heartbeat_->page() : nullptr; }

  void end() {
    if (heartbeat_) heartbeat_->page().is_over.store(1);
  }

 private:
  void move() {
    if (!heartbeat_) return;
    HeartbeatPage& page = heartbeat_->page();
    page.num_moves.fetch_add(1, std::memory_order_relaxed);
    page.moved_at.store(Clock::now().time_since_epoch() / std::chrono::nanoseconds(1),
                        std::memory_order_relaxed);
  }

  static double thread_seconds() {
    timespec time{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  void suffer(RankFault::Point point) {
    for (RankFault& fault : faults_) {
      if (fault.point != point || fault.superstep != step_) continue;
      fault.superstep = done;
      act(fault);
    }
  }

  static void act(const RankFault& fault) {
    using Act = RankFault::Act;
    switch (fault.act) {
      case Act::kill: (void)::raise(SIGKILL); break;
      case Act::crash: (void)::raise(SIGSEGV); break;
      case Act::exit: ::_exit(0);
      case Act::stop: (void)::kill(::getpid(), SIGSTOP); break;
      case Act::hang: hang(); break;
      case Act::pause: std::this_thread::sleep_for(fault.pause); break;
    }
  }

  std::optional<Heartbeat> heartbeat_;
  static constexpr Superstep done = -2;
  Rank rank_ = 0;
  std::vector<RankFault> faults_;
  std::vector<RankFault> snapshot_faults_;
  std::vector<Partition> partitions_;
  std::shared_ptr<Cuts> cuts_;
  double slowness_ = 1;
  Superstep step_ = -1;
};

}  // namespace

struct JobWatch::State {
  State(Rank first, Rank count, Rank size, const Injection& injection)
      : folder(JobFolder::of_environment()), first_rank(first) {
    links = injection;
    for (Rank r = first; r < first + count; ++r) {
      ranks.push_back(std::make_unique<RankWatch>(r, size, injection, folder));
    }
    if (folder) {
      catch_crashes();
      beater = std::thread([this] { beat(); });
    }
  }

  ~State() {
    {
      const std::lock_guard lock(mutex);
      is_over = true;
    }
    wakes.notify_one();
    if (beater.joinable()) beater.join();
    for (const auto& each : ranks) each->end();
    if (folder) {
      for (const int signal : crash_signals) std::signal(signal, SIG_DFL);
      std::signal(stack_signal, SIG_IGN);
    }
    crash_page = nullptr;
    if (stack_file >= 0) ::close(std::exchange(stack_file, -1));
  }

  RankWatch& of(Rank rank) const { return *ranks[static_cast<std::size_t>(rank - first_rank)]; }

  void catch_crashes() const {
    void* frame = nullptr;
    (void)::backtrace(&frame, 1);  // loads what it needs now, not in a handler
    stack_file = ::open(folder->stack(first_rank).c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    crash_page = ranks.front()->page();
    for (const int signal : crash_signals) std::signal(signal, write_last_stack);
    std::signal(stack_signal, write_stack);
  }

  void beat() {
    std::unique_lock lock(mutex);
    do {
      for (const auto& each : ranks) each->beat();
      if (folder->is_abandoned()) end_abandoned();
    } while (!wakes.wait_for(lock, beat_interval, [&] { return is_over; }));
  }

  /// Without its supervisor the job ends, and leaves nothing: another one may be started.
  [[noreturn]] void end_abandoned() const {
    std::set<std::string> segments = folder->noted_segments();
    segments.merge(
        kill_all_with(std::string(result_file_variable) + '=' + folder->result().string()));
    segments.merge(mpi_segments_of(::getpid()));
    folder->remove_temporaries();
    for (const std::string& segment : with_those_of_the_same_job(std::move(segments)))
      (void)::unlink(segment.c_str());
    std::error_code error;
    std::filesystem::remove_all(folder->path(), error);
    (void)::raise(SIGKILL);
    std::abort();
  }

  std::optional<JobFolder> folder;
  Injection links;
  Rank first_rank;
  std::vector<std::unique_ptr<RankWatch>> ranks;
  std::mutex mutex;
  std::condition_variable wakes;
  bool is_over = false;
  std::thread beater;
};

JobWatch::JobWatch(Rank first, Rank count, Rank size, const Injection& injection)
    : state_(std::make_unique<State>(first, count, size, injection)) {}

JobWatch::~JobWatch() = default;

std::unique_ptr<Port> JobWatch::decorate(std::unique_ptr<Port> port) const {
  const Rank rank = port->rank();
  if (state_->links.has_link_faults) {
    port = make_faulty_port(std::move(port), [&](Rank to) { return state_->links.link(rank, to); });
  }
  RankWatch& watch = state_->of(rank);
  if (watch.cuts()) port = make_cut_port(std::move(port), watch.cuts());
  return watch.is_needed() ? make_observed_port(std::move(port), watch) : std::move(port);
}

void JobWatch::begin_run(Rank rank, RunOptions& options) const {
  RankWatch& watch = state_->of(rank);
  if (!watch.is_needed()) return;
  options.before_superstep = [&watch, then = std::move(options.before_superstep)](Superstep step) {
    watch.before_superstep(step);
    if (then) then(step);
  };
  options.snapshots.at = [&watch, then = std::move(options.snapshots.at)](SnapshotPoint point,
                                                                          Superstep next) {
    watch.at(point, next);
    if (then) then(point, next);
  };
  options.after_superstep = [&watch, then = std::move(options.after_superstep)](Superstep step) {
    watch.after_superstep();
    if (then) then(step);
  };
  if (watch.is_slow())
    options.between_rows = [&watch](std::size_t num_rows) { watch.slow_down(num_rows); };
}

void JobWatch::end_run(Rank rank) const { state_->of(rank).end_run(); }

void JobWatch::record_end(Rank rank, int exit_code) const {
  if (state_->folder) state_->folder->write_record({exit_code, "", "", rank});
}

void JobWatch::record_error(Rank rank, int exit_code, const Error& error) const {
  if (!state_->folder) return;
  state_->folder->write_record(
      {exit_code, std::string(name_of(error.code())), std::string(error.text()), rank});
}

}  // namespace weir::cli
