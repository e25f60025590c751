// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/engine/model/error.hpp>

/// Throws Error{code, text} unless the condition holds.
#define WEIR_EXPECT(condition, code, text)                                  \
  do {                                                                      \
    if (!(condition)) throw ::weir::Error(::weir::ErrorCode::code, (text)); \
  } while (false)
