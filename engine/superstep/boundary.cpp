// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/boundary.hpp>

#include <algorithm>

namespace weir {

SharedPlaces::SharedPlaces(const Block& block) {
  struct Entry {
    Slot slot;
    SharedPlace place;
  };
  std::vector<Entry> entries;
  std::uint32_t index = 0;
  for (const GhostLink& link : block.links()) {
    std::uint32_t position = 0;
    for (const Slot slot : link.sent) entries.push_back({slot, {index, position++}});
    for (const Slot slot : link.received) entries.push_back({slot, {index, position++}});
    ++index;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.place.link < b.place.link;
  });
  places_.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (slots_.empty() || slots_.back() != entry.slot) {
      slots_.push_back(entry.slot);
      offsets_.push_back(places_.size());
    }
    places_.push_back(entry.place);
  }
  offsets_.push_back(places_.size());
}

std::span<const SharedPlace> SharedPlaces::of(Slot slot) const {
  const auto at = std::lower_bound(slots_.begin(), slots_.end(), slot);
  if (at == slots_.end() || *at != slot) return {};
  const auto i = static_cast<std::size_t>(at - slots_.begin());
  return std::span<const SharedPlace>(places_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
}

}  // namespace weir
