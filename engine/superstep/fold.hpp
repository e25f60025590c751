// SPDX-License-Identifier: Apache-2.0
// The fold: the one order in which inexact values are combined (docs/semantics.md).
#pragma once

#include <bit>
#include <cstdint>

#include <weir/engine/model/monoid.hpp>

namespace weir {

/// Length of the left part when `count` > 1 items are split: the largest power of two below count.
constexpr std::uint64_t tree_split(std::uint64_t count) { return std::bit_floor(count - 1); }

/// Combines items [begin, begin + count) by the tree: one item is itself, more are split at
/// `tree_split`. `count` > 0.
template <class Combine, class Item>
auto tree_fold(std::uint64_t begin, std::uint64_t count, const Combine& combine, const Item& item)
    -> decltype(item(begin)) {
  if (count == 1) return item(begin);
  const std::uint64_t left = tree_split(count);
  auto a = tree_fold(begin, left, combine, item);
  return combine(a, tree_fold(begin + left, count - left, combine, item));
}

constexpr std::uint64_t fold_block_length = 1024;
constexpr std::uint64_t fold_lanes = 4;

/// One block of at most 1,024 positions: four lanes left to right, then (l0 + l2) + (l1 + l3).
template <Monoid M, class Item>
[[gnu::always_inline]] inline typename M::value_type fold_block(const M& monoid,
                                                                std::uint64_t begin,
                                                                std::uint64_t end,
                                                                const Item& item) {
  using T = typename M::value_type;
  T lane0 = M::identity(), lane1 = lane0, lane2 = lane0, lane3 = lane0;
  std::uint64_t i = begin;
  for (; i + fold_lanes <= end; i += fold_lanes) {
    lane0 = monoid(lane0, item(i));
    lane1 = monoid(lane1, item(i + 1));
    lane2 = monoid(lane2, item(i + 2));
    lane3 = monoid(lane3, item(i + 3));
  }
  if (i < end) lane0 = monoid(lane0, item(i));
  if (i + 1 < end) lane1 = monoid(lane1, item(i + 1));
  if (i + 2 < end) lane2 = monoid(lane2, item(i + 2));
  return monoid(monoid(lane0, lane2), monoid(lane1, lane3));
}

/// The fold of more than one block.
template <Monoid M, class Item>
[[gnu::noinline]] typename M::value_type fold_blocks(const M& monoid, std::uint64_t begin,
                                                     std::uint64_t end, const Item& item) {
  const std::uint64_t num_blocks = (end - begin + fold_block_length - 1) / fold_block_length;
  return tree_fold(std::uint64_t{0}, num_blocks, monoid, [&](std::uint64_t block) {
    const std::uint64_t first = begin + block * fold_block_length;
    return fold_block(monoid, first,
                      first + fold_block_length < end ? first + fold_block_length : end, item);
  });
}

/// fold(item(begin), ..., item(end - 1)), positions counted from `begin`. Absent messages are given
/// as the identity.
template <Monoid M, class Item>
[[gnu::always_inline]] inline typename M::value_type fold(const M& monoid, std::uint64_t begin,
                                                          std::uint64_t end, const Item& item) {
  if (end - begin > fold_block_length) return fold_blocks(monoid, begin, end, item);
  return fold_block(monoid, begin, end, item);
}

/// The part of the tree over `num_items` items that a run [begin, end) can fold alone: its maximal
/// subtrees, left to right.
template <class Combine, class Item, class Emit>
void for_each_subtree(std::uint64_t num_items, std::uint64_t begin, std::uint64_t end,
                      const Combine& combine, const Item& item, const Emit& emit) {
  const auto visit = [&](const auto& self, std::uint64_t first, std::uint64_t count) -> void {
    if (count == 0 || first >= end || first + count <= begin) return;
    if (begin <= first && first + count <= end) {
      emit(tree_fold(first, count, combine, item));
      return;
    }
    const std::uint64_t left = tree_split(count);
    self(self, first, left);
    self(self, first + left, count - left);
  };
  visit(visit, 0, num_items);
}

/// Folds the whole tree from the subtrees of consecutive runs. `owner_end(first)`: end of the run
/// that holds item `first`; `next()`: the next subtree, run by run, left to right. `num_items` > 0.
template <class Combine, class OwnerEnd, class Next>
auto fold_subtrees(std::uint64_t num_items, const Combine& combine, const OwnerEnd& owner_end,
                   Next&& next) -> decltype(next()) {
  const auto visit = [&](const auto& self, std::uint64_t first,
                         std::uint64_t count) -> decltype(next()) {
    if (first + count <= owner_end(first)) return next();
    const std::uint64_t left = tree_split(count);
    auto a = self(self, first, left);
    return combine(a, self(self, first + left, count - left));
  };
  return visit(visit, 0, num_items);
}

}  // namespace weir
