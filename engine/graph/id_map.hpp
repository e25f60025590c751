// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weir/engine/model/ids.hpp>

namespace weir {

/// Values of ids that may be anything, by open addressing. One value stands for absence.
template <class V>
class IdMap {
 public:
  explicit IdMap(V absent = {}, std::size_t expected_size = 0)
      : absent_(absent), entries_(std::bit_ceil(2 * expected_size + 2), Entry{0, absent}) {}

  /// Value of an id, to be made another than `absent` where it is that.
  V& operator[](VertexId id) {
    Entry* entry = &entries_[place_of(id)];
    if (entry->value == absent_) {
      if (2 * ++size_ > entries_.size()) {
        grow();
        entry = &entries_[place_of(id)];
      }
      entry->id = id;
    }
    return entry->value;
  }

  V find(VertexId id) const { return entries_[place_of(id)].value; }

  std::size_t num_bytes() const { return entries_.size() * sizeof(Entry); }

  /// visit(id, value) in no order.
  template <class F>
  void for_each(const F& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.value != absent_) visit(entry.id, entry.value);
    }
  }

 private:
  struct Entry {
    VertexId id;
    V value;
  };

  /// Where the id is, or where it would be.
  std::size_t place_of(VertexId id) const {
    const std::size_t mask = entries_.size() - 1;
    // The high bits of the product depend on all bits of the id.
    std::size_t at = static_cast<std::size_t>(
        (static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15U) >> (64 - std::bit_width(mask)));
    while (entries_[at].value != absent_ && entries_[at].id != id) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Entry> old(2 * entries_.size(), Entry{0, absent_});
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.value != absent_) entries_[place_of(entry.id)] = entry;
    }
  }

  V absent_;
  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace weir
