// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir::cli {

/// Which links of one rank are cut. Used by the thread that calls the rank's port.
class Cuts {
 public:
  /// Nothing leaves for `to` any more, for some time or for ever.
  void cut(Rank to, std::optional<std::chrono::microseconds> time);
  bool is_cut(Rank to) const;
  bool is_cut_for_ever(Rank to) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::time_point> until_;  // by rank; shorter where there was no cut
};

/// Decorates a port: what is submitted for a rank whose link is cut leaves, in order, once the cut
/// is over, and is lost where it is for ever. Two sides that both cut are a partition.
std::unique_ptr<Port> make_cut_port(std::unique_ptr<Port> inner, std::shared_ptr<const Cuts> cuts);

}  // namespace weir::cli
