// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/boundary.hpp>

#include <cstddef>
#include <numeric>

namespace weir {

SharedPlaces::SharedPlaces(const Block& block) {
  if (block.links().empty()) return;
  const auto for_each_place = [&](const auto& f) {
    std::uint32_t index = 0;
    for (const GhostLink& link : block.links()) {
      std::uint32_t position = 0;
      for (const Slot slot : link.sent) f(slot, SharedPlace{index, position++});
      for (const Slot slot : link.received) f(slot, SharedPlace{index, position++});
      ++index;
    }
  };
  std::vector<std::uint64_t> ends(block.num_slots() + std::size_t{1}, 0);
  for_each_place([&](Slot slot, SharedPlace) { ++ends[slot + std::size_t{1}]; });
  for (Slot slot = 0; slot < block.num_slots(); ++slot) {
    if (ends[slot + std::size_t{1}] > 0) slots_.push_back(slot);
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  offsets_ = ends;
  places_.resize(ends.back());
  for_each_place([&](Slot slot, SharedPlace place) { places_[ends[slot]++] = place; });
}

std::span<const SharedPlace> SharedPlaces::of(Slot slot) const {
  if (offsets_.empty()) return {};
  const std::uint64_t first = offsets_[slot];
  return std::span<const SharedPlace>(places_).subspan(first,
                                                       offsets_[slot + std::size_t{1}] - first);
}

}  // namespace weir
