// SPDX-License-Identifier: Apache-2.0
// What an executor holds between two supersteps, shard by shard, so that another number of ranks
// can take it up. Only this file knows both an executor's inside and the bytes of a snapshot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/fnv_hash.hpp>
#include <weir/engine/superstep/cpu_executor.hpp>
#include <weir/engine/superstep/fixed_point_executor.hpp>
#include <weir/engine/superstep/published.hpp>

namespace weir {

namespace detail {

/// What is said of a row, one byte each.
enum RowFlag : std::uint8_t {
  is_halted = 1,   ///< voted to halt
  has_value = 2,   ///< what it published can be read
  is_changed = 4,  ///< sticky: in the last superstep
  is_pending = 8   ///< monotone: has messages that were not computed
};

inline std::span<const std::byte> take_flags(BytesView& in, std::size_t num_rows) {
  WEIR_EXPECT(in.take<std::uint64_t>() == num_rows, input,
              "a shard of a snapshot has another number of vertices");
  return in.take_bytes(num_rows);
}
inline bool has_flag(std::byte flags, RowFlag flag) {
  return (std::to_integer<unsigned>(flags) & flag) != 0;
}

}  // namespace detail

/// Saves and loads the state of an executor between two supersteps.
template <class Executor>
class SavedState;

template <class G, class First, class... Rest>
class SavedState<CpuExecutor<G, First, Rest...>> {
 public:
  using Executor = CpuExecutor<G, First, Rest...>;
  using Value = typename First::Value;
  using Message = typename First::Message;
  /// Programs whose state can travel.
  static constexpr bool is_possible = !MutatingProgram<First> &&
                                      Transferable<detail::Wire<Value>> &&
                                      Transferable<detail::Wire<Message>>;

  explicit SavedState(Executor& executor) : executor_(executor) {}

  ShardRange shards() const { return executor_.vertices().shards(); }

  /// A hash of own values where their bytes say what they are.
  std::uint64_t hash_of_values() const {
    std::uint64_t sum = 0;
    if constexpr (Digestible<Value>) {
      for (Row row = 0; row < executor_.vertices().size(); ++row)
        sum += detail::hash_value(executor_.vertices().id(row), executor_.values_[row].value);
    }
    return sum;
  }

  void begin_saving() {
    with_read_phase([&](auto k) {
      auto& channel = std::get<k>(executor_.channels_);
      if (channel.read.is_apart()) channel.read.spread(channel.side->slots);
    });
  }

  /// Appends the state of one own shard. Shards may be saved side by side.
  void save(ShardIndex shard, Bytes& out) const {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    append_plain(out, std::uint64_t{last - first});
    const std::size_t flags_at = out.size();
    out.resize(flags_at + (last - first));
    const auto flags = std::span(out).subspan(flags_at, last - first);
    for (Row row = first; row < last; ++row) {
      if (executor_.halted_[row] == Mark::set) flags[row - first] |= std::byte{detail::is_halted};
    }
    with_read_phase([&](auto k) {
      const auto& channel = std::get<k>(executor_.channels_);
      const Slot* const slots = channel.side->slots.of_rows.data();
      for (Row row = first; row < last; ++row) {
        if (channel.read.has(slots[row])) flags[row - first] |= std::byte{detail::has_value};
        if constexpr (StickyProgram<Phase<k>>) {
          const bool is_fresh =
              !executor_.is_fresh_.empty() && executor_.is_fresh_[slots[row]] != 0;
          if (is_fresh) flags[row - first] |= std::byte{detail::is_changed};
        }
      }
    });
    detail::append_values<Value>(
        last - first, [&](std::size_t i) { return executor_.values_[first + i].value; }, out);
    with_read_phase([&](auto k) { save_published<k>(first, last, out); });
    save_sent(first, last, out);
  }

  /// Takes up one own shard. Shards may be loaded side by side.
  void load(ShardIndex shard, BytesView in) {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    const auto flags = detail::take_flags(in, last - first);
    for (Row row = first; row < last; ++row) {
      executor_.halted_[row] =
          detail::has_flag(flags[row - first], detail::is_halted) ? Mark::set : Mark::unset;
    }
    detail::take_values<Value>(in, last - first, [&](std::size_t i, detail::Wire<Value> value) {
      executor_.values_[first + i].value = static_cast<Value>(std::move(value));
    });
    with_read_phase([&](auto k) { load_published<k>(shard, flags, in); });
    load_sent(shard, in);
    WEIR_EXPECT(in.empty(), input, "a shard of a snapshot is longer than its state");
  }

  /// Before the first shard: which phase the state is of.
  void begin_loading(std::size_t phase, const Summary&) {
    executor_.phase_ = phase;
    executor_.read_phase_ = phase;
    arrived_.resize(shards().size());
    fresh_.resize(shards().size());
  }

  /// After the last: the values that other ranks publish here. Collective.
  void finish_loading() {
    with_read_phase([&](auto k) {
      auto& channel = std::get<k>(executor_.channels_);
      count_present(channel.read, channel.side->slots);
      exchange(channel.side->slots, channel.read);
      if constexpr (StickyProgram<Phase<k>>) mark_fresh<k>();
    });
    std::vector<std::pair<Row, Message>> all;
    for (auto& of_shard : arrived_)
      std::move(of_shard.begin(), of_shard.end(), std::back_inserter(all));
    executor_.sent_.fill(std::move(all));
    executor_.num_unhalted_ = executor_.num_unhalted();
    executor_.unhalted_.clear();
  }

 private:
  template <std::size_t K>
  using Phase = std::tuple_element_t<K, std::tuple<First, Rest...>>;

  template <class F>
  void with_read_phase(F&& f) const {
    if (executor_.read_phase_) Executor::with_phase(*executor_.read_phase_, f);
  }

  /// What a row published is a function of its value, unless it stays readable for long.
  template <std::size_t K>
  void save_published(Row first, Row last, Bytes& out) const {
    using P = Phase<K>;
    if constexpr (StickyProgram<P>) {
      const auto& channel = std::get<K>(executor_.channels_);
      std::vector<Slot> present;
      for (Row row = first; row < last; ++row) {
        const Slot slot = channel.side->slots.of_rows[row];
        if (channel.read.has(slot)) present.push_back(slot);
      }
      detail::append_values<PublishedOf<P>>(
          present.size(), [&](std::size_t i) { return channel.read[present[i]]; }, out);
    }
  }

  template <std::size_t K>
  void load_published(ShardIndex shard, std::span<const std::byte> flags, BytesView& in) {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    using P = Phase<K>;
    using Published = PublishedOf<P>;
    auto& channel = std::get<K>(executor_.channels_);
    const auto& program = std::get<K>(executor_.programs_);
    std::vector<Row> present;
    for (Row row = first; row < last; ++row) {
      if (detail::has_flag(flags[row - first], detail::has_value)) present.push_back(row);
    }
    const auto slot_of = [&](Row row) { return channel.side->slots.of_rows[row]; };
    if constexpr (StickyProgram<P>) {
      detail::take_values<Published>(
          in, present.size(), [&](std::size_t i, detail::Wire<Published> published) {
            channel.read.put(slot_of(present[i]), static_cast<Published>(std::move(published)));
          });
      auto& fresh = fresh_[shard - shards().begin];
      for (Row row = first; row < last; ++row) {
        if (detail::has_flag(flags[row - first], detail::is_changed)) fresh.push_back(row);
      }
    } else {
      for (const Row row : present) {
        const Value& value = executor_.values_[row].value;
        if constexpr (requires { program.publish(value, executor_.info(row)); }) {
          channel.read.put(slot_of(row), program.publish(value, executor_.info(row)));
        } else {
          channel.read.put(slot_of(row), value);
        }
      }
    }
  }

  void save_sent(Row first, Row last, Bytes& out) const {
    std::vector<std::uint32_t> places;
    std::vector<Message> messages;
    executor_.sent_.for_each_row(first, last, [&](Row row, const auto& cells) {
      for (const auto& cell : cells) {
        places.push_back(row - first);
        messages.push_back(cell.value);
      }
    });
    encode(std::span<const std::uint32_t>(places), out);
    detail::append_values<Message>(
        messages.size(), [&](std::size_t i) -> detail::Wire<Message> { return messages[i]; }, out);
  }

  void load_sent(ShardIndex shard, BytesView& in) {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    auto& arrived = arrived_[shard - shards().begin];
    std::vector<std::uint32_t> places;
    decode(in, places);
    detail::take_values<Message>(
        in, places.size(), [&](std::size_t i, detail::Wire<Message> message) {
          WEIR_EXPECT(places[i] < last - first, input, "a snapshot has a message to no vertex");
          arrived.emplace_back(first + places[i], static_cast<Message>(std::move(message)));
        });
  }

  template <class Published>
  void count_present(PublishedBuffer<Published>& buffer, const Slots& slots) {
    std::vector<Slot> present;
    for (const Slot slot : slots.of_rows) {
      if (buffer.has(slot)) present.push_back(slot);
    }
    buffer.note(std::span<const Slot>(present));
  }
  template <class Published>
  void exchange(const Slots& slots, PublishedBuffer<Published>& buffer) {
    std::uint64_t num_sent = 0, num_received = 0;
    exchange_published(executor_.context_, slots, buffer, num_sent, num_received);
  }

  /// Which values changed in the last superstep, own and remote.
  template <std::size_t K>
  void mark_fresh() {
    auto& [side, read, write] = std::get<K>(executor_.channels_);
    std::vector<Slot> own;
    for (const auto& rows : fresh_) {
      for (const Row row : rows) {
        const Slot slot = side->slots.of_rows[row];
        write.put(slot, read[slot]);
        own.push_back(slot);
      }
    }
    write.note(std::span<const Slot>(own));
    exchange(side->slots, write);
    executor_.fresh_ = write.listed();
    executor_.is_fresh_.assign(read.size(), 0);
    for (const Slot slot : executor_.fresh_) executor_.is_fresh_[slot] = 1;
    write.clear(executor_.context_);
  }

  Executor& executor_;
  std::vector<std::vector<std::pair<Row, Message>>> arrived_;  // by own shard: sent messages
  std::vector<std::vector<Row>> fresh_;                        // by own shard
};

template <class G, class P>
class SavedState<FixedPointExecutor<G, P>> {
 public:
  using Executor = FixedPointExecutor<G, P>;
  using Value = typename P::Value;
  using Message = typename P::Message;
  static constexpr bool is_possible = true;  // its values fit machine words

  explicit SavedState(Executor& executor) : executor_(executor) {}

  ShardRange shards() const { return executor_.vertices().shards(); }
  std::uint64_t hash_of_values() const {
    std::uint64_t sum = 0;
    if constexpr (Digestible<Value>) {
      for (Row row = 0; row < executor_.vertices().size(); ++row) {
        const Slot slot = executor_.slots().of_rows[row];
        sum += detail::hash_value(executor_.vertices().id(row), executor_.states_[slot].value);
      }
    }
    return sum;
  }
  void begin_saving() {}

  void save(ShardIndex shard, Bytes& out) const {
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    append_plain(out, std::uint64_t{last - first});
    const std::size_t flags_at = out.size();
    out.resize(flags_at + (last - first));
    const auto slot_of = [&](std::size_t i) { return executor_.slots().of_rows[first + i]; };
    std::vector<Slot> published;
    for (std::size_t i = 0; i < last - first; ++i) {
      const Slot slot = slot_of(i);
      std::byte& flags = out[flags_at + i];
      if (!Executor::Fold::is_same(executor_.folded_[slot].value, executor_.states_[slot].computed))
        flags |= std::byte{detail::is_pending};
      if (executor_.read_.size() == 0 || !executor_.read_.has(slot)) continue;
      flags |= std::byte{detail::has_value};
      published.push_back(slot);
    }
    detail::append_values<Value>(
        last - first, [&](std::size_t i) { return executor_.states_[slot_of(i)].value; }, out);
    detail::append_values<Message>(
        last - first, [&](std::size_t i) { return executor_.folded_[slot_of(i)].value; }, out);
    detail::append_values<PublishedOf<P>>(
        published.size(), [&](std::size_t i) { return executor_.read_[published[i]]; }, out);
    append_plain(out, executor_.last_);
  }

  void begin_loading(std::size_t, const Summary& agreed) {
    next_bucket_ = agreed.next_bucket;
    executor_.starts_.clear();
    published_.resize(shards().size());
    pending_.resize(shards().size());
    last_buckets_.assign(shards().size(), 0);
  }

  void load(ShardIndex shard, BytesView in) {
    const std::size_t place = shard - shards().begin;
    const Row first = executor_.vertices().first_row(shard);
    const Row last = executor_.vertices().first_row(shard + 1);
    const auto flags = detail::take_flags(in, last - first);
    const auto slot_of = [&](std::size_t i) { return executor_.slots().of_rows[first + i]; };
    detail::take_values<Value>(in, last - first, [&](std::size_t i, detail::Wire<Value> value) {
      executor_.states_[slot_of(i)].value = static_cast<Value>(value);
    });
    detail::take_values<Message>(
        in, last - first, [&](std::size_t i, detail::Wire<Message> message) {
          const bool is_pending = detail::has_flag(flags[i], detail::is_pending);
          const auto folded = static_cast<Message>(message);
          executor_.folded_[slot_of(i)].value = folded;
          executor_.states_[slot_of(i)].computed = is_pending ? P::Combiner::identity() : folded;
          if (is_pending) pending_[place].push_back(slot_of(i));
        });
    std::vector<Row> rows;
    for (std::size_t i = 0; i < last - first; ++i) {
      if (detail::has_flag(flags[i], detail::has_value))
        rows.push_back(first + static_cast<Row>(i));
    }
    detail::take_values<PublishedOf<P>>(
        in, rows.size(), [&](std::size_t i, detail::Wire<PublishedOf<P>> published) {
          published_[place].emplace_back(rows[i], static_cast<PublishedOf<P>>(published));
        });
    last_buckets_[place] = in.take<std::uint64_t>();
    WEIR_EXPECT(in.empty(), input, "a shard of a snapshot is longer than its state");
  }

  /// What rows published in the last superstep had reached only the rank that they were on: it is
  /// pushed to those that read it here as well, and exchanged. That twice is not too often is the
  /// law of monotone programs.
  void finish_loading() {
    if (!last_buckets_.empty()) executor_.last_ = last_buckets_.front();
    executor_.current_ = next_bucket_ == Buckets::none ? executor_.last_ : next_bucket_;
    auto& worker = executor_.workers_.front();
    for (const auto& slots : pending_) {
      for (const Slot slot : slots) {
        const std::uint64_t bucket = executor_.bucket_of(executor_.folded_[slot].value);
        worker.buckets.add(executor_.current_, bucket, slot);
      }
    }
    const bool has_others = executor_.context_.size() > 1;
    std::vector<Slot> own;
    for (const auto& of_shard : published_) {
      for (const auto& [row, published] : of_shard) {
        const Slot slot = executor_.slots().of_rows[row];
        executor_.push(worker, slot, row, published);
        if (!has_others) continue;
        executor_.read_.put(slot, published);
        own.push_back(slot);
      }
    }
    if (!has_others) return;
    executor_.read_.note(std::span<const Slot>(own));
    std::uint64_t num_sent = 0, num_received = 0;
    exchange_published(executor_.context_, executor_.slots(), executor_.read_, num_sent,
                       num_received);
  }

 private:
  Executor& executor_;
  std::uint64_t next_bucket_ = Buckets::none;
  std::vector<std::vector<std::pair<Row, PublishedOf<P>>>> published_;  // by own shard
  std::vector<std::vector<Slot>> pending_;                              // by own shard
  std::vector<std::uint64_t> last_buckets_;                             // by own shard; all alike
};

/// A hash of the vertices, the lists of those who reach them and, where their bytes say what they
/// are, the values of the arcs; the same at any number of ranks. Collective.
template <class E>
std::uint64_t hash_of_topology(const Graph<E>& graph) {
  Context& context = graph.context();
  const Vertices& vertices = *graph.vertices();
  const Side<E>& side = graph.side_for(Edges::out);
  const ShardRange own = vertices.shards();
  std::vector<std::uint64_t> sums(own.size());
  context.parallel_for(own.size(), [&](std::size_t s) {
    const ShardIndex shard = own.begin + static_cast<ShardIndex>(s);
    for (Row row = vertices.first_row(shard); row < vertices.first_row(shard + 1); ++row) {
      FnvHash hash;
      hash.add(static_cast<std::uint64_t>(vertices.id(row)));
      hash.add(vertices.out_degree(row));
      for (std::uint64_t i = side.first(row); i < side.last(row); ++i) {
        hash.add(static_cast<std::uint64_t>(side.slots.ids[side.neighbours[i]]));
        if constexpr (std::is_floating_point_v<E> ||
                      (!std::is_empty_v<E> && std::has_unique_object_representations_v<E>)) {
          const E value = side.values[i];
          std::uint64_t words[(sizeof(E) + 7) / 8] = {};
          std::memcpy(words, &value, sizeof(E));
          for (const std::uint64_t word : words) hash.add(word);
        }
      }
      // Mixed once more: the sum of weak hashes would let errors cancel out.
      const std::uint64_t mixed = (hash.value() ^ hash.value() >> 31U) * 0x9e3779b97f4a7c15U;
      sums[s] += mixed ^ mixed >> 29U;
    }
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t of_shard : sums) sum += of_shard;
  return all_fold(context, Sum<std::uint64_t>{}, sum) ^ graph.num_vertices() ^
         (std::uint64_t{graph.is_directed()} << 63U);
}

}  // namespace weir
