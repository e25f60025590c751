// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <weir/engine/runtime/context.hpp>

namespace weir {

/// Calls body(begin, end) for pieces of [begin, end), on all threads of this rank.
template <class F>
void for_each_piece(Context& context, std::size_t begin, std::size_t end, const F& body) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  context.parallel_for((end - begin + piece - 1) / piece, [&](std::size_t i) {
    body(begin + i * piece, std::min(end, begin + (i + 1) * piece));
  });
}

}  // namespace weir
