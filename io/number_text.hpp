// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include <weir/engine/model/ids.hpp>

namespace weir::io {

/// Appends an integer in decimal.
template <std::integral T>
void append_number(std::string& text, T value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

/// Appends the shortest decimal that reads back to the same bits: `1`, `0.1`, `1e-09`, `infinity`,
/// `-infinity`, `nan`.
void append_number(std::string& text, double value);
void append_number(std::string& text, float value);

/// Reads a whole token as a 64-bit integer; a leading `+` is accepted. Locale-free.
std::optional<VertexId> parse_integer(std::string_view token);

/// Reads a whole token as a finite decimal number; a leading `+` is accepted. Locale-free.
std::optional<double> parse_finite(std::string_view token);

/// As parse_finite, and also `inf` and `infinity` in any case and with either sign. Never NaN.
std::optional<double> parse_value(std::string_view token);

/// A piece of input as an error message shows it: quoted, at most 40 printable characters.
std::string shown(std::string_view found);

}  // namespace weir::io
