// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <weir/engine/graph/pages.hpp>
#include <weir/engine/model/ids.hpp>

namespace weir {

/// A partition of slots into sets that only grow together; each has its smallest slot as root.
///
/// Threads may unite side by side: a root is hooked under a smaller one by compare-and-swap
/// ([Sutton18]). Which sets there are in the end does not depend on who came first.
class DisjointSets {
 public:
  /// Of slots [0, size), each of which has to be started.
  void resize(Slot size) { parents_.resize(size); }
  /// A slot starts under one that is not larger: under itself, as a set of its own, or as part of
  /// another's set, which costs no compare-and-swap while nobody unites yet.
  void start(Slot slot, Slot under) { parents_[slot] = under; }

  Slot root(Slot slot) const {
    for (Slot parent = load(slot); parent != slot; parent = load(slot)) slot = parent;
    return slot;
  }

  void unite(Slot a, Slot b) {
    a = load(a);
    b = load(b);
    while (a != b) {
      const Slot high = std::max(a, b);
      const Slot low = std::min(a, b);
      const Slot parent = load(high);
      if (parent == low) return;
      if (parent == high && hook(high, low)) return;
      a = load(load(high));
      b = load(low);
    }
  }

  /// Makes roots the parents of the slots in [first, last). Others may compress other slots.
  void compress(std::size_t first, std::size_t last) {
    for (std::size_t slot = first; slot < last; ++slot) {
      std::atomic_ref(parents_[slot])
          .store(root(static_cast<Slot>(slot)), std::memory_order_relaxed);
    }
  }

 private:
  // Parents only fall, and a stale one is still an ancestor: no order is needed.
  Slot load(Slot slot) const {
    return std::atomic_ref(const_cast<Slot&>(parents_[slot])).load(std::memory_order_relaxed);
  }
  bool hook(Slot root, Slot under) {
    return std::atomic_ref(parents_[root])
        .compare_exchange_strong(root, under, std::memory_order_relaxed);
  }

  PlainVector<Slot> parents_;
};

}  // namespace weir
