// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/verdict.hpp>

#include <cstdio>

namespace weir::cli {

std::string text_of_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string place_of(const Death& death) {
  return death.superstep >= 0 ? " in superstep " + std::to_string(death.superstep)
                              : " before the first superstep";
}

bool Poison::is_at_same_place(const Death& death) const {
  if (!last_ || last_->superstep != death.superstep) return false;
  if (last_->rank.has_value() != death.rank.has_value()) return false;
  // A rank that is a guess may have been any.
  return last_->rank == death.rank || !last_->is_rank_certain || !death.is_rank_certain;
}

bool Poison::add(const Death& death, bool has_progress) {
  const bool is_repeated = !has_progress && is_at_same_place(death);
  num_ = is_repeated ? num_ + 1 : 1;
  num_of_program_ = (is_repeated ? num_of_program_ : 0) + (death.is_of_program ? 1 : 0);
  last_ = death;
  has_computed_ = has_computed_ || has_progress || death.superstep >= 0;
  // Who kills the launcher in a superstep has nothing against the superstep.
  if (!death.rank && death.superstep >= 0) return false;
  if (death.superstep < 0) return num_ >= (has_computed_ ? most_before_going_on : most);
  return num_of_program_ >= most_of_program || num_ >= most;
}

}  // namespace weir::cli
