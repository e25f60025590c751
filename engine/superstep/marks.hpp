// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace weir {

/// A byte per row or slot. Not a character type, which to the compiler may be anything: what a loop
/// keeps in registers stays there across a store of a mark.
enum class Mark : std::uint8_t { unset, set };

/// Calls f(i) for every mark that is set, ascending.
template <class F>
void for_each_set(std::span<const Mark> bytes, const F& f) {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    if (word == 0) continue;
    for (std::size_t k = i; k < i + 8; ++k) {
      if (bytes[k] == Mark::set) f(k);
    }
  }
  for (; i < bytes.size(); ++i) {
    if (bytes[i] == Mark::set) f(i);
  }
}

}  // namespace weir
