// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

/// FNV-1a in 64 bits, for short things that ranks compare: names, command lines, sets of cores.
class FnvHash {
 public:
  /// A whole word in one step; byte by byte it is the published function.
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3u; }
  void add(std::string_view text) {
    for (const char c : text) add(std::uint64_t{static_cast<unsigned char>(c)});
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace weir
