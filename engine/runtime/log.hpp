// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace weir {

enum class LogLevel { debug, info, warning };

/// Receives the library's messages; the default is none. May be called from any thread of a rank.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view text) = 0;
};

}  // namespace weir
