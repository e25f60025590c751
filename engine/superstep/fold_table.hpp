// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/monoid.hpp>
#include <weir/engine/superstep/fold.hpp>

namespace weir {

/// Folds of many inboxes at once, whose messages come one by one: of each the bits that `fold`
/// gives for its messages in the order in which they came.
template <Monoid C>
class FoldTable {
 public:
  using Message = typename C::value_type;

  /// Empties `size` inboxes.
  void reset(std::size_t size) {
    const Message none = C::identity();
    if constexpr (ExactMonoid<C>) {
      entries_.assign(size, {{none}, 0});
    } else {
      entries_.assign(size, {{none, none, none, none}, 0});
      blocks_.clear();
    }
  }
  [[gnu::always_inline]] inline void add(std::size_t inbox, const Message& message) {
    Entry& entry = entries_[inbox];
    Message& lane = entry.lanes[entry.count % num_lanes];
    lane = C{}(lane, message);
    ++entry.count;
    if constexpr (!ExactMonoid<C>) {
      if (entry.count % fold_block_length == 0) end_block(inbox);
    }
  }
  bool is_empty(std::size_t inbox) const { return entries_[inbox].count == 0; }
  /// The fold of one inbox; it is not to be added to any more.
  Message take(std::size_t inbox) {
    Entry& entry = entries_[inbox];
    if constexpr (ExactMonoid<C>) {
      return entry.lanes[0];
    } else {
      if (entry.count < fold_block_length) return value_of(entry);
      std::vector<detail::Cell<Message>>& blocks = blocks_[inbox];
      if (entry.count % fold_block_length != 0) blocks.push_back({value_of(entry)});
      return tree_fold(std::uint64_t{0}, blocks.size(), C{},
                       [&](std::uint64_t block) -> Message { return blocks[block].value; });
    }
  }

 private:
  // An exact fold is the same in any grouping.
  static constexpr std::uint64_t num_lanes = ExactMonoid<C> ? 1 : fold_lanes;
  struct Entry {
    Message lanes[num_lanes];  // of the block that is not full yet
    std::uint64_t count;       // messages
  };

  static Message value_of(const Entry& entry) {
    const C combine{};
    return combine(combine(entry.lanes[0], entry.lanes[2]),
                   combine(entry.lanes[1], entry.lanes[3]));
  }
  [[gnu::noinline]] void end_block(std::size_t inbox) {
    Entry& entry = entries_[inbox];
    blocks_[inbox].push_back({value_of(entry)});
    for (Message& lane : entry.lanes) lane = C::identity();
  }

  std::vector<Entry> entries_;
  std::unordered_map<std::size_t, std::vector<detail::Cell<Message>>> blocks_;  // full ones
};

}  // namespace weir
