// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace weir {

/// Sorts records by an unsigned key, stably and in time linear in their number: up to 11 bits a
/// pass, from the lowest. `greatest`: no key is above it. `scratch` has room for all records; the
/// result is in one of the two, which is returned.
template <class T, class Key>
std::span<T> radix_sort(std::span<T> records, std::span<T> scratch, std::uint64_t greatest,
                        const Key& key_of) {
  constexpr int most_bits = 11;
  const int num_bits = static_cast<int>(std::bit_width(greatest));
  const int num_passes = (num_bits + most_bits - 1) / most_bits;
  if (num_passes == 0 || records.size() < 2) return records;
  const int bits = (num_bits + num_passes - 1) / num_passes;  // passes of equal width
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (int pass = 0; pass < num_passes; ++pass) {
    const int shift = pass * bits;
    std::array<std::size_t, std::size_t{1} << most_bits> next{};
    for (const T& record : records) ++next[(key_of(record) >> shift) & mask];
    std::size_t begin = 0;
    for (std::size_t digit = 0; digit <= mask; ++digit) begin += std::exchange(next[digit], begin);
    for (const T& record : records) scratch[next[(key_of(record) >> shift) & mask]++] = record;
    scratch = std::exchange(records, scratch.first(records.size()));
  }
  return records;
}

}  // namespace weir
