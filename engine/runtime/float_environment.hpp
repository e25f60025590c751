// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace weir {

/// While it lives, this thread rounds to nearest and keeps subnormals, so that results do not
/// depend on what the caller had set; then the caller's setting is back.
class FloatEnvironment {
 public:
#if defined(__SSE2__)
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }
#else
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
#endif
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__SSE2__)
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace weir
