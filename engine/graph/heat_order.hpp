// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <weir/engine/graph/radix_sort.hpp>

namespace weir {

/// One of some vertices that ascend by id: its heat and its number.
struct HeatEntry {
  std::uint64_t heat = 0;
  std::uint32_t index = 0;
};

/// Brings entries that ascend by index into the heat order: heat descending, then id ascending.
inline void sort_by_heat(std::vector<HeatEntry>& entries) {
  constexpr std::size_t few = 64;
  if (entries.size() < few) {
    std::sort(entries.begin(), entries.end(), [](const HeatEntry& a, const HeatEntry& b) {
      return a.heat != b.heat ? a.heat > b.heat : a.index < b.index;
    });
    return;
  }
  std::uint64_t most = 0;
  for (const HeatEntry& entry : entries) most = std::max(most, entry.heat);
  std::vector<HeatEntry> scratch(entries.size());
  const auto sorted = radix_sort(std::span(entries), std::span(scratch), most,
                                 [most](const HeatEntry& entry) { return most - entry.heat; });
  if (sorted.data() != entries.data()) entries.swap(scratch);
}

}  // namespace weir
