// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace weir::io {

/// Cuts `[ID,VALUE,[[TARGET,WEIGHT],...]]`, a vertex as Giraph writes it, into its numbers.
///
/// Strict: numbers, brackets and commas in this order, blanks between them, nothing else. `rest()`
/// shows where it stopped when a step failed.
class JsonVertex {
 public:
  explicit JsonVertex(std::string_view line) : rest_(line) {}

  /// Reads up to the list of edges; false if the line is not of this form.
  bool open(std::string_view& id);

  enum class Step { edge, end, malformed };

  /// Reads the next edge, or the end of the list and of the line.
  Step next(std::string_view& target, std::string_view& weight);

  std::string_view rest() const { return rest_; }

 private:
  bool take(char c);
  bool take_number(std::string_view& number);
  void skip_blanks();

  std::string_view rest_;
  bool is_first_ = true;
};

}  // namespace weir::io
