// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/training/graph_files.hpp>
#include <weir/io/input.hpp>

/// What the readers of operator graphs share.
namespace weir::training {

/// A file as its lines.
struct Text {
  std::string name;
  std::vector<std::string> lines;

  /// Throws Error{input} with the text `FILE:LINE: found ...; expected ...`; `line` counts from 0.
  [[noreturn]] void fail(std::size_t line, const std::string& found,
                         const std::string& expected) const;
};

Text read_lines(const io::Input& input);

/// Seconds or bytes: a finite number that is not negative, times `unit`.
double read_amount(const Text& text, std::size_t line, std::string_view token, const char* what,
                   double unit = 1);

OperatorGraph read_piper(const Text& text, PiperVariant variant);

}  // namespace weir::training
