// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstring>
#include <type_traits>
#include <vector>

#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/monoid.hpp>

namespace weir {

/// Messages pushed to own rows, folded as they come; only for exact combiners, whose result does
/// not depend on the order. Rows nothing was pushed to hold the identity.
template <Monoid C>
class PushedMessages {
 public:
  using Message = typename C::value_type;
  /// Whether threads may push side by side.
  static constexpr bool is_concurrent = [] {
    if constexpr (std::is_trivially_copyable_v<Message> && C::is_exact) {
      return std::atomic_ref<Message>::is_always_lock_free &&
             std::has_unique_object_representations_v<
                 std::conditional_t<std::is_floating_point_v<Message>, int, Message>>;
    } else {
      return false;
    }
  }();

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
    const std::atomic_ref cell(folded_[row].value);
    Message before = cell.load(std::memory_order_relaxed);
    for (;;) {
      const Message after = C{}(before, message);
      if (is_same(after, before)) return false;
      if (cell.compare_exchange_weak(before, after, std::memory_order_relaxed))
        return is_same(before, C::identity());
    }
  }
  /// What was pushed to a row, which then holds the identity again.
  Message take(Row row) {
    Message& folded = folded_[row].value;
    Message result = std::move(folded);
    folded = C::identity();
    return result;
  }

  /// As add_concurrently; true whenever the fold changed.
  bool lower(Row row, const Message& message) requires is_concurrent {
    const std::atomic_ref cell(folded_[row].value);
    Message before = cell.load(std::memory_order_relaxed);
    for (;;) {
      const Message after = C{}(before, message);
      if (is_same(after, before)) return false;
      if (cell.compare_exchange_weak(before, after, std::memory_order_relaxed)) return true;
    }
  }
  /// As take, beside threads that push.
  Message take_concurrently(Row row) requires is_concurrent {
    return std::atomic_ref(folded_[row].value).exchange(C::identity(), std::memory_order_relaxed);
  }
  static bool is_identity(const Message& message) { return is_same(message, C::identity()); }

 private:
  static bool is_same(const Message& a, const Message& b) {
    return std::memcmp(&a, &b, sizeof(Message)) == 0;
  }

  std::vector<detail::Cell<Message>> folded_;
  bool has_any_ = false;
};

}  // namespace weir
