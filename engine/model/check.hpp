// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>

#include <weir/engine/model/error.hpp>

/// The caller's or the world's fault: throws Error{code, text} unless the condition holds.
#define WEIR_EXPECT(condition, code, text)                                  \
  do {                                                                      \
    if (!(condition)) throw ::weir::Error(::weir::ErrorCode::code, (text)); \
  } while (false)

/// Our own fault: unreachable by any input.
#define WEIR_ASSERT(condition) assert(condition)
