// SPDX-License-Identifier: Apache-2.0
#include <weir/io/number_text.hpp>

#include <cmath>
#include <system_error>

namespace weir::io {
namespace {

/// Without its leading plus sign; empty where a second sign follows.
std::string_view unsigned_plus(std::string_view token) {
  if (token.empty() || token.front() != '+') return token;
  token.remove_prefix(1);
  return !token.empty() && token.front() == '-' ? std::string_view{} : token;
}

template <class T>
std::optional<T> parse_whole(std::string_view token) {
  token = unsigned_plus(token);
  T value{};
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc{} || end != token.data() + token.size() || token.empty()) return {};
  return value;
}

template <class T>
void append_real(std::string& text, T value) {
  if (std::isnan(value)) {
    text += "nan";
  } else if (std::isinf(value)) {
    text += value > 0 ? "infinity" : "-infinity";
  } else {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
  }
}

}  // namespace

void append_number(std::string& text, double value) { append_real(text, value); }
void append_number(std::string& text, float value) { append_real(text, value); }

std::optional<VertexId> parse_integer(std::string_view token) {
  return parse_whole<VertexId>(token);
}

std::optional<double> parse_value(std::string_view token) {
  const auto value = parse_whole<double>(token);
  return value && std::isnan(*value) ? std::nullopt : value;
}

std::optional<double> parse_finite(std::string_view token) {
  const auto value = parse_whole<double>(token);
  return value && !std::isfinite(*value) ? std::nullopt : value;
}

std::string shown(std::string_view found) {
  constexpr std::size_t longest = 40;
  std::string text = "\"";
  for (const char c : found.substr(0, longest)) {
    const bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    text += printable ? c : '?';
  }
  if (found.size() > longest) text += "...";
  return text + '"';
}

}  // namespace weir::io
