// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace weir {

/// Calls f(i) for every byte that is not 0 in [begin, end), eight at a time.
template <class F>
void for_each_set(std::span<const std::uint8_t> bytes, const F& f) {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    if (word == 0) continue;
    for (std::size_t k = i; k < i + 8; ++k) {
      if (bytes[k] != 0) f(k);
    }
  }
  for (; i < bytes.size(); ++i) {
    if (bytes[i] != 0) f(i);
  }
}

}  // namespace weir
