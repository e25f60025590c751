// SPDX-License-Identifier: Apache-2.0
// Why a start of a supervised job ended, and when that is enough.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <weir/engine/model/ids.hpp>

namespace weir::cli {

/// How one start of the job ended, where not by the job's own verdict.
struct Death {
  std::string what;
  std::optional<Rank> rank{};
  /// False where several died at once: the rank is a guess then.
  bool is_rank_certain = true;
  /// The program did it: it crashed, or computes for ever. A process that is gone, or does not run,
  /// may as well have been killed or stopped from outside.
  bool is_of_program = false;
  Superstep superstep = -1;  ///< the rank's; where that is not certain, the furthest
  std::string stack{};
  std::string host{};  ///< of the rank; empty: not known
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};

/// `1.50 s`.
std::string text_of_seconds(double seconds);

/// ` in superstep 7`.
std::string place_of(const Death& death);

/// Tells a job that cannot be got through from one that has bad luck: counts deaths in a row at one
/// place, which is a rank and a superstep, with no progress between them.
class Poison {
 public:
  /// Deaths at one place after which a job is given up: of the program's doing, of any, and before
  /// the first superstep of a job that has computed before.
  static constexpr int most_of_program = 2;
  static constexpr int most = 3;
  static constexpr int most_before_going_on = 5;

  /// `has_progress`: a superstep was reached that no start before had reached. Returns whether to
  /// give up.
  bool add(const Death& death, bool has_progress);
  /// Deaths in a row at the place of the last one.
  int num() const { return num_; }

 private:
  bool is_at_same_place(const Death& death) const;

  std::optional<Death> last_;
  int num_ = 0;
  int num_of_program_ = 0;
  bool has_computed_ = false;
};

}  // namespace weir::cli
