// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/model/error.hpp>

namespace weir {

std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::usage: return "usage";
    case ErrorCode::input: return "input";
    case ErrorCode::output: return "output";
    case ErrorCode::program: return "program";
    case ErrorCode::memory: return "memory";
    case ErrorCode::communication: return "communication";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal";
    case ErrorCode::corruption: return "corruption";
  }
  return "unknown";
}

}  // namespace weir
