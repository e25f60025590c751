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

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/// Most digits of a number, so that it is exact as an integer and as a double.
constexpr std::uint32_t most_digits = 15;

/// A decimal number.
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

/// Bit i is set unless byte i of the 32 is a digit; up to the first other byte above 0xf9.
inline std::uint32_t other_than_digits(const char* text) {
#ifdef __SSE2__
  const auto digits = [&](int offset) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + offset));
    // Only digits end up above 0x75, as signed bytes.
    const __m128i moved = _mm_add_epi8(bytes, _mm_set1_epi8(0x7f - '9'));
    return static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpgt_epi8(moved, _mm_set1_epi8(0x75))));
  };
  return ~(digits(0) | digits(16) << 16);
#else
  constexpr std::uint64_t zeros = 0x3030303030303030, halves = 0xf0f0f0f0f0f0f0f0;
  std::uint32_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    std::uint64_t word;
    std::memcpy(&word, text + 8 * i, sizeof word);
    // A digit has the high half 3, before and after 6 is added to its low half.
    std::uint64_t differs =
        ((word & halves) ^ zeros) | (((word + 0x0606060606060606) & halves) ^ zeros);
    differs |= differs << 1;
    differs |= differs << 2;
    differs = (differs >> 7) & 0x0101010101010101;  // gathered in the top byte
    mask |= static_cast<std::uint32_t>(differs * 0x0102040810204080 >> 56) << (8 * i);
  }
  return mask;
#endif
}

/// The number of `length` digits, 1 to 15. Reads 16 bytes at most.
inline std::uint64_t read_digits(const char* text, std::uint32_t length) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  if (length <= 8) return value_of_digits(word, length);
  const std::uint64_t high = value_of_digits(word, 8);
  std::memcpy(&word, text + 8, sizeof word);
  constexpr std::uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  return high * powers[length - 8] + value_of_digits(word, length - 8);
}

/// The digits at the front of a text. Reads 32 bytes.
inline Digits read_digits(const char* text) {
  const auto length = static_cast<std::uint32_t>(std::countr_zero(other_than_digits(text)));
  if (length == 0 || length > most_digits) return {0, 0};
  return {read_digits(text, length), length};
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
  constexpr std::ptrdiff_t longest_look = 80;
  const char other_separator = line.separator == ' ' ? '\t' : line.separator;
  const auto is_separator = [&](char c) { return c == line.separator || c == other_separator; };
  const auto largest = static_cast<std::uint64_t>(line.largest);
  PlainText taken{begin, 0};
  if (line.largest < 0) return taken;
  while (taken.end < stop && end - taken.end > longest_look && batch.size() < most) {
    const char* at = taken.end;
    // Where the numbers end is known before what they are, so that lines overlap in the processor.
    const std::uint32_t others = detail::other_than_digits(at);
    const auto source_length = static_cast<std::uint32_t>(std::countr_zero(others));
    const auto target_end = static_cast<std::uint32_t>(std::countr_zero(others & (others - 1)));
    const std::uint32_t target_length = target_end - source_length - 1;
    if (source_length - 1 >= detail::most_digits || target_length - 1 >= detail::most_digits) break;
    if (!is_separator(at[source_length])) break;
    const std::uint64_t source = detail::read_digits(at, source_length);
    const std::uint64_t target = detail::read_digits(at + source_length + 1, target_length);
    at += target_end;
    if (source > largest || target > largest) break;
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
      batch.push_back({static_cast<VertexId>(source), static_cast<VertexId>(target), {}});
    } else {
      batch.push_back({static_cast<VertexId>(source), static_cast<VertexId>(target), weight});
    }
    taken.end = at;
    ++taken.num_lines;
  }
  return taken;
}

}  // namespace weir::io
