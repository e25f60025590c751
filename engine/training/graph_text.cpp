// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/graph_text.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::training {

void Text::fail(std::size_t line, const std::string& found, const std::string& expected) const {
  throw Error(ErrorCode::input, name + ":" + std::to_string(line + 1) + ": found " + found +
                                    "; expected " + expected);
}

Text read_lines(const io::Input& input) {
  Text text{input.name(), {}};
  io::Lines lines(input);
  while (lines.next()) text.lines.emplace_back(lines.text());
  return text;
}

double read_amount(const Text& text, std::size_t line, std::string_view token, const char* what,
                   double unit) {
  const auto amount = io::parse_finite(io::trimmed(token));
  if (!amount || *amount < 0) {
    text.fail(line, std::string(what) + " " + io::shown(token), "a number, not negative");
  }
  return *amount * unit;
}

}  // namespace weir::training
