// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <weir/engine/graph/side.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/monoid.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// What sources published in one superstep, by slot: own vertices and ghosts alike.
///
/// Invariant: an absent slot holds `blank`. While `is_listed`, `listed` names the present slots.
template <class Published>
class PublishedBuffer {
 public:
  void resize(std::size_t num_slots, const Published& blank) {
    blank_ = blank;
    values_.assign(num_slots, {blank});
    present_.assign(num_slots, 0);
    listed_.clear();
    is_listed_ = true;
    num_present_ = 0;
  }

  const Published& operator[](Slot slot) const { return values_[slot].value; }
  bool has(Slot slot) const { return present_[slot] != 0; }
  bool is_full() const { return num_present_ == values_.size(); }
  /// Present slots; meaningful while `is_listed`.
  const std::vector<Slot>& listed() const { return listed_; }
  bool is_listed() const { return is_listed_; }

  /// Writes without counting; slots are distinct, so threads may write side by side.
  void put(Slot slot, Published value) {
    values_[slot].value = std::move(value);
    present_[slot] = 1;
  }
  /// Counts what was put: slots by list, or only how many once a list does not pay.
  void note(const std::vector<Slot>& slots) {
    num_present_ += slots.size();
    if (!is_listed_) return;
    if (listed_.size() + slots.size() > values_.size() / 4 + 64) {
      is_listed_ = false;
      listed_.clear();
    } else {
      listed_.insert(listed_.end(), slots.begin(), slots.end());
    }
  }
  /// Makes the list again where it was given up.
  void make_list() {
    if (is_listed_) return;
    for (Slot slot = 0; slot < present_.size(); ++slot) {
      if (present_[slot]) listed_.push_back(slot);
    }
    is_listed_ = true;
  }

  void clear() {
    if (is_listed_) {
      for (const Slot slot : listed_) {
        values_[slot].value = blank_;
        present_[slot] = 0;
      }
    } else {
      std::fill(values_.begin(), values_.end(), detail::Cell<Published>{blank_});
      std::fill(present_.begin(), present_.end(), std::uint8_t{0});
    }
    listed_.clear();
    is_listed_ = true;
    num_present_ = 0;
  }

 private:
  std::vector<detail::Cell<Published>> values_;
  std::vector<std::uint8_t> present_;
  std::vector<Slot> listed_;
  Published blank_{};
  bool is_listed_ = true;
  std::uint64_t num_present_ = 0;
};

namespace detail {

/// How the present positions of a link are told.
enum class Density : std::uint8_t { all, bitmap, list };

/// The values a link's peer reads, in the order both remember: all of them, or a bitmap or list of
/// positions first, whichever is smallest. Empty when there are none.
template <class Published>
Bytes pack_link(const PublishedBuffer<Published>& buffer, const GhostLink& link,
                std::uint64_t& num_values) {
  std::vector<std::uint32_t> positions;
  std::vector<Wire<Published>> values;
  for (std::uint32_t i = 0; i < link.sent.size(); ++i) {
    if (!buffer.has(link.sent[i])) continue;
    positions.push_back(i);
    values.push_back(buffer[link.sent[i]]);
  }
  num_values += values.size();
  Bytes bytes;
  if (values.empty()) return bytes;
  const std::size_t bitmap_bytes = (link.sent.size() + 7) / 8;
  if (values.size() == link.sent.size()) {
    append_plain(bytes, Density::all);
  } else if (bitmap_bytes < positions.size() * sizeof(std::uint32_t)) {
    append_plain(bytes, Density::bitmap);
    std::vector<std::uint8_t> bitmap(bitmap_bytes);
    for (const std::uint32_t i : positions)
      bitmap[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
    const auto raw = std::as_bytes(std::span(bitmap));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  } else {
    append_plain(bytes, Density::list);
    encode(std::span<const std::uint32_t>(positions), bytes);
  }
  encode(std::span<const Wire<Published>>(values), bytes);
  return bytes;
}

/// Puts what `pack_link` packed on the other side.
template <class Published>
void unpack_link(std::span<const std::byte> bytes, const GhostLink& link,
                 PublishedBuffer<Published>& buffer, std::uint64_t& num_values) {
  BytesView in(bytes);
  std::vector<Slot> slots;
  switch (in.take<Density>()) {
    case Density::all: slots = link.received; break;
    case Density::bitmap: {
      const auto bitmap = in.take_bytes((link.received.size() + 7) / 8);
      for (std::size_t i = 0; i < link.received.size(); ++i) {
        if ((std::to_integer<unsigned>(bitmap[i / 8]) >> (i % 8) & 1U) != 0)
          slots.push_back(link.received[i]);
      }
      break;
    }
    case Density::list: {
      std::vector<std::uint32_t> positions;
      decode(in, positions);
      for (const std::uint32_t i : positions) slots.push_back(link.received.at(i));
      break;
    }
  }
  std::vector<Wire<Published>> values;
  values.reserve(slots.size());
  decode(in, values);
  WEIR_EXPECT(values.size() == slots.size(), internal,
              "a ghost frame has a wrong number of values");
  for (std::size_t i = 0; i < slots.size(); ++i) buffer.put(slots[i], std::move(values[i]));
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
    Bytes bytes = detail::pack_link(buffer, link, num_sent);
    if (!bytes.empty()) exchange.send(link.peer, std::move(bytes));
  }
  exchange.close([&](const Batch& batch) {
    detail::unpack_link(batch.bytes, *by_rank[static_cast<std::size_t>(batch.source)], buffer,
                        num_received);
  });
}

}  // namespace weir
