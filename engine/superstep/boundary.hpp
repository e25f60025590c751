// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/block.hpp>

namespace weir {

/// Where a shared slot stands in the link to one rank.
struct SharedPlace {
  std::uint32_t link = 0;      ///< index into Block::links()
  std::uint32_t position = 0;  ///< in `sent`, or behind all of these in `received`
};

/// The places of every shared slot: an own vertex has one per rank it is a ghost on, a ghost has
/// one, at its owner.
class SharedPlaces {
 public:
  explicit SharedPlaces(const Block& block);

  /// Slots shared with other ranks, ascending.
  std::span<const Slot> slots() const { return slots_; }
  std::span<const SharedPlace> of(Slot slot) const;

 private:
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> offsets_;  // by slot; empty: none
  std::vector<SharedPlace> places_;
};

/// What crosses the boundary of a block between two supersteps: lists of T from an own vertex to
/// all of its ghosts, and from a ghost to its owner.
template <Bitwise T>
class Boundary {
 public:
  /// One list that arrived: at a ghost from its owner, at an own vertex from one of its ghosts.
  struct Received {
    Slot slot = 0;
    std::size_t link = 0;  ///< index into Block::links(): the rank it came from
    std::span<const T> values;
  };

  Boundary(Context& context, const Block& block)
      : context_(context), block_(block), places_(block), outgoing_(block.links().size()) {}
  Boundary(const Boundary&) = delete;
  Boundary& operator=(const Boundary&) = delete;

  Superstep superstep() const { return superstep_; }
  /// The other ranks that share a slot with this one.
  std::size_t num_peers() const { return block_.links().size(); }
  /// Slots shared with other ranks, ascending.
  std::span<const Slot> shared_slots() const { return places_.slots(); }

  /// Brings values to the other holders of a slot, who find them in `received` of the next
  /// superstep: from an own vertex to its ghosts, from a ghost to its owner. Nothing happens where
  /// there is none; an empty list is not sent. From the thread that computes.
  void send(Slot slot, std::span<const T> values) {
    if (values.empty()) return;
    for (const SharedPlace place : places_.of(slot)) {
      Outgoing& out = outgoing_[place.link];
      out.positions.push_back(place.position);
      out.lengths.push_back(static_cast<std::uint32_t>(values.size()));
      out.values.insert(out.values.end(), values.begin(), values.end());
      num_sent_ += values.size();
    }
  }
  void send(Slot slot, const T& value) { send(slot, std::span<const T>(&value, 1)); }

  /// What arrived: by rank ascending, in the order it was sent there.
  std::span<const Received> received() const { return received_; }

  /// Asks for another superstep even if nothing is sent; the least number that any rank proposes
  /// is what every rank finds in `agreed` there.
  void propose(std::int64_t number) {
    proposal_ = proposal_ ? std::min(*proposal_, number) : number;
  }
  /// What was proposed in the last superstep, if anything was.
  std::optional<std::int64_t> agreed() const { return agreed_; }

  /// For the engine. The superstep that begins, with what the last one agreed on.
  void begin(Superstep superstep, std::optional<std::int64_t> agreed) {
    superstep_ = superstep;
    agreed_ = agreed;
    forget_sent();
  }
  /// Takes back what a failed superstep sent.
  void forget_sent() {
    for (Outgoing& out : outgoing_) out = {};
    num_sent_ = 0;
    proposal_.reset();
  }
  std::uint64_t num_sent() const { return num_sent_; }
  std::optional<std::int64_t> proposal() const { return proposal_; }
  /// Collective.
  void exchange();

 private:
  struct Outgoing {
    std::vector<std::uint32_t> positions;
    std::vector<std::uint32_t> lengths;
    std::vector<T> values;
  };

  void receive(std::size_t link_index, const Bytes& bytes);

  Context& context_;
  const Block& block_;
  SharedPlaces places_;
  Superstep superstep_ = 0;
  std::vector<Outgoing> outgoing_;  // by link
  std::uint64_t num_sent_ = 0;
  std::optional<std::int64_t> proposal_;
  std::optional<std::int64_t> agreed_;
  std::vector<std::vector<T>> incoming_;  // what received_ looks into
  std::vector<Received> received_;
};

template <Bitwise T>
void Boundary<T>::exchange() {
  incoming_.clear();
  received_.clear();
  const std::vector<GhostLink>& links = block_.links();
  std::vector<Rank> peers;
  for (const GhostLink& link : links) peers.push_back(link.peer);
  Exchange exchange(context_, "boundary", peers, peers);
  for (std::size_t i = 0; i < links.size(); ++i) {
    Outgoing out = std::move(outgoing_[i]);
    if (out.positions.empty()) continue;
    // Lists of one value each, the frequent case, need no lengths.
    if (out.values.size() == out.lengths.size() &&
        std::all_of(out.lengths.begin(), out.lengths.end(), [](auto n) { return n == 1; }))
      out.lengths.clear();
    Bytes bytes;
    encode(std::span<const std::uint32_t>(out.positions), bytes);
    encode(std::span<const std::uint32_t>(out.lengths), bytes);
    encode(std::span<const T>(out.values), bytes);
    exchange.send(links[i].peer, std::move(bytes));
  }
  exchange.close([&](const Batch& batch) {
    const auto link = std::find_if(links.begin(), links.end(), [&](const GhostLink& each) {
      return each.peer == batch.source;
    });
    receive(static_cast<std::size_t>(link - links.begin()), batch.bytes);
  });
}

template <Bitwise T>
void Boundary<T>::receive(std::size_t link_index, const Bytes& bytes) {
  const GhostLink& link = block_.links()[link_index];
  BytesView in(bytes);
  std::vector<std::uint32_t> positions;
  std::vector<std::uint32_t> lengths;
  decode(in, positions);
  decode(in, lengths);
  if (lengths.empty()) lengths.assign(positions.size(), 1);
  incoming_.emplace_back();
  decode(in, incoming_.back());
  std::span<const T> values(incoming_.back());
  received_.reserve(received_.size() + positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    // What the peer sends from its own vertices comes to the ghosts here.
    const std::size_t at = positions[i];
    const Slot slot =
        at < link.received.size() ? link.received[at] : link.sent.at(at - link.received.size());
    WEIR_EXPECT(lengths.at(i) <= values.size(), internal, "a boundary frame is too short");
    received_.push_back({slot, link_index, values.first(lengths[i])});
    values = values.subspan(lengths[i]);
  }
}

}  // namespace weir
