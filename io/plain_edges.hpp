// SPDX-License-Identifier: Apache-2.0
// The lines that nearly all lines of an edge list are, read at the speed of memory.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <vector>

#include <weir/engine/model/edge.hpp>

namespace weir::io {

/// What a plain line may hold.
struct PlainLine {
  char separator = ' ';       ///< Between columns, one of them; a tab serves as a blank.
  VertexId largest = 0;       ///< Ids are 0 to this.
  bool is_weighted = false;   ///< A third column is a must, and its value is taken.
  bool non_negative = false;  ///< No value is below 0.
};

/// Text that was taken: up to where, and how many lines.
struct PlainText {
  const char* end = nullptr;
  std::uint64_t num_lines = 0;
};

namespace detail {

/// A decimal number of at most 15 digits, so that it is exact as an integer and as a double.
struct Digits {
  std::uint64_t value;
  std::uint32_t length;  ///< 0: no digit here, or too many.
};

/// The value of the `length` (1 to 8) digits in the low bytes of the word, least address first.
inline std::uint64_t value_of_digits(std::uint64_t word, std::uint32_t length) {
  word <<= 64 - 8 * length;  // digits end at the top; what fills the bottom has the value 0
  word &= 0x0f0f0f0f0f0f0f0f;
  word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ff;
  word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffff;
  return (word * 10000 + (word >> 32)) & 0xffffffff;
}

/// Number of digits at the low end of the word, 0 to 8.
inline std::uint32_t count_digits(std::uint64_t word) {
  constexpr std::uint64_t zeros = 0x3030303030303030;
  // A digit has the high half 3, before and after 6 is added to its low half.
  const std::uint64_t differs = ((word & 0xf0f0f0f0f0f0f0f0) ^ zeros) |
                                (((word + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) ^ zeros);
  return static_cast<std::uint32_t>(std::countr_zero(differs)) / 8;
}

/// Reads 16 bytes at most.
inline Digits read_digits(const char* text) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  const std::uint32_t length = count_digits(word);
  if (length == 0) return {0, 0};
  const std::uint64_t value = value_of_digits(word, length);
  if (length < 8) return {value, length};
  std::memcpy(&word, text + 8, sizeof word);
  const std::uint32_t more = count_digits(word);
  if (more == 0) return {value, 8};
  if (more == 8) return {0, 0};
  constexpr std::uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  return {value * powers[more] + value_of_digits(word, more), 8 + more};
}

}  // namespace detail

/// Reads lines `ID ID [COLUMN]` from the front of a text until the batch holds `most` edges, or
/// until the first line of any other shape, which may be right all the same: it is left to a
/// reader that knows every shape and every error. Ids are plain digits, one separator is between
/// columns, and nothing else is in the line. `begin`: where a line starts. Lines that start at
/// `stop` or later are not taken, nor those that end near `end`, where the text ends.
template <class E>
PlainText read_plain_edges(const char* begin, const char* stop, const char* end,
                           const PlainLine& line, std::vector<Edge<E>>& batch, std::size_t most) {
  // Two numbers of at most 15 digits, their separators, and what one look reads beyond.
  constexpr std::ptrdiff_t longest_look = 64;
  const char other_separator = line.separator == ' ' ? '\t' : line.separator;
  const auto is_separator = [&](char c) { return c == line.separator || c == other_separator; };
  const auto largest = static_cast<std::uint64_t>(line.largest);
  PlainText taken{begin, 0};
  if (line.largest < 0) return taken;
  while (taken.end < stop && end - taken.end > longest_look && batch.size() < most) {
    const char* at = taken.end;
    const detail::Digits source = detail::read_digits(at);
    at += source.length;
    if (source.length == 0 || !is_separator(*at++)) break;
    const detail::Digits target = detail::read_digits(at);
    at += target.length;
    if (target.length == 0 || source.value > largest || target.value > largest) break;
    double weight = 1;
    if (is_separator(*at)) {
      ++at;
      if (line.is_weighted) {
        const detail::Digits whole = detail::read_digits(at);
        weight = static_cast<double>(whole.value);
        const char after = at[whole.length];
        if (whole.length > 0 && (after == '\n' || after == '\r')) {
          at += whole.length;
        } else {
          const auto [number_end, error] = std::from_chars(at, end, weight);
          if (error != std::errc{} || number_end == end || !std::isfinite(weight)) break;
          at = number_end;
          if (line.non_negative && weight < 0) break;
        }
      } else {
        const char* const column = at;
        while (at<end&& static_cast<unsigned char>(*at)> ' ' && *at != line.separator) ++at;
        if (at == column || at == end) break;
      }
    } else if (line.is_weighted) {
      break;
    }
    if (*at == '\r' && at + 1 < end) ++at;
    if (*at != '\n') break;
    ++at;
    if constexpr (std::is_same_v<E, NoValue>) {
      batch.push_back(
          {static_cast<VertexId>(source.value), static_cast<VertexId>(target.value), {}});
    } else {
      batch.push_back(
          {static_cast<VertexId>(source.value), static_cast<VertexId>(target.value), weight});
    }
    taken.end = at;
    ++taken.num_lines;
  }
  return taken;
}

}  // namespace weir::io
