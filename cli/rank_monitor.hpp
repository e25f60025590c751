// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include <weir/cli/descriptor.hpp>
#include <weir/cli/supervised.hpp>
#include <weir/cli/verdict.hpp>
#include <weir/engine/resilience/failure_detector.hpp>

namespace weir::cli {

/// Watches the ranks of one start of a job, by the pages that they show and, of those on this host,
/// by their processes.
class RankMonitor {
 public:
  struct Limits {
    double heartbeat = 10;  ///< seconds of silence; 0: never
    double hang = 300;      ///< seconds without a move; 0: never
  };
  RankMonitor(const JobFolder& folder, Limits limits);

  /// Looks again at everything.
  void scan();

  /// Handles of processes that have not ended; each is readable once it has.
  std::vector<int> handles() const;
  /// When a rank was first seen in a superstep, and the furthest that one came to.
  std::optional<std::chrono::steady_clock::time_point> computing_since() const {
    return computing_since_;
  }
  Superstep furthest() const { return furthest_; }
  /// Every rank has a page, and is on this host.
  bool are_all_here() const;
  /// There are ranks, and all have ended, in order or not.
  bool have_all_ended() const;
  /// To every process of ranks of this host that are not over.
  void signal(int number) const;

  /// The rank that died first. Deaths are looked at together for some milliseconds, unless
  /// `is_launcher_gone`.
  std::optional<Death> find_death(bool is_launcher_gone) const;
  /// A rank that fell silent, or is stuck while others wait.
  std::optional<Death> find_hang();
  /// How many ranks each host has.
  std::map<std::string, int> num_by_host() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double beat_seconds = 0.2;

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

  void open_pages();
  void note_ended();
  std::string stack_of(const Watched& watched) const;
  Death hang_of(const Watched& watched, const std::string& what) const;

  const JobFolder& folder_;
  Limits limits_;
  std::vector<Watched> ranks_;
  std::optional<Clock::time_point> computing_since_;
  Clock::time_point last_scan_ = Clock::now();
  Superstep furthest_ = -1;
  std::optional<Clock::time_point> dead_since_;
};

}  // namespace weir::cli
