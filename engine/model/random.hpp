// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weir {

/// A bijective mix of 64 bits (the finaliser of SplitMix64, [Steele14]).
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Random numbers that are a pure function of their key and how many were drawn: the same on any
/// rank, thread and attempt.
class CounterRandom {
 public:
  constexpr CounterRandom(std::uint64_t seed, std::uint64_t stream, std::uint64_t id)
      : key_(mix_bits(mix_bits(mix_bits(seed) ^ stream) ^ id)) {}

  constexpr std::uint64_t next() { return mix_bits(key_ + 0x9e3779b97f4a7c15U * count_++); }
  /// Uniform in [0, 1), a multiple of 2^-53.
  constexpr double next_unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

}  // namespace weir
