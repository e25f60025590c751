// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <weir/engine/model/ids.hpp>

namespace weir {

/// What kind of thing went wrong; one line of meaning each.
enum class ErrorCode {
  usage,    ///< The caller broke a documented rule of a function or an option.
  input,    ///< A file, a graph or a value given to weir is missing, malformed or out of range.
  output,   ///< A result could not be written whole.
  program,  ///< A vertex program threw, or broke the law of one of its traits.
  memory,   ///< Memory ran out on some rank.
  communication,  ///< A rank could not be reached, left early, or a wait passed its deadline.
  cancelled,      ///< The caller's cancel token stopped the run.
  internal,       ///< A defect of weir itself.
  corruption,     ///< Memory or a transfer changed what was computed, as verification found.
};

/// Name of a code as it is written in reports, e.g. "input".
std::string_view name_of(ErrorCode code) noexcept;

/// The one exception of weir. The same error is thrown on every rank.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

  /// The whole text: where it happened (rank, superstep, vertex, as far as known), then what the
  /// thrower wrote.
  std::string_view text() const noexcept { return what(); }

 private:
  ErrorCode code_;
};

}  // namespace weir
