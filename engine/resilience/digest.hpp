// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weir {

/// 128-bit XXH3 of the state or the messages of a shard: at the speed of memory, and sure against
/// faults. Against forgery it is not; that is what the tree over the digests is for.
using Digest = std::array<std::byte, 16>;

/// SHA-256 ([FIPS180]).
using Hash = std::array<std::byte, 32>;

/// XXH3-128 of the parts as if they stood one after the other, in its canonical byte order.
Digest digest_of(std::initializer_list<std::span<const std::byte>> parts);

/// Computes SHA-256 again and again; one thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  /// Of the parts as if they stood one after the other.
  Hash operator()(std::initializer_list<std::span<const std::byte>> parts);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lower-case hexadecimal digits, two a byte.
std::string hexadecimal(std::span<const std::byte> bytes);
/// Reads them back; false unless there are exactly as many as `bytes` needs.
bool parse_hexadecimal(std::string_view text, std::span<std::byte> bytes);

}  // namespace weir
