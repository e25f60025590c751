// SPDX-License-Identifier: Apache-2.0
// Faults that a user orders: --inject.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir::cli {

/// What a rank does to itself, once, at one point of one superstep.
struct RankFault {
  enum class Act {
    kill,   ///< SIGKILL
    crash,  ///< SIGSEGV
    exit,   ///< ends as if it had been done
    stop,   ///< SIGSTOP
    hang,   ///< computes for ever
    pause,  ///< computes nothing for a while
  };
  enum class Point {
    superstep,        ///< before it computes
    send,             ///< before its first batch to another rank
    barrier,          ///< before its first word in a fold, at the latest before the next superstep
    snapshot,         ///< in the middle of its file of the first snapshot from `superstep` on
    before_manifest,  ///< rank 0: that snapshot's manifest is written, and not renamed
    after_manifest,   ///< rank 0: it was renamed
    resume            ///< in the middle of reading a snapshot, in the `superstep`-th restart
  };
  Rank rank = 0;
  Act act = Act::kill;
  Point point = Point::superstep;
  Superstep superstep = 0;
  std::chrono::microseconds pause{0};
  /// Also in a job that was started again; else only in the first start.
  bool is_repeated = false;
};

/// Two sets of ranks that cannot reach each other, from one superstep on.
struct Partition {
  std::vector<Rank> sides[2];
  Superstep superstep = 0;
  std::optional<std::chrono::microseconds> time{};  ///< nothing: for ever
  bool is_repeated = false;                         ///< as of RankFault

  /// The ranks that `rank` cannot reach.
  const std::vector<Rank>& cut_from(Rank rank) const;
};

/// A parsed --inject.
struct Injection {
  std::vector<RankFault> rank_faults;
  std::vector<Partition> partitions;
  std::map<Rank, double> slowness;                     ///< factor by rank
  Faults any_link;                                     ///< with the seed
  std::map<std::pair<Rank, Rank>, Faults> some_links;  ///< by (lower, higher); instead of any_link
  bool has_link_faults = false;

  /// What happens between two ranks, in either direction.
  Faults link(Rank a, Rank b) const;
  /// The highest rank that is named; -1: none.
  Rank highest_rank() const;
};

/// Reads a comma list such as `rank1.kill@superstep=7,link0-1.bandwidth=100Mbit,link.drop=0.01`.
/// `option` is for errors. Throws Error{usage}.
Injection parse_injection(const std::string& option, const std::string& text);

}  // namespace weir::cli
