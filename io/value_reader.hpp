// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/io/input.hpp>

namespace weir::io {

class Lines;

/// Reads one part of a file of `ID VALUE` lines, such as initial vertex values.
///
/// Columns are split at blanks; empty lines and lines that begin with `#` or `%` are skipped.
/// Values are decimal, or `infinity`; anything else is an Error{input} that names the line.
class ValueReader {
 public:
  explicit ValueReader(const std::string& path, Part part = {});
  static ValueReader from_memory(std::string name, std::string_view bytes, Part part = {});
  ValueReader(ValueReader&&) noexcept;
  ValueReader& operator=(ValueReader&&) noexcept;
  ~ValueReader();

  /// Replaces the batch with the next records, at most 2^16; false at the end.
  bool next(std::vector<std::pair<VertexId, double>>& batch);

 private:
  ValueReader(std::unique_ptr<Input> input, Part part);

  std::unique_ptr<Input> input_;
  std::unique_ptr<Lines> lines_;
};

}  // namespace weir::io
