// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/rank_monitor.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <tuple>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weir/cli/launch.hpp>
#include <weir/cli/processes.hpp>

namespace weir::cli {

namespace {

constexpr std::chrono::milliseconds time_to_die_together{20};
constexpr std::chrono::milliseconds time_to_answer{500};
/// Of heartbeats, a fifth of a second apart; wrong about one in 10^8 gaps if they were exponential.
constexpr double suspicious_phi = 8;

double seconds_of(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string host_of(const HeartbeatPage& page) {
  return {page.host, ::strnlen(page.host, HeartbeatPage::max_host)};
}

}  // namespace

RankMonitor::RankMonitor(const JobFolder& folder, Limits limits)
    : folder_(folder), limits_(limits) {}

void RankMonitor::open_pages() {
  for (Rank r = static_cast<Rank>(ranks_.size()); ranks_.empty() || r < ranks_.front().page().size;
       ++r) {
    auto heartbeat = Heartbeat::open(folder_.heartbeat(r));
    if (!heartbeat) break;
    const bool is_local = heartbeat->page().host == host_name();
    Descriptor process(is_local ? open_process(heartbeat->page().pid) : -1);
    ranks_.push_back({std::move(*heartbeat), is_local, std::move(process)});
  }
}

void RankMonitor::scan() {
  const auto now = Clock::now();
  // A supervisor that did not run itself has seen nobody's silence.
  const bool was_away = now - last_scan_ > std::chrono::seconds(1);
  last_scan_ = now;
  open_pages();
  for (Watched& each : ranks_) {
    const std::uint64_t beats = each.page().num_beats.load();
    const std::uint64_t moves = each.page().num_moves.load();
    if (beats != each.num_beats || was_away) each.detector.beat(seconds_of(now));
    if (moves != each.num_moves || was_away) each.moved_at = now;
    each.num_beats = beats;
    each.num_moves = moves;
    furthest_ = std::max(furthest_, each.page().furthest.load());
  }
  if (!computing_since_ && furthest_ >= 0) computing_since_ = now;
  note_ended();
}

std::vector<int> RankMonitor::handles() const {
  std::vector<int> found;
  for (const Watched& each : ranks_) {
    if (each.process.is_open() && !each.has_ended) found.push_back(each.process.get());
  }
  return found;
}

bool RankMonitor::are_all_here() const {
  return !ranks_.empty() && static_cast<Rank>(ranks_.size()) == ranks_.front().page().size &&
         std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Watched& each) { return each.is_local; });
}

bool RankMonitor::have_all_ended() const {
  return !ranks_.empty() && std::all_of(ranks_.begin(), ranks_.end(), [](const Watched& each) {
    return each.is_over() || each.has_ended;
  });
}

void RankMonitor::signal(int number) const {
  std::set<pid_t> told;
  for (const Watched& each : ranks_) {
    if (!each.is_local || each.is_over() || !told.insert(each.page().pid).second) continue;
    (void)::syscall(SYS_pidfd_send_signal, each.process.get(), number, nullptr, 0);
  }
}

std::map<std::string, int> RankMonitor::num_by_host() const {
  std::map<std::string, int> found;
  for (const Watched& each : ranks_) ++found[host_of(each.page())];
  return found;
}

void RankMonitor::note_ended() {
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
std::optional<Death> RankMonitor::find_death(bool is_launcher_gone) const {
  if (!dead_since_) return std::nullopt;
  if (!is_launcher_gone && Clock::now() < *dead_since_ + time_to_die_together) return std::nullopt;
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
  Death death;
  death.what = "rank " + std::to_string(first.rank()) + (is_certain ? "" : " (it seems)") + " died";
  death.rank = first.rank();
  death.is_rank_certain = is_certain;
  death.is_of_program = first.page().has_crashed.load() != 0;
  death.superstep = is_certain ? first.superstep() : superstep;
  death.stack = read_text(folder_.stack(first.rank()));
  const bool is_one_host = std::all_of(dead.begin(), dead.end(), [&](const Watched* each) {
    return host_of(each->page()) == host_of(first.page());
  });
  if (is_certain || is_one_host) death.host = host_of(first.page());
  death.at = *dead_since_;
  return death;
}

/// The rank is asked first, which takes no debugger; but it must be running to answer.
std::string RankMonitor::stack_of(const Watched& watched) const {
  const std::uint32_t before = watched.page().num_stacks.load();
  (void)::syscall(SYS_pidfd_send_signal, watched.process.get(), stack_signal, nullptr, 0);
  const auto end = Clock::now() + time_to_answer;
  while (watched.page().num_stacks.load() == before) {
    if (Clock::now() > end) return stacks_of(watched.page().pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return read_text(folder_.stack(watched.rank()));
}

Death RankMonitor::hang_of(const Watched& watched, const std::string& what) const {
  Death death;
  death.rank = watched.rank();
  death.superstep = watched.superstep();
  death.what = "rank " + std::to_string(watched.rank()) + what;
  death.host = host_of(watched.page());
  if (watched.is_local) death.stack = stack_of(watched);
  return death;
}

std::optional<Death> RankMonitor::find_hang() {
  const auto now = Clock::now();
  for (const Watched& each : ranks_) {
    if (each.is_over() || limits_.heartbeat <= 0) continue;
    const double silence = each.detector.silence(seconds_of(now));
    if (silence < limits_.heartbeat || each.detector.phi(seconds_of(now)) < suspicious_phi)
      continue;
    return hang_of(each, " has been silent for " + text_of_seconds(silence));
  }
  const auto is_still = [&](const Watched& each) {
    return std::chrono::duration<double>(now - each.moved_at).count() > limits_.hang;
  };
  // All still: they compute; nobody waits for anybody.
  if (limits_.hang <= 0 || std::all_of(ranks_.begin(), ranks_.end(), is_still)) return std::nullopt;
  for (const Watched& each : ranks_) {
    if (each.is_over() || each.superstep() < 0 || !is_still(each)) continue;
    // Nor does it show that it lives: nothing of the program's doing.
    const double silence = each.detector.silence(seconds_of(now));
    if (silence > limits_.hang / 2)
      return hang_of(each, " has been silent for " + text_of_seconds(silence));
    Death death = hang_of(each, " is stuck: it has moved nothing for " +
                                    text_of_seconds(limits_.hang) + " while others wait");
    death.is_of_program = true;
    return death;
  }
  return std::nullopt;
}

}  // namespace weir::cli
