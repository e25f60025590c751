// SPDX-License-Identifier: Apache-2.0
#include <weir/io/json_vertex.hpp>

#include <weir/io/number_text.hpp>

#include <algorithm>

namespace weir::io {

void JsonVertex::skip_blanks() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
}

bool JsonVertex::take(char c) {
  skip_blanks();
  if (rest_.empty() || rest_.front() != c) return false;
  rest_.remove_prefix(1);
  return true;
}

bool JsonVertex::take_number(std::string_view& number) {
  skip_blanks();
  const std::size_t size = std::min(rest_.find_first_of(" \t,]"), rest_.size());
  number = rest_.substr(0, size);
  if (!parse_finite(number)) return false;
  rest_.remove_prefix(size);
  return true;
}

bool JsonVertex::open(std::string_view& id) {
  std::string_view value;
  return take('[') && take_number(id) && take(',') && take_number(value) && take(',') && take('[');
}

JsonVertex::Step JsonVertex::next(std::string_view& target, std::string_view& weight) {
  if (take(']')) {
    if (!take(']')) return Step::malformed;
    skip_blanks();
    return rest_.empty() ? Step::end : Step::malformed;
  }
  if (!is_first_ && !take(',')) return Step::malformed;
  is_first_ = false;
  const bool is_edge =
      take('[') && take_number(target) && take(',') && take_number(weight) && take(']');
  return is_edge ? Step::edge : Step::malformed;
}

}  // namespace weir::io
