// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <weir/engine/model/random.hpp>

namespace weir::io {

/// Random words that are a pure function of (seed, counter).
class IndexedRandom {
 public:
  explicit constexpr IndexedRandom(std::uint64_t seed) : key_(mix_bits(seed)) {}

  constexpr std::uint64_t word(std::uint64_t counter) const {
    return mix_bits(key_ ^ (counter * 0xd1342543de82ef95));
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
