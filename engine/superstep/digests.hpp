// SPDX-License-Identifier: Apache-2.0
// What a ledger says of a shard, and what verification compares. Only this file knows both an
// executor's inside and the digests of a ledger.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/resilience/digest.hpp>
#include <weir/engine/resilience/merkle_tree.hpp>
#include <weir/engine/resilience/snapshot_store.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/superstep/cpu_executor.hpp>
#include <weir/engine/superstep/fixed_point_executor.hpp>

namespace weir {

namespace detail {

/// Whether every bit of a T says something of its value.
template <class T>
inline constexpr bool is_plain = std::has_unique_object_representations_v<T> ||
                                 std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

/// Appends the bits of a value, without what lies between its members.
template <class T>
void append_bits(const T& value, Bytes& out) {
  if constexpr (is_plain<T>) {
    append_plain(out, value);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](const auto&... each) { (append_bits(each, out), ...); }, value);
  } else if constexpr (std::is_trivially_copyable_v<T> && Bitwise<T>) {
    alignas(T) std::byte storage[sizeof(T)];
    std::memcpy(storage, &value, sizeof(T));
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)  // of GCC; with Clang such values are hashed as they lie
    __builtin_clear_padding(std::launder(reinterpret_cast<T*>(storage)));
#endif
#endif
    out.insert(out.end(), storage, storage + sizeof(T));
  } else {
    encode(std::span<const T>(&value, 1), out);
  }
}

/// The bits of cells that lie one after the other: in place where they say all, else gathered.
template <class T>
std::span<const std::byte> bits_of(std::span<const Cell<T>> cells, Bytes& gathered) {
  if constexpr (is_plain<T>) {
    static_assert(sizeof(Cell<T>) == sizeof(T));
    return std::as_bytes(cells);
  } else {
    gathered.clear();
    for (const auto& cell : cells) append_bits(cell.value, gathered);
    return gathered;
  }
}

/// Digests of the parts of a shard that verification looks at again.
struct ShardSeal {
  Digest rows{};       ///< values and flags
  Digest published{};  ///< what its vertices published
  Digest sent{};       ///< messages sent to them
};

/// What computing the shards of a rank produced, before anything leaves the rank.
struct Outcome {
  std::vector<ShardSeal> shards;       ///< by own shard; `sent` is not of them yet
  std::vector<Digest> contributions;   ///< by own shard: aggregates and counts
  std::vector<std::uint8_t> is_clean;  ///< by own shard: who did not scatter published nothing
  std::map<ShardIndex, std::uint64_t> sends;  ///< by the shard of their targets
};

/// The sum of hashes of the values that one shard's vertices have in a link between ranks.
struct GhostSum {
  std::uint64_t shard = 0;
  std::uint64_t sum = 0;
  friend bool operator==(const GhostSum&, const GhostSum&) = default;
};

}  // namespace detail

/// Digests of the shards of an executor between two supersteps.
///
/// `of_shard` is the same at any number of ranks and threads and in any direction wherever the
/// state is. The rest is for verification, which compares a rank with itself and its neighbours.
template <class Executor>
class ExecutorDigests;

template <class G, class First, class... Rest>
class ExecutorDigests<CpuExecutor<G, First, Rest...>> {
 public:
  using Executor = CpuExecutor<G, First, Rest...>;
  using Value = typename First::Value;
  using Message = typename First::Message;
  static constexpr bool is_possible =
      Transferable<detail::Wire<Value>> && Transferable<detail::Wire<Message>>;

  explicit ExecutorDigests(Executor& executor) : executor_(executor) {}

  ShardRange shards() const { return executor_.vertices().shards(); }
  ShardIndex num_shards() const { return executor_.graph_.shards().num_shards(); }

  /// Own shards, 0 the rank's first, whose digests the last superstep may have changed; the shards
  /// that had messages before are to be added.
  const std::vector<std::size_t>& visited() const { return executor_.touched_; }
  /// Own shards that hold sent messages.
  std::vector<std::size_t> with_sent() const {
    std::vector<std::size_t> found;
    std::size_t shard = 0;
    executor_.sent_.for_each_row(0, executor_.vertices().size(), [&](Row row, const auto&) {
      while (executor_.vertices().first_row(shards().begin + static_cast<ShardIndex>(shard) + 1) <=
             row)
        ++shard;
      if (found.empty() || found.back() != shard) found.push_back(shard);
    });
    return found;
  }

  /// From now on shards are digested by the threads that compute them, while they have them at
  /// hand.
  void watch() {
    if constexpr (!MutatingProgram<First>) {
      computed_.resize(shards().size());
      executor_.after_shard_ = [this](std::size_t s) {
        const ShardIndex shard = shards().begin + static_cast<ShardIndex>(s);
        ShardDigests digests{digest_of_state(shard), {}};
        Executor::with_phase(executor_.phase_, [&](auto k) {
          if constexpr (!StickyProgram<Phase<k>>)
            digests.messages = digest_of_count(executor_.work_[s].num_scattered);
        });
        computed_[s] = digests;
      };
    }
  }

  /// Whether a shard, 0 the rank's first, was digested when it was computed.
  bool is_at_hand(std::size_t s) const { return s < computed_.size() && computed_[s]; }
  /// Of a shard that was computed in the last superstep, what was digested then is taken, once.
  ShardDigests of_shard(ShardIndex shard) {
    const std::size_t s = shard - shards().begin;
    ShardDigests digests;
    bool has_published = false;
    if (is_at_hand(s)) {
      digests = *std::exchange(computed_[s], std::nullopt);
      with_read_phase([&](auto k) { has_published = !StickyProgram<Phase<k>>; });
    } else {
      digests.state = digest_of_state(shard);
    }
    if (!has_published) digests.messages = digest_of_published(shard);
    const Bytes inbox = bytes_of_inbox(shard);
    if (!inbox.empty()) digests.messages = digest_of({digests.messages, inbox});
    return digests;
  }

  // What follows is for verification.

  /// All that computing a superstep overwrites.
  struct Saved {
    PlainVector<detail::Cell<Value>> values;
    LargeVector<Mark> halted;
    std::vector<Row> unhalted;
    std::uint64_t num_unhalted = 0;
    std::uint64_t num_arcs_out = 0;
  };
  Saved save() const {
    return {executor_.values_, executor_.halted_, executor_.unhalted_, executor_.num_unhalted_,
            executor_.num_arcs_out_};
  }
  void restore(Saved saved) {
    executor_.values_ = std::move(saved.values);
    executor_.halted_ = std::move(saved.halted);
    executor_.unhalted_ = std::move(saved.unhalted);
    executor_.num_unhalted_ = saved.num_unhalted;
    executor_.num_arcs_out_ = saved.num_arcs_out;
    executor_.mutations_ = {};
  }

  std::map<ShardIndex, std::uint64_t> sums_of_sends() const {
    std::map<ShardIndex, std::uint64_t> sums;
    Bytes bytes;
    std::uint64_t num_before = 0;
    for (const std::size_t s : executor_.touched_) {
      executor_.work_[s].sends.for_each([&](VertexId target, const Message& message) {
        bytes.clear();
        append_plain(bytes, target);
        detail::append_bits(message, bytes);
        sums[executor_.graph_.shards().shard_of(target)] += hash_bytes(bytes, num_before++);
      });
    }
    return sums;
  }

  /// After computing, before the exchange.
  detail::Outcome outcome() const {
    detail::Outcome outcome;
    outcome.shards.resize(shards().size());
    outcome.contributions.resize(shards().size());
    outcome.is_clean.resize(shards().size());
    executor_.context_.parallel_for(shards().size(), [&](std::size_t s) {
      const ShardIndex shard = shards().begin + static_cast<ShardIndex>(s);
      outcome.shards[s] = {seal_of_rows(shard), digest_of_computed(shard), {}};
      const auto& work = executor_.work_[s];
      Bytes bytes;
      for (const std::uint64_t count :
           {work.num_computed, work.num_messages, work.num_unhalted, work.num_scattered})
        append_plain(bytes, count);
      detail::append_bits(work.aggregates, bytes);
      outcome.contributions[s] = digest_of({bytes});
      outcome.is_clean[s] = is_clean(shard) ? 1 : 0;
    });
    outcome.sends = sums_of_sends();
    return outcome;
  }

  /// After a commit.
  detail::ShardSeal seal(ShardIndex shard) const {
    return {seal_of_rows(shard), seal_of_published(shard), seal_of_sent(shard)};
  }
  Digest seal_of_rows(ShardIndex shard) const {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    Bytes values;
    return digest_of(
        {detail::bits_of(values_in(first, last), values), std::as_bytes(halted_in(first, last))});
  }
  Digest seal_of_published(ShardIndex shard) const {
    Bytes bytes;
    with_read_phase([&](auto k) {
      const auto& channel = std::get<k>(executor_.channels_);
      for_each_slot(channel, shard, [&](Slot slot) { append_slot<k>(channel.read, slot, bytes); });
    });
    return digest_of({bytes});
  }
  Digest seal_of_sent(ShardIndex shard) const {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    Bytes bytes;
    executor_.sent_.for_each_row(first, last, [&](Row row, const auto& messages) {
      append_plain(bytes, row);
      for (const auto& cell : messages) detail::append_bits(cell.value, bytes);
    });
    append_delivered(first, last, bytes);
    return digest_of({bytes});
  }

  /// By link, what own vertices have in it or, `of_ghosts`, what the peer's have here.
  std::vector<std::vector<detail::GhostSum>> sums_of_links(bool of_ghosts) const {
    std::vector<std::vector<detail::GhostSum>> sums;
    with_read_phase([&](auto k) {
      const auto& channel = std::get<k>(executor_.channels_);
      const Slots& slots = channel.side->slots;
      Bytes bytes;
      for (const GhostLink& link : slots.links) {
        std::map<std::uint64_t, std::uint64_t> by_shard;
        const std::vector<Slot>& members = of_ghosts ? link.received : link.sent;
        for (std::size_t i = 0; i < members.size(); ++i) {
          bytes.clear();
          append_slot<k>(channel.read, members[i], bytes);
          by_shard[executor_.graph_.shards().shard_of(slots.ids[members[i]])] +=
              hash_bytes(bytes, i);
        }
        auto& of_link = sums.emplace_back();
        for (const auto& [shard, sum] : by_shard) of_link.push_back({shard, sum});
      }
    });
    return sums;
  }
  /// What the peer of each link says of its vertices. Collective.
  std::vector<std::vector<detail::GhostSum>> told_sums() const {
    auto own = sums_of_links(false);
    std::vector<std::vector<detail::GhostSum>> outgoing(
        static_cast<std::size_t>(executor_.context_.size()));
    std::vector<std::vector<detail::GhostSum>> told;
    with_read_phase([&](auto k) {
      const auto& links = std::get<k>(executor_.channels_).side->slots.links;
      for (std::size_t i = 0; i < links.size(); ++i)
        outgoing[static_cast<std::size_t>(links[i].peer)] = std::move(own[i]);
      const auto incoming = exchange(executor_.context_, std::move(outgoing));
      for (const GhostLink& link : links)
        told.push_back(incoming[static_cast<std::size_t>(link.peer)]);
    });
    return told;
  }

 private:
  template <std::size_t K>
  using Phase = std::tuple_element_t<K, std::tuple<First, Rest...>>;

  template <class F>
  void with_read_phase(F&& f) const {
    if (executor_.read_phase_) Executor::with_phase(*executor_.read_phase_, f);
  }
  std::span<const detail::Cell<Value>> values_in(Row first, Row last) const {
    return std::span(executor_.values_.data(), executor_.values_.size())
        .subspan(first, last - first);
  }
  std::span<const Mark> halted_in(Row first, Row last) const {
    return std::span(executor_.halted_.data(), executor_.halted_.size())
        .subspan(first, last - first);
  }
  template <class Channel, class F>
  void for_each_slot(const Channel& channel, ShardIndex shard, const F& f) const {
    const Slot* const slots = channel.side->slots.of_rows.data();
    const Row last = executor_.vertices().first_row(shard + 1);
    for (Row row = executor_.vertices().first_row(shard); row < last; ++row) f(slots[row]);
  }
  /// Presence, and the value where it is read.
  template <std::size_t K, class Buffer>
  static void append_slot(const Buffer& buffer, Slot slot, Bytes& bytes) {
    append_plain(bytes, buffer.presence()[slot]);
    if (ScatteredMessages<Phase<K>, typename Executor::E>::is_blank_identity || buffer.has(slot))
      detail::append_bits(buffer[slot], bytes);
  }
  void append_delivered(Row first, Row last, Bytes& bytes) const {
    if (!executor_.delivered_) return;
    for (Row row = first; row < last; ++row) {
      const auto& inbox = (*executor_.delivered_)[row];
      append_plain(bytes, std::uint64_t{inbox.messages.size()});
      append_plain(bytes, inbox.has_any);
      for (const auto& cell : inbox.messages) detail::append_bits(cell.value, bytes);
    }
  }
  void append_topology(Row first, Row last, Bytes& bytes) const {
    const auto& side = *std::get<0>(executor_.channels_).side;
    for (Row row = first; row < last; ++row) {
      append_plain(bytes, executor_.vertices().id(row));
      append_plain(bytes, side.last(row) - side.first(row));
      for (std::uint64_t i = side.first(row); i < side.last(row); ++i) {
        append_plain(bytes, side.slots.ids[side.neighbours[i]]);
        detail::append_bits(typename Executor::E(side.values[i]), bytes);
      }
    }
  }

  Digest digest_of_state(ShardIndex shard) const {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    Bytes values, topology;
    if constexpr (MutatingProgram<First>) append_topology(first, last, topology);
    return digest_of({detail::bits_of(values_in(first, last), values),
                      std::as_bytes(halted_in(first, last)), topology});
  }
  /// What was sent to a shard, or delivered to it before a change of the topology.
  Bytes bytes_of_inbox(ShardIndex shard) const {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    Bytes bytes;
    append_delivered(first, last, bytes);
    executor_.sent_.for_each_row(first, last, [&](Row row, const auto& messages) {
      append_plain(bytes, row - first);
      append_sent(messages, bytes);
    });
    return bytes;
  }
  /// Exact combiners may have folded some at the sender.
  void append_sent(std::span<const detail::Cell<Message>> messages, Bytes& bytes) const {
    if constexpr (Executor::is_combining) {
      const typename First::Combiner combiner{};
      detail::append_bits(fold(combiner, std::uint64_t{0}, messages.size(),
                               [&](std::uint64_t i) { return messages[i].value; }),
                          bytes);
    } else {
      append_plain(bytes, std::uint64_t{messages.size()});
      for (const auto& cell : messages) detail::append_bits(cell.value, bytes);
    }
  }
  /// How many published: what they did is a function of their values, and who, of values and
  /// messages before; gathering the marks of all slots would cost as much as all the rest. Where
  /// what was published stays readable, it is no function of the values, and is taken whole. All
  /// zero: nobody.
  Digest digest_of_published(ShardIndex shard) const {
    Digest digest{};
    if (executor_.delivered_) return digest;
    with_read_phase([&](auto k) {
      const auto& channel = std::get<k>(executor_.channels_);
      if constexpr (!StickyProgram<Phase<k>>) {
        std::uint64_t num_published = 0;
        for_each_slot(channel, shard,
                      [&](Slot slot) { num_published += channel.read.has(slot) ? 1 : 0; });
        digest = digest_of_count(num_published);
      } else {
        Bytes bytes;
        bool has_any = false;
        for_each_slot(channel, shard, [&](Slot slot) {
          const bool is_fresh = !executor_.is_fresh_.empty() && executor_.is_fresh_[slot] != 0;
          has_any = has_any || channel.read.has(slot);
          append_plain(bytes, channel.read.presence()[slot]);
          append_plain(bytes, is_fresh);
          if (channel.read.has(slot)) detail::append_bits(channel.read[slot], bytes);
        });
        if (has_any) digest = digest_of({bytes});
      }
    });
    return digest;
  }
  static Digest digest_of_count(std::uint64_t num_published) {
    return num_published == 0 ? Digest{} : digest_of({std::as_bytes(std::span(&num_published, 1))});
  }

  /// What can be read of a shard once the superstep that was just computed is committed.
  Digest digest_of_computed(ShardIndex shard) const {
    Bytes bytes;
    Executor::with_phase(executor_.phase_, [&](auto k) {
      const auto& channel = std::get<k>(executor_.channels_);
      for_each_slot(channel, shard, [&](Slot slot) {
        if constexpr (StickyProgram<Phase<k>>) {
          const bool is_new = channel.write.has(slot) &&
                              !(channel.read.has(slot) &&
                                Executor::is_same(channel.read[slot], channel.write[slot]));
          append_slot<k>(is_new ? channel.write : channel.read, slot, bytes);
        } else {
          append_slot<k>(channel.write, slot, bytes);
        }
      });
    });
    return digest_of({bytes});
  }

  /// Slots are emptied long before they are written, or not written at all: so two computations
  /// would find the same wrong bit there.
  bool is_clean(ShardIndex shard) const {
    bool is_clean = true;
    Executor::with_phase(executor_.phase_, [&](auto k) {
      using P = Phase<k>;
      using Published = PublishedOf<P>;
      const auto& channel = std::get<k>(executor_.channels_);
      Bytes blank, found;
      if constexpr (ScatteredMessages<P, typename Executor::E>::is_blank_identity)
        detail::append_bits(Executor::template blank_of<P, Published>(), blank);
      std::uint64_t num_present = 0;
      for_each_slot(channel, shard, [&](Slot slot) {
        if (channel.write.has(slot)) {
          ++num_present;
          return;
        }
        is_clean = is_clean && channel.write.presence()[slot] == Mark::unset;
        if (blank.empty()) return;
        found.clear();
        detail::append_bits(channel.write[slot], found);
        is_clean = is_clean && found == blank;
      });
      is_clean = is_clean && num_present == executor_.work_[shard - shards().begin].num_scattered;
    });
    return is_clean;
  }

  Executor& executor_;
  std::vector<std::optional<ShardDigests>> computed_;  // by own shard, where they are watched
};

/// At the exchanges of a local fixed point only values are looked at: what is on its way depends on
/// ranks and threads, and so do the values before the last superstep.
template <class G, class P>
class ExecutorDigests<FixedPointExecutor<G, P>> {
 public:
  using Executor = FixedPointExecutor<G, P>;
  static constexpr bool is_possible = true;
  struct Saved {};  // it is not verified
  struct Sends {};

  explicit ExecutorDigests(Executor& executor) : executor_(executor) {
    for (std::size_t s = 0; s < shards().size(); ++s) all_.push_back(s);
  }

  ShardRange shards() const { return executor_.vertices().shards(); }
  ShardIndex num_shards() const { return executor_.graph_.shards().num_shards(); }
  const std::vector<std::size_t>& visited() const { return all_; }
  std::vector<std::size_t> with_sent() const { return {}; }
  void watch() {}
  bool is_at_hand(std::size_t) const { return false; }
  ShardDigests of_shard(ShardIndex shard) const {
    Bytes bytes;
    const Row last = executor_.vertices().first_row(shard + 1);
    for (Row row = executor_.vertices().first_row(shard); row < last; ++row)
      detail::append_bits(executor_.states_[executor_.slots().of_rows[row]].value, bytes);
    return {digest_of({bytes}), {}};
  }

 private:
  Executor& executor_;
  std::vector<std::size_t> all_;
};

}  // namespace weir
