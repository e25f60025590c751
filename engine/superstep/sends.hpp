// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/graph/id_map.hpp>
#include <weir/engine/graph/pages.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/model/monoid.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/pool.hpp>
#include <weir/engine/superstep/send_bins.hpp>
#include <weir/engine/superstep/sent_inbox.hpp>

namespace weir {

/// Messages to the vertices of one bin in order, in whatever memory they lie.
template <class M>
struct SendPiece {
  // Ids count from the first one of the bin: 4 low bytes each and, unless null, 4 high bytes.
  const std::byte* low = nullptr;
  const std::byte* high = nullptr;
  std::byte* messages = nullptr;
  const std::byte* calls = nullptr;  ///< Calls of `send` each stands for, 4 bytes; one if null.
  std::size_t size = 0;

  std::uint64_t distance(std::size_t i) const {
    return high == nullptr ? word(low, i) : word(low, i) | std::uint64_t{word(high, i)} << 32;
  }
  std::uint32_t num_calls(std::size_t i) const { return calls == nullptr ? 1 : word(calls, i); }
  /// Once per message: what is no plain value is moved from.
  M take(std::size_t i) const {
    if constexpr (Bitwise<M>) {
      alignas(M) std::byte storage[sizeof(M)];
      std::memcpy(storage, messages + i * sizeof(M), sizeof(M));
      return *std::launder(reinterpret_cast<const M*>(storage));
    } else {
      return std::move(reinterpret_cast<M*>(messages)[i]);
    }
  }

 private:
  static std::uint32_t word(const std::byte* words, std::size_t i) {
    std::uint32_t word;
    std::memcpy(&word, words + i * sizeof(word), sizeof(word));
    return word;
  }
};

/// What one shard sent in one superstep: noted call by call, then sorted by bin. One thread writes
/// it. What calls are noted in is used for one shard after the other, so that it stays in the
/// processor's cache.
template <class M>
class Sends {
 public:
  /// Calls as they are made, and the bin of each.
  struct Buffer {
    struct Call {
      VertexId target;
      M message;
    };
    std::vector<Call> calls;
    PlainVector<std::uint32_t> bins;
  };

  /// Where memory to note calls in is taken from, and given back to by `sort`.
  void use(Pool<Buffer>& buffers) { buffers_ = &buffers; }
  void add(VertexId target, const M& message) {
    if (buffer_.calls.capacity() == 0 && buffers_ != nullptr) [[unlikely]]
      buffer_ = buffers_->take();
    buffer_.calls.push_back({target, message});
  }
  /// Calls of `add` since `clear`.
  std::size_t size() const { return buffer_.calls.size() + low_.size(); }
  bool empty() const { return size() == 0; }
  void clear() {
    buffer_.calls.clear();
    low_.clear();
    high_.clear();
    messages_.clear();
  }

  /// Brings what was added since `clear` into the order of the bins, in order of the calls in each.
  void sort(const SendBins& bins) {
    std::vector<typename Buffer::Call>& calls = buffer_.calls;
    const std::size_t size = calls.size();
    buffer_.bins.resize(size);
    std::uint32_t* const bin_of = buffer_.bins.data();
    ends_.assign(bins.size() + std::size_t{1}, 0);
    std::size_t* const count_of = ends_.data() + 1;
    std::uint64_t all_distances = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint32_t bin = bins.of(calls[i].target);
      const std::uint64_t distance = SendBins::distance(bins.first_id(bin), calls[i].target);
      calls[i].target = static_cast<VertexId>(distance);
      all_distances |= distance;
      bin_of[i] = bin;
      ++count_of[bin];
    }
    std::size_t start = 0;
    for (std::uint32_t bin = 0; bin < bins.size(); ++bin)
      start += std::exchange(count_of[bin], start);
    const bool is_wide = all_distances >> 32 != 0;
    low_.resize(size);
    if (is_wide) high_.resize(size);
    if constexpr (std::default_initializable<M>) {
      messages_.resize(size);
    } else {
      messages_.resize(size, {calls.front().message});
    }
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = count_of[bin_of[i]]++;
      const auto distance = static_cast<std::uint64_t>(calls[i].target);
      low_[at] = static_cast<std::uint32_t>(distance);
      if (is_wide) high_[at] = static_cast<std::uint32_t>(distance >> 32);
      messages_[at].value = std::move(calls[i].message);
    }
    calls.clear();
    if (buffers_ != nullptr) buffers_->give(std::exchange(buffer_, {}));
  }

  /// What goes to one bin, once sorted.
  SendPiece<M> of(std::uint32_t bin) {
    const std::size_t begin = ends_[bin];
    const auto bytes = [&](auto& words) {
      return words.empty() ? nullptr : reinterpret_cast<std::byte*>(words.data() + begin);
    };
    return {.low = bytes(low_),
            .high = bytes(high_),
            .messages = bytes(messages_),
            .size = ends_[bin + std::size_t{1}] - begin};
  }

 private:
  Pool<Buffer>* buffers_ = nullptr;
  Buffer buffer_;
  std::vector<std::size_t> ends_;  // of bins, behind a zero
  PlainVector<std::uint32_t> low_, high_;
  PlainVector<detail::Cell<M>> messages_;
};

namespace detail {

/// Whether C folds messages in any order; void, which stands for no combiner, does not.
template <class C>
concept ExactCombiner = !std::is_void_v<C> && ExactMonoid<C>;

/// Messages to one bin folded into one per target, in order of first appearance.
template <ExactMonoid C>
class FoldedSends {
 public:
  using M = typename C::value_type;

  void add(const SendPiece<M>& piece) {
    for (std::size_t i = 0; i < piece.size; ++i) {
      const std::uint64_t distance = piece.distance(i);
      std::uint32_t& place = place_of(distance);
      if (place == none) {
        place = static_cast<std::uint32_t>(calls_.size());
        low_.push_back(static_cast<std::uint32_t>(distance));
        high_.push_back(static_cast<std::uint32_t>(distance >> 32));
        is_wide_ = is_wide_ || distance >> 32 != 0;
        messages_.push_back({piece.take(i)});
        calls_.push_back(1);
      } else {
        M& folded = messages_[place].value;
        folded = C{}(folded, piece.take(i));
        ++calls_[place];
      }
    }
  }
  SendPiece<M> piece() {
    const auto bytes = [](auto& words) { return reinterpret_cast<std::byte*>(words.data()); };
    return {bytes(low_), is_wide_ ? bytes(high_) : nullptr, bytes(messages_), bytes(calls_),
            calls_.size()};
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::uint64_t most_near = 1 << 18;

  std::uint32_t& place_of(std::uint64_t distance) {
    if (distance >= most_near) return far_places_[static_cast<VertexId>(distance)];
    if (distance >= near_places_.size())
      near_places_.resize(std::max<std::size_t>(distance + 1, near_places_.size() * 2), none);
    return near_places_[distance];
  }

  std::vector<std::uint32_t> near_places_;  // by distance: where the message is
  IdMap<std::uint32_t> far_places_{none};
  bool is_wide_ = false;
  std::vector<std::uint32_t> low_, high_, calls_;
  std::vector<Cell<M>> messages_;
};

/// Messages of all shards to the bins [begin, end) of another rank, as they travel: per bin its
/// number and how many there are; then the low words of all, their high words and numbers of calls
/// where any has them, and the messages. An exact combiner C folds those to the same target.
template <class M, class C>
Bytes pack_sends(std::span<Sends<M>* const> by_shard, std::uint32_t begin, std::uint32_t end) {
  constexpr bool folds = ExactCombiner<C>;
  using Folded = FoldedSends<std::conditional_t<folds, C, Any>>;
  std::vector<Folded> folded(folds ? end - begin : 0);
  std::vector<SendPiece<M>> pieces;
  Bytes bytes;
  append_plain(bytes, end - begin);
  std::uint64_t num_messages = 0;
  bool is_wide = false;
  for (std::uint32_t bin = begin; bin < end; ++bin) {
    std::uint64_t in_bin = 0;
    const auto keep = [&](const SendPiece<M>& piece) {
      in_bin += piece.size;
      is_wide = is_wide || piece.high != nullptr;
      pieces.push_back(piece);
    };
    for (Sends<M>* const sends : by_shard) {
      if constexpr (folds) {
        folded[bin - begin].add(sends->of(bin));
      } else {
        keep(sends->of(bin));
      }
    }
    if constexpr (folds) keep(folded[bin - begin].piece());
    append_plain(bytes, bin);
    append_plain(bytes, in_bin);
    num_messages += in_bin;
  }
  append_plain(bytes, is_wide);
  append_plain(bytes, folds);
  bytes.reserve(bytes.size() + num_messages * (sizeof(M) + 12));
  const auto append_words = [&](const std::byte* SendPiece<M>::*words) {
    for (const SendPiece<M>& piece : pieces) {
      if (piece.*words == nullptr) {
        bytes.insert(bytes.end(), 4 * piece.size, std::byte{0});
      } else {
        bytes.insert(bytes.end(), piece.*words, piece.*words + 4 * piece.size);
      }
    }
  };
  append_words(&SendPiece<M>::low);
  if (is_wide) append_words(&SendPiece<M>::high);
  if (folds) append_words(&SendPiece<M>::calls);
  if constexpr (Bitwise<M>) {
    for (const SendPiece<M>& piece : pieces)
      bytes.insert(bytes.end(), piece.messages, piece.messages + sizeof(M) * piece.size);
  } else {
    std::vector<M> messages;
    messages.reserve(num_messages);
    for (const SendPiece<M>& piece : pieces) {
      for (std::size_t i = 0; i < piece.size; ++i) messages.push_back(piece.take(i));
    }
    encode(std::span<const M>(messages), bytes);
  }
  return bytes;
}

/// What `pack_sends` packed, read in place.
template <class M>
class ArrivedSends {
 public:
  explicit ArrivedSends(Batch batch) : source_(batch.source), bytes_(std::move(batch.bytes)) {
    BytesView in(bytes_);
    const auto num_bins = in.take<std::uint32_t>();
    std::uint64_t num_messages = 0;
    for (std::uint32_t i = 0; i < num_bins; ++i) {
      const auto bin = in.take<std::uint32_t>();
      pieces_.emplace_back(bin, SendPiece<M>{.size = in.take<std::uint64_t>()});
      num_messages += pieces_.back().second.size;
    }
    const auto is_wide = in.take<bool>();
    const auto is_folded = in.take<bool>();
    const auto take_words = [&](bool has_any) {
      return has_any ? in.take_bytes(4 * num_messages).data() : nullptr;
    };
    const std::byte* low = take_words(true);
    const std::byte* high = take_words(is_wide);
    const std::byte* calls = take_words(is_folded);
    std::byte* messages = nullptr;
    if constexpr (Bitwise<M>) {
      messages = const_cast<std::byte*>(in.take_bytes(sizeof(M) * num_messages).data());
    } else {
      decode(in, decoded_);
      WEIR_EXPECT(decoded_.size() == num_messages, internal,
                  "a batch has a wrong number of messages");
      messages = reinterpret_cast<std::byte*>(decoded_.data());
    }
    const auto step = [](auto*& words, std::size_t num_bytes) {
      return words == nullptr ? nullptr : std::exchange(words, words + num_bytes);
    };
    for (auto& [bin, piece] : pieces_) {
      piece.low = step(low, 4 * piece.size);
      piece.high = step(high, 4 * piece.size);
      piece.calls = step(calls, 4 * piece.size);
      piece.messages = step(messages, sizeof(M) * piece.size);
    }
  }

  Rank source() const { return source_; }
  const std::vector<std::pair<std::uint32_t, SendPiece<M>>>& pieces() const { return pieces_; }

 private:
  Rank source_;
  Bytes bytes_;
  std::conditional_t<Bitwise<M>, std::vector<char>, std::vector<M>> decoded_;
  std::vector<std::pair<std::uint32_t, SendPiece<M>>> pieces_;  // by bin
};

/// Brings messages to the ranks of their targets. Collective.
template <class M, class C>
std::vector<ArrivedSends<M>> exchange_sends(Context& context, const SendBins& bins,
                                            std::span<Sends<M>* const> by_shard) {
  constexpr std::size_t messages_per_batch = 1 << 16;
  struct Outgoing {
    Rank to;
    std::uint32_t begin, end;  // bins
    Bytes bytes{};
  };
  std::vector<Outgoing> outgoing;
  for (Rank rank = 0; rank < context.size(); ++rank) {
    if (rank == context.rank()) continue;
    std::size_t num_messages = 0;
    std::uint32_t begin = bins.first_of(rank);
    for (std::uint32_t bin = begin, end = bins.first_of(rank + 1); bin < end; ++bin) {
      for (Sends<M>* const sends : by_shard) num_messages += sends->of(bin).size;
      if (num_messages == 0) {
        begin = bin + 1;
      } else if (bin + 1 == end || num_messages >= messages_per_batch) {
        outgoing.push_back({rank, begin, bin + 1});
        begin = bin + 1;
        num_messages = 0;
      }
    }
  }
  Exchange exchange(context, "sent messages");
  context.parallel_for(outgoing.size(), [&](std::size_t i) {
    outgoing[i].bytes = pack_sends<M, C>(by_shard, outgoing[i].begin, outgoing[i].end);
  });
  for (Outgoing& batch : outgoing) exchange.send(batch.to, std::move(batch.bytes));
  std::vector<ArrivedSends<M>> arrived;
  exchange.close([&](Batch batch) { arrived.emplace_back(std::move(batch)); });
  return arrived;
}

}  // namespace detail

/// Delivers messages to the owners of their targets. Collective. `by_shard`: what own shards sent,
/// sorted, ascending. Returns how many calls of `send` had no vertex at their end here.
template <class M, class C>
std::uint64_t deliver_sends(Context& context, const SendBins& bins, const Vertices& vertices,
                            std::span<Sends<M>* const> by_shard, SentInbox<M, C>& inbox) {
  std::vector<detail::ArrivedSends<M>> arrived;
  if (context.size() > 1) arrived = detail::exchange_sends<M, C>(context, bins, by_shard);
  // By own bin, in order of the source shard.
  const std::uint32_t first_bin = bins.first_of(context.rank());
  std::vector<std::vector<SendPiece<M>>> pieces(bins.first_of(context.rank() + 1) - first_bin);
  std::uint64_t num_messages = 0;
  const auto keep = [&](std::uint32_t bin, const SendPiece<M>& piece) {
    if (piece.size == 0) return;
    num_messages += piece.size;
    pieces[bin - first_bin].push_back(piece);
  };
  const auto batches_end = arrived.end();
  auto batch = arrived.begin();
  for (; batch != batches_end && batch->source() < context.rank(); ++batch) {
    for (const auto& [bin, piece] : batch->pieces()) keep(bin, piece);
  }
  for (Sends<M>* const sends : by_shard) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto bin = first_bin + static_cast<std::uint32_t>(i);
      keep(bin, sends->of(bin));
    }
  }
  for (; batch != batches_end; ++batch) {
    for (const auto& [bin, piece] : batch->pieces()) keep(bin, piece);
  }

  std::vector<std::uint64_t> num_dropped(pieces.size());
  const auto visit = [&](std::size_t i, const auto& f) {
    const VertexId first_id = bins.first_id(first_bin + static_cast<std::uint32_t>(i));
    std::uint64_t dropped = 0;
    for (const SendPiece<M>& piece : pieces[i]) {
      for (std::size_t k = 0; k < piece.size; ++k) {
        const auto id =
            static_cast<VertexId>(static_cast<std::uint64_t>(first_id) + piece.distance(k));
        if (const auto row = vertices.find(id)) {
          f(*row, [&] { return piece.take(k); });
        } else {
          dropped += piece.num_calls(k);
        }
      }
    }
    num_dropped[i] = dropped;
  };
  constexpr std::uint64_t rows_per_message = 16;  // so many cost as much as sorting one message
  const bool is_many = num_messages * rows_per_message >= vertices.size() + std::size_t{1024};
  if constexpr (std::default_initializable<M>) {
    if (is_many) {
      inbox.fill_densely(
          context, vertices.size(), pieces.size(),
          [&](std::size_t i) -> typename SentInbox<M, C>::RowRange {
            const ShardRange shards = bins.shards(first_bin + static_cast<std::uint32_t>(i));
            return {vertices.first_row(shards.begin), vertices.first_row(shards.end)};
          },
          visit);
    }
  }
  if (!is_many || !std::default_initializable<M>) {
    std::vector<std::pair<Row, M>> few;
    few.reserve(num_messages);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      visit(i, [&](Row row, const auto& message) { few.emplace_back(row, message()); });
    inbox.fill(std::move(few));
  }
  return std::accumulate(num_dropped.begin(), num_dropped.end(), std::uint64_t{0});
}

}  // namespace weir
