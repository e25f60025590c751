// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <weir/engine/model/monoid.hpp>

namespace weir {

/// What arrived at one vertex, folded by the program's combiner.
template <class M>
class Inbox {
 public:
  using message_type = M;

  Inbox(const M& folded, bool is_empty) : folded_(folded), is_empty_(is_empty) {}

  /// True when nothing arrived. With a combiner a message equal to the identity is no message.
  bool empty() const { return is_empty_; }

  /// The fold of all messages; the identity when none arrived. A floating sum of nothing is +0.0.
  template <Monoid C>
  requires std::same_as<typename C::value_type, M> M combined(C)
  const {
    if constexpr (std::floating_point<M> && !C::is_exact) {
      return folded_ + M{0};
    } else {
      return folded_;
    }
  }

 private:
  M folded_;
  bool is_empty_;
};

}  // namespace weir
