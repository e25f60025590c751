// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weir/engine/graph/side.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/monoid.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/marks.hpp>

namespace weir {

/// What sources published in one superstep, by slot: own vertices and ghosts alike.
///
/// Invariants: while `needs_blank`, an absent slot holds the blank; while `is_listed`, `listed`
/// names the present slots. A buffer begun for a superstep that visits every row keeps what it held
/// (`is_stale`): each own row is put or dropped anew, ghosts by the exchange.
///
/// A superstep of few vertices publishes to a list instead (`is_apart`), which touches no array as
/// long as the graph; `spread` brings what is there to the slots, which hold nothing before.
template <class Published>
class PublishedBuffer {
 public:
  /// A published value of an own row, apart from its slot.
  struct Entry {
    Row row = 0;
    detail::Cell<Published> value;
  };

  /// `needs_blank`: absent slots are read without asking `has`.
  void resize(std::size_t num_slots, const Published& blank, bool needs_blank) {
    blank_ = blank;
    needs_blank_ = needs_blank || !std::is_trivially_copyable_v<Published>;
    values_.assign(num_slots, {blank});
    present_.assign(num_slots, Mark::unset);
    listed_.clear();
    entries_.clear();
    is_listed_ = true;
    is_stale_ = false;
    is_apart_ = false;
    num_present_ = 0;
  }

  const Published& operator[](Slot slot) const { return values_[slot].value; }
  bool has(Slot slot) const { return present_[slot] == Mark::set; }
  const detail::Cell<Published>* values() const { return values_.data(); }
  const Mark* presence() const { return present_.data(); }
  std::size_t size() const { return values_.size(); }
  std::uint64_t num_present() const { return num_present_; }
  bool is_full() const { return num_present_ == values_.size(); }
  bool is_stale() const { return is_stale_; }
  bool is_listed() const { return is_listed_; }
  bool is_apart() const { return is_apart_; }
  /// What was appended, while apart.
  const std::vector<Entry>& entries() const { return entries_; }
  /// Adds a value of an own row; one thread at a time.
  [[gnu::always_inline]] inline void append(Row row, const Published& value) {
    entries_.push_back({row, {value}});
  }
  /// Ends being apart: every value goes to its slot.
  void spread(const Slots& slots) {
    is_apart_ = false;
    for (const Entry& entry : entries_) {
      const Slot slot = slots.of_rows[entry.row];
      put(slot, entry.value.value);
      listed_.push_back(slot);
    }
    num_present_ += entries_.size();
    entries_.clear();
  }

  /// Writes without counting; slots are distinct, so threads may write side by side. A copy of what
  /// a loop over many rows needs.
  struct Writer {
    detail::Cell<Published>* values;
    Mark* present;
    bool is_stale;
    void put(Slot slot, Published value) const {
      values[slot].value = std::move(value);
      present[slot] = Mark::set;
    }
  };
  Writer writer() { return {values_.data(), present_.data(), is_stale_}; }
  void put(Slot slot, Published value) { writer().put(slot, std::move(value)); }
  /// The slot holds nothing; a stale one is emptied.
  void drop(Slot slot) {
    if (present_[slot] == Mark::unset) return;
    present_[slot] = Mark::unset;
    if (needs_blank_) values_[slot].value = blank_;
  }
  /// Counts what was put: slots by list, or only how many once a list does not pay.
  void note(std::span<const Slot> slots) {
    num_present_ += slots.size();
    if (!is_listed_) return;
    if (listed_.size() + slots.size() > values_.size() / 4 + 64) {
      is_listed_ = false;
      listed_.clear();
    } else {
      listed_.insert(listed_.end(), slots.begin(), slots.end());
    }
  }
  void note(std::uint64_t num_slots) {
    if (num_slots == 0) return;
    num_present_ += num_slots;
    is_listed_ = false;
    listed_.clear();
  }
  /// The present slots; the list is made where it was given up.
  const std::vector<Slot>& listed() {
    if (is_listed_) return listed_;
    for_each_set(present_, [&](std::size_t slot) { listed_.push_back(static_cast<Slot>(slot)); });
    is_listed_ = true;
    return listed_;
  }

  /// Readies the buffer for a superstep: empty, or stale where every own row is visited.
  /// `is_apart`: values will be appended.
  void begin(Context& context, bool visits_all, bool is_apart = false) {
    if (visits_all && !is_listed_ && needs_blank_) {
      is_stale_ = true;
      listed_.clear();
      num_present_ = 0;
      return;
    }
    clear(context);
    is_apart_ = is_apart;
  }
  /// What was stale has been replaced.
  void end_stale() { is_stale_ = false; }

  void clear(Context& context) {
    if (is_listed_ && !is_stale_) {
      for (const Slot slot : listed_) drop(slot);
    } else {
      constexpr std::size_t piece = std::size_t{1} << 16;
      const std::size_t num_pieces = (values_.size() + piece - 1) / piece;
      context.parallel_for(num_pieces, [&](std::size_t i) {
        const auto begin = static_cast<std::ptrdiff_t>(i * piece);
        const auto end = static_cast<std::ptrdiff_t>(std::min(values_.size(), (i + 1) * piece));
        if (needs_blank_)
          std::fill(values_.begin() + begin, values_.begin() + end,
                    detail::Cell<Published>{blank_});
        std::fill(present_.begin() + begin, present_.begin() + end, Mark::unset);
      });
    }
    listed_.clear();
    entries_.clear();
    is_listed_ = true;
    is_stale_ = false;
    is_apart_ = false;
    num_present_ = 0;
  }

 private:
  LargeVector<detail::Cell<Published>> values_;
  LargeVector<Mark> present_;
  std::vector<Slot> listed_;
  std::vector<Entry> entries_;
  Published blank_{};
  bool needs_blank_ = true;
  bool is_listed_ = true;
  bool is_stale_ = false;
  bool is_apart_ = false;
  std::uint64_t num_present_ = 0;
};

namespace detail {

/// How the present positions of a link are told.
enum class Density : std::uint8_t { all, bitmap, list };

/// Positions of a link whose slots are present, ascending; not called when all are.
template <class Published>
std::vector<std::uint32_t> present_positions(PublishedBuffer<Published>& buffer,
                                             const GhostLink& link) {
  std::vector<std::uint32_t> positions;
  // A few present slots are looked up in the link; many are met by walking it.
  if (buffer.is_listed() && buffer.num_present() < link.sent.size() / 32) {
    for (const Slot slot : buffer.listed()) {
      const auto at = std::lower_bound(link.sent.begin(), link.sent.end(), slot);
      if (at != link.sent.end() && *at == slot)
        positions.push_back(static_cast<std::uint32_t>(at - link.sent.begin()));
    }
    std::sort(positions.begin(), positions.end());
  } else {
    for (std::uint32_t i = 0; i < link.sent.size(); ++i) {
      if (buffer.has(link.sent[i])) positions.push_back(i);
    }
  }
  return positions;
}

/// Does pieces of work one after the other.
struct InOrder {
  void operator()(std::size_t count, const auto& body) const {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
};

/// Appends `count` values, as `encode` would: the i-th is value_at(i). `do_pieces(n, body)` calls
/// body(0) to body(n - 1), in any order or side by side.
template <class Published, class At, class DoPieces = InOrder>
void append_values(std::size_t count, const At& value_at, Bytes& bytes,
                   const DoPieces& do_pieces = {}) {
  using Record = Wire<Published>;
  if constexpr (Bitwise<Record>) {
    append_plain(bytes, std::uint64_t{count});
    const std::size_t begin = bytes.size();
    bytes.resize(begin + count * sizeof(Record));
    constexpr std::size_t piece = std::size_t{1} << 14;
    do_pieces((count + piece - 1) / piece, [&](std::size_t p) {
      for (std::size_t i = p * piece; i < std::min(count, (p + 1) * piece); ++i) {
        const Record record = value_at(i);
        std::memcpy(bytes.data() + begin + i * sizeof(Record), &record, sizeof(Record));
      }
    });
  } else {
    std::vector<Record> values;
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) values.push_back(value_at(i));
    encode(std::span<const Record>(values), bytes);
  }
}

/// Reads what `append_values` wrote and calls put(i, value) in order.
template <class Published, class Put>
void take_values(BytesView& in, std::size_t count, const Put& put) {
  using Record = Wire<Published>;
  const std::string_view mismatch = "a batch has a wrong number of values";
  if constexpr (Bitwise<Record>) {
    WEIR_EXPECT(in.take<std::uint64_t>() == count, internal, std::string(mismatch));
    const auto bytes = in.take_bytes(count * sizeof(Record));
    for (std::size_t i = 0; i < count; ++i) {
      alignas(Record) std::byte storage[sizeof(Record)];
      std::memcpy(storage, bytes.data() + i * sizeof(Record), sizeof(Record));
      put(i, *std::launder(reinterpret_cast<const Record*>(storage)));
    }
  } else {
    std::vector<Record> values;
    values.reserve(count);
    decode(in, values);
    WEIR_EXPECT(values.size() == count, internal, std::string(mismatch));
    for (std::size_t i = 0; i < count; ++i) put(i, std::move(values[i]));
  }
}

/// The values a link's peer reads, in the order both remember: all of them, or a bitmap or list of
/// positions first, whichever is smallest. Empty when there are none.
template <class Published>
Bytes pack_link(Context& context, PublishedBuffer<Published>& buffer, const GhostLink& link,
                std::uint64_t& num_values) {
  Bytes bytes;
  const auto append = [&](std::size_t count, const auto& slot_at) {
    num_values += count;
    append_values<Published>(
        count, [&](std::size_t i) -> Wire<Published> { return buffer[slot_at(i)]; }, bytes,
        [&](std::size_t num_pieces, const auto& body) { context.parallel_for(num_pieces, body); });
  };
  const auto append_all = [&] {
    append_plain(bytes, Density::all);
    append(link.sent.size(), [&](std::size_t i) { return link.sent[i]; });
    return bytes;
  };
  if (buffer.num_present() >= link.sent.size() &&
      std::all_of(link.sent.begin(), link.sent.end(), [&](Slot s) { return buffer.has(s); }))
    return append_all();
  const std::vector<std::uint32_t> positions = present_positions(buffer, link);
  if (positions.empty()) return bytes;
  const std::size_t bitmap_bytes = (link.sent.size() + 7) / 8;
  if (bitmap_bytes < positions.size() * sizeof(std::uint32_t)) {
    append_plain(bytes, Density::bitmap);
    const std::size_t begin = bytes.size();
    bytes.resize(begin + bitmap_bytes);
    for (const std::uint32_t i : positions) bytes[begin + i / 8] |= std::byte{1} << (i % 8);
  } else {
    append_plain(bytes, Density::list);
    encode(std::span<const std::uint32_t>(positions), bytes);
  }
  append(positions.size(), [&](std::size_t i) { return link.sent[positions[i]]; });
  return bytes;
}

/// Puts what `pack_link` packed on the other side; a stale link is replaced whole.
template <class Published>
void unpack_link(std::span<const std::byte> bytes, const GhostLink& link,
                 PublishedBuffer<Published>& buffer, std::uint64_t& num_values) {
  BytesView in(bytes);
  const auto density = in.take<Density>();
  std::vector<Slot> some;
  if (density != Density::all && buffer.is_stale()) {
    for (const Slot slot : link.received) buffer.drop(slot);
  }
  if (density == Density::bitmap) {
    const auto bitmap = in.take_bytes((link.received.size() + 7) / 8);
    for (std::size_t i = 0; i < link.received.size(); ++i) {
      if ((std::to_integer<unsigned>(bitmap[i / 8]) >> (i % 8) & 1U) != 0)
        some.push_back(link.received[i]);
    }
  } else if (density == Density::list) {
    std::vector<std::uint32_t> positions;
    decode(in, positions);
    for (const std::uint32_t i : positions) some.push_back(link.received.at(i));
  }
  const std::span<const Slot> slots(density == Density::all ? link.received : some);
  take_values<Published>(in, slots.size(), [&](std::size_t i, Wire<Published> value) {
    buffer.put(slots[i], std::move(value));
  });
  buffer.note(slots);
  num_values += slots.size();
}

}  // namespace detail

/// Brings own published values to the ranks that read them. Collective. Counts values both ways.
template <class Published>
void exchange_published(Context& context, const Slots& slots, PublishedBuffer<Published>& buffer,
                        std::uint64_t& num_sent, std::uint64_t& num_received) {
  if (context.size() == 1) return;
  std::vector<Rank> destinations;
  std::vector<Rank> sources;
  std::vector<const GhostLink*> by_rank(static_cast<std::size_t>(context.size()), nullptr);
  for (const auto& link : slots.links) {
    by_rank[static_cast<std::size_t>(link.peer)] = &link;
    if (!link.sent.empty()) destinations.push_back(link.peer);
    if (!link.received.empty()) sources.push_back(link.peer);
  }
  Exchange exchange(context, "published values", std::move(destinations), std::move(sources));
  for (const auto& link : slots.links) {
    if (link.sent.empty()) continue;
    Bytes bytes = detail::pack_link(context, buffer, link, num_sent);
    if (!bytes.empty()) exchange.send(link.peer, std::move(bytes));
  }
  exchange.close([&](const Batch& batch) {
    auto& link = by_rank[static_cast<std::size_t>(batch.source)];
    detail::unpack_link(batch.bytes, *link, buffer, num_received);
    link = nullptr;
  });
  if (!buffer.is_stale()) return;
  for (const GhostLink* const link : by_rank) {  // peers that sent nothing
    if (link == nullptr) continue;
    for (const Slot slot : link->received) buffer.drop(slot);
  }
}

}  // namespace weir
