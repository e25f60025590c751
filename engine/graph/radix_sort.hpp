// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weir {

/// Sorts what `load(i)` gives, for i below the size of `records`, by an unsigned key, stably and in
/// time linear in their number: up to 11 bits a pass, from the lowest. `load` is called twice for
/// each i, and has been called for all when the second of the two spans is first written.
/// `greatest`: no key is above it. The result is in `records` or in `scratch`, as large, and is
/// returned.
template <class T, class Load, class Key>
std::span<T> radix_sort_from(const Load& load, std::span<T> records, std::span<T> scratch,
                             std::uint64_t greatest, const Key& key_of) {
  constexpr int most_bits = 11;
  const int num_bits = std::max(static_cast<int>(std::bit_width(greatest)), 1);
  const int num_passes = (num_bits + most_bits - 1) / most_bits;
  const int bits = (num_bits + num_passes - 1) / num_passes;  // passes of equal width
  const std::size_t num_digits = std::size_t{1} << bits;
  const auto digit_of = [&](const T& record, int pass) {
    return static_cast<std::size_t>(key_of(record) >> (pass * bits)) & (num_digits - 1);
  };
  std::vector<std::size_t> next(static_cast<std::size_t>(num_passes) * num_digits);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const T record = load(i);
    for (int pass = 0; pass < num_passes; ++pass)
      ++next[static_cast<std::size_t>(pass) * num_digits + digit_of(record, pass)];
  }
  for (int pass = 0; pass < num_passes; ++pass) {
    std::size_t* const next_of_pass = &next[static_cast<std::size_t>(pass) * num_digits];
    std::size_t begin = 0;
    for (std::size_t digit = 0; digit < num_digits; ++digit)
      begin += std::exchange(next_of_pass[digit], begin);
    if (pass == 0) {
      for (std::size_t i = 0; i < records.size(); ++i) {
        const T record = load(i);
        records[next_of_pass[digit_of(record, 0)]++] = record;
      }
    } else {
      for (const T& record : records) scratch[next_of_pass[digit_of(record, pass)]++] = record;
      scratch = std::exchange(records, scratch.first(records.size()));
    }
  }
  return records;
}

/// The same for records that are at hand, in one of the two spans.
template <class T, class Key>
std::span<T> radix_sort(std::span<T> records, std::span<T> scratch, std::uint64_t greatest,
                        const Key& key_of) {
  if (greatest == 0 || records.size() < 2) return records;
  return radix_sort_from<T>([records](std::size_t i) { return records[i]; },
                            scratch.first(records.size()), records, greatest, key_of);
}

}  // namespace weir
