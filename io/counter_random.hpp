// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weir::io {

/// A bijection of 64-bit numbers that leaves no trace of their order [Steele14, splitmix64].
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Random words that are a pure function of (seed, counter).
class CounterRandom {
 public:
  explicit constexpr CounterRandom(std::uint64_t seed) : key_(mix64(seed)) {}

  constexpr std::uint64_t word(std::uint64_t counter) const {
    return mix64(key_ ^ (counter * 0xd1342543de82ef95));
  }

  /// A number below `bound`, from the high bits of a word.
  static constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t word) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{word} * bound) >> 64);
  }

 private:
  std::uint64_t key_;
};

}  // namespace weir::io
