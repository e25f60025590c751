// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/monoid.hpp>

namespace weir {

/// Folding into cells that several threads may reach.
template <Monoid C>
struct ConcurrentFold {
  using Message = typename C::value_type;
  /// Whether there is one for C: it is exact, and its values fit a machine word.
  static constexpr bool is_possible = [] {
    if constexpr (std::is_trivially_copyable_v<Message> && C::is_exact) {
      return std::atomic_ref<Message>::is_always_lock_free &&
             std::has_unique_object_representations_v<
                 std::conditional_t<std::is_floating_point_v<Message>, int, Message>>;
    } else {
      return false;
    }
  }();

  /// Whether a message would change a cell as it is now.
  static bool changes(Message& cell, const Message& message) {
    const Message before = read(cell);
    return !is_same(C{}(before, message), before);
  }
  /// Folds a message into a cell. What the cell held before, if that changed it.
  static std::optional<Message> add(Message& cell, const Message& message) {
    const std::atomic_ref shared(cell);
    Message before = shared.load(std::memory_order_relaxed);
    for (;;) {
      const Message after = C{}(before, message);
      if (is_same(after, before)) return std::nullopt;
      if (shared.compare_exchange_weak(before, after, std::memory_order_relaxed)) return before;
    }
  }
  static Message read(Message& cell) {
    return std::atomic_ref(cell).load(std::memory_order_relaxed);
  }
  static bool is_identity(const Message& message) { return is_same(message, C::identity()); }
  static bool is_same(const Message& a, const Message& b) {
    return std::memcmp(&a, &b, sizeof(Message)) == 0;
  }
};

/// Messages pushed to own rows, folded as they come; only for exact combiners, whose result does
/// not depend on the order. Rows nothing was pushed to hold the identity.
template <Monoid C>
class PushedMessages {
 public:
  using Message = typename C::value_type;
  /// Whether threads may push side by side.
  static constexpr bool is_concurrent = ConcurrentFold<C>::is_possible;

  bool has_any() const { return has_any_; }
  void begin(std::size_t num_rows) {
    if (folded_.size() != num_rows) folded_.assign(num_rows, {C::identity()});
    has_any_ = true;
  }
  void end() { has_any_ = false; }

  void add(Row row, const Message& message) {
    Message& folded = folded_[row].value;
    folded = C{}(folded, message);
  }
  /// From any thread. True when the row held the identity and no longer does; it may do so again.
  bool add_concurrently(Row row, const Message& message) requires is_concurrent {
    const auto before = ConcurrentFold<C>::add(folded_[row].value, message);
    return before && ConcurrentFold<C>::is_identity(*before);
  }
  /// Replaces what a row holds; threads that do so side by side give the same result.
  void put_concurrently(Row row, const Message& message) requires is_concurrent {
    std::atomic_ref(folded_[row].value).store(message, std::memory_order_relaxed);
  }
  /// What was pushed to a row, which then holds the identity again.
  Message take(Row row) {
    Message& folded = folded_[row].value;
    Message result = std::move(folded);
    folded = C::identity();
    return result;
  }

 private:
  LargeVector<detail::Cell<Message>> folded_;
  bool has_any_ = false;
};

}  // namespace weir
