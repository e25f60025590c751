// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
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
  bool is_followed_by(const SendPiece& other) const {
    return low + 4 * size == other.low && messages + sizeof(M) * size == other.messages &&
           high == nullptr && other.high == nullptr && calls == nullptr && other.calls == nullptr;
  }
  M get(std::size_t i) const {
    if constexpr (Bitwise<M>) {
      alignas(M) std::byte storage[sizeof(M)];
      std::memcpy(storage, messages + i * sizeof(M), sizeof(M));
      return *std::launder(reinterpret_cast<const M*>(storage));
    } else {
      return reinterpret_cast<const M*>(messages)[i];
    }
  }

 private:
  static std::uint32_t word(const std::byte* words, std::size_t i) {
    std::uint32_t word;
    std::memcpy(&word, words + i * sizeof(word), sizeof(word));
    return word;
  }
};

/// Lengthens the last piece where the new one lies behind it.
template <class M>
void append_piece(std::vector<SendPiece<M>>& pieces, const SendPiece<M>& piece) {
  if (piece.size == 0) return;
  if (pieces.empty() || !pieces.back().is_followed_by(piece)) {
    pieces.push_back(piece);
  } else {
    pieces.back().size += piece.size;
  }
}

/// Messages by bin of the shards that one thread computes, one after the other. Keeps its memory.
template <class M>
class SendStream {
 public:
  explicit SendStream(const SendBins& bins) : bins_(&bins), by_bin_(bins.size()) {}

  [[gnu::always_inline]] inline void add(VertexId target, const M& message) {
    const std::uint32_t bin = bins_->of(target);
    Bin& to = by_bin_[bin];
    if (to.low == to.low_end) [[unlikely]]
      to.next_chunk(message);
    const std::uint64_t distance = SendBins::distance(bins_->first_id(bin), target);
    *to.low = static_cast<std::uint32_t>(distance);
    to.message->value = message;
    // Stores wait for their lines one after the other, so lines are asked for early.
    __builtin_prefetch(to.low + 64 / sizeof(std::uint32_t), 1);
    __builtin_prefetch(to.message + 64 / sizeof(M) + 1, 1);
    if (const auto high = static_cast<std::uint32_t>(distance >> 32); high != 0) [[unlikely]]
      to.put_high(high);
    ++to.low;
    ++to.message;
  }
  void clear() {
    for (Bin& bin : by_bin_) bin.clear();
  }

  const SendBins& bins() const { return *bins_; }
  /// How many messages each bin has now.
  void count(std::vector<std::size_t>& counts) const {
    counts.clear();
    for (const Bin& bin : by_bin_) counts.push_back(bin.size());
  }
  /// Calls f with pieces that hold messages [begin, end) of a bin, in order; valid until `clear`.
  template <class F>
  void for_each_piece(std::uint32_t bin, std::size_t begin, std::size_t end, const F& f) {
    for (std::size_t next; begin < end; begin = next) {
      next = std::min(end, (begin / chunk_size + 1) * chunk_size);
      Chunk& chunk = by_bin_[bin].chunks[begin / chunk_size];
      const auto bytes = [&](auto& words) {
        return words.empty() ? nullptr
                             : reinterpret_cast<std::byte*>(words.data() + begin % chunk_size);
      };
      f(SendPiece<M>{.low = bytes(chunk.low),
                     .high = bytes(chunk.high),
                     .messages = bytes(chunk.messages),
                     .size = next - begin});
    }
  }

 private:
  static constexpr std::size_t chunk_size = 1 << 12;
  /// Room for so many messages.
  struct Chunk {
    PlainVector<std::uint32_t> low;   // words of distances
    PlainVector<std::uint32_t> high;  // empty while all are zero
    PlainVector<detail::Cell<M>> messages;
  };
  struct Bin {
    // Where the next message goes, in the last of the chunks that are used.
    std::uint32_t* low = nullptr;
    detail::Cell<M>* message = nullptr;
    std::uint32_t* low_end = nullptr;
    std::size_t num_used = 0;
    std::vector<Chunk> chunks;

    std::size_t size() const {
      return num_used * chunk_size - static_cast<std::size_t>(low_end - low);
    }
    void clear() {
      low = low_end = nullptr;
      message = nullptr;
      num_used = 0;
    }
    [[gnu::noinline]] void next_chunk(const M& sample) {
      if (num_used == chunks.size()) {
        Chunk& chunk = chunks.emplace_back();
        chunk.low.resize(chunk_size);
        if constexpr (std::default_initializable<M>) {
          chunk.messages.resize(chunk_size);
        } else {
          chunk.messages.resize(chunk_size, {sample});
        }
      }
      Chunk& chunk = chunks[num_used++];
      chunk.high.clear();
      low = chunk.low.data();
      low_end = low + chunk_size;
      message = chunk.messages.data();
    }
    [[gnu::noinline]] void put_high(std::uint32_t word) {
      Chunk& chunk = chunks[num_used - 1];
      if (chunk.high.empty()) chunk.high.assign(chunk_size, 0);
      chunk.high[static_cast<std::size_t>(low - chunk.low.data())] = word;
    }
  };

  const SendBins* bins_;
  std::vector<Bin> by_bin_;
};

/// As many streams as threads send at the same time.
template <class M>
class SendStreams {
 public:
  /// Without messages, for these bins, which stay where they are.
  void bind(const SendBins& bins) {
    bins_ = &bins;
    all_.clear();
    free_.clear();
  }
  SendStream<M>& take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(std::make_unique<SendStream<M>>(*bins_));
      free_.push_back(all_.back().get());
    }
    SendStream<M>& stream = *free_.back();
    free_.pop_back();
    return stream;
  }
  void give(SendStream<M>& stream) {
    const std::lock_guard lock(mutex_);
    free_.push_back(&stream);
  }
  void clear() {
    for (const auto& stream : all_) stream->clear();
  }

 private:
  const SendBins* bins_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SendStream<M>>> all_;
  std::vector<SendStream<M>*> free_;
};

/// What one shard sent in one superstep. One thread writes it.
template <class M>
class Sends {
 public:
  /// Where messages go; without it they are merely counted.
  void use(SendStreams<M>& streams) { streams_ = &streams; }
  [[gnu::always_inline]] inline void add(VertexId target, const M& message) {
    if (size_++ == 0) [[unlikely]]
      begin();
    if (stream_ != nullptr) stream_->add(target, message);
  }
  /// After the last message of a superstep.
  void end() {
    if (stream_ == nullptr) return;
    stream_->count(ends_);
    streams_->give(*stream_);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() {
    size_ = 0;
    stream_ = nullptr;
  }

  /// Messages to one bin.
  std::size_t count(std::uint32_t bin) const { return ends_[bin] - begins_[bin]; }
  /// Calls f with pieces that hold them, in order of the calls.
  template <class F>
  void for_each_piece(std::uint32_t bin, const F& f) const {
    stream_->for_each_piece(bin, begins_[bin], ends_[bin], f);
  }
  /// Calls f(target, message) for every message, to each target in order of the calls.
  template <class F>
  void for_each(const F& f) const {
    if (stream_ == nullptr) return;
    for (std::uint32_t bin = 0; bin < stream_->bins().size(); ++bin) {
      const auto first_id = static_cast<std::uint64_t>(stream_->bins().first_id(bin));
      for_each_piece(bin, [&](const SendPiece<M>& piece) {
        for (std::size_t i = 0; i < piece.size; ++i)
          f(static_cast<VertexId>(first_id + piece.distance(i)), piece.get(i));
      });
    }
  }

 private:
  [[gnu::noinline]] void begin() {
    if (streams_ == nullptr) return;
    stream_ = &streams_->take();
    stream_->count(begins_);
  }

  SendStreams<M>* streams_ = nullptr;
  SendStream<M>* stream_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::size_t> begins_, ends_;  // by bin, in the stream
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
        messages_.push_back({piece.get(i)});
        calls_.push_back(1);
      } else {
        M& folded = messages_[place].value;
        folded = C{}(folded, piece.get(i));
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
Bytes pack_sends(std::span<const Sends<M>* const> by_shard, std::uint32_t begin,
                 std::uint32_t end) {
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
      append_piece(pieces, piece);
    };
    for (const Sends<M>* const sends : by_shard) {
      sends->for_each_piece(bin, [&](const SendPiece<M>& piece) {
        if constexpr (folds) {
          folded[bin - begin].add(piece);
        } else {
          keep(piece);
        }
      });
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
      for (std::size_t i = 0; i < piece.size; ++i) messages.push_back(piece.get(i));
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
                                            std::span<const Sends<M>* const> by_shard) {
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
      for (const Sends<M>* const sends : by_shard) num_messages += sends->count(bin);
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
                            std::span<const Sends<M>* const> by_shard, SentInbox<M, C>& inbox) {
  std::vector<detail::ArrivedSends<M>> arrived;
  if (context.size() > 1) arrived = detail::exchange_sends<M, C>(context, bins, by_shard);
  // By own bin, in order of the source shard.
  const std::uint32_t first_bin = bins.first_of(context.rank());
  std::vector<std::vector<SendPiece<M>>> pieces(bins.first_of(context.rank() + 1) - first_bin);
  constexpr Row no_row = 0xffffffff;
  const auto own_bin = [&](std::size_t i) { return first_bin + static_cast<std::uint32_t>(i); };
  std::uint64_t num_messages = 0;
  const auto keep = [&](std::uint32_t bin, const SendPiece<M>& piece) {
    num_messages += piece.size;
    append_piece(pieces[bin - first_bin], piece);
  };
  const auto batches_end = arrived.end();
  auto batch = arrived.begin();
  for (; batch != batches_end && batch->source() < context.rank(); ++batch) {
    for (const auto& [bin, piece] : batch->pieces()) keep(bin, piece);
  }
  for (const Sends<M>* const sends : by_shard) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      sends->for_each_piece(own_bin(i),
                            [&](const SendPiece<M>& piece) { keep(own_bin(i), piece); });
    }
  }
  for (; batch != batches_end; ++batch) {
    for (const auto& [bin, piece] : batch->pieces()) keep(bin, piece);
  }

  std::vector<std::uint64_t> num_dropped(pieces.size());
  const auto visit_by = [&](std::size_t i, const auto& row_at, const auto& f) {
    std::uint64_t dropped = 0;
    for (const SendPiece<M>& piece : pieces[i]) {
      for (std::size_t k = 0; k < piece.size; ++k) {
        const Row row = row_at(piece.distance(k));
        if (row != no_row) {
          f(row, [&] { return piece.get(k); });
        } else {
          dropped += piece.num_calls(k);
        }
      }
    }
    num_dropped[i] = dropped;
  };
  const auto visit_far = [&](std::size_t i, const auto& f) {
    const auto first_id = static_cast<std::uint64_t>(bins.first_id(own_bin(i)));
    const auto row_at = [&](std::uint64_t distance) {
      return vertices.find(static_cast<VertexId>(first_id + distance)).value_or(no_row);
    };
    visit_by(i, row_at, f);
  };
  const auto rows_of = [&](std::size_t i) -> typename SentInbox<M, C>::RowRange {
    const ShardRange shards = bins.shards(own_bin(i));
    return {vertices.first_row(shards.begin), vertices.first_row(shards.end)};
  };
  // Many messages are looked up in a table of the bin's vertices, where their ids lie close.
  const auto visit = [&](std::size_t i, const auto& f) {
    const auto rows = rows_of(i);
    const VertexId first_id = bins.first_id(own_bin(i));
    std::uint64_t width = 0;
    for (Row row = rows.begin; row < rows.end; ++row)
      width = std::max(width, SendBins::distance(first_id, vertices.id(row)) + 1);
    if (width > std::uint64_t{8} * (rows.end - rows.begin)) return visit_far(i, f);
    std::vector<Row> table(width, no_row);
    for (Row row = rows.begin; row < rows.end; ++row)
      table[SendBins::distance(first_id, vertices.id(row))] = row;
    const Row* const row_of = table.data();
    visit_by(
        i, [&](std::uint64_t distance) { return distance < width ? row_of[distance] : no_row; }, f);
  };
  constexpr std::uint64_t rows_per_message = 16;  // so many cost as much as sorting one message
  const bool is_many = num_messages * rows_per_message >= vertices.size() + std::size_t{1024};
  if constexpr (std::default_initializable<M>) {
    if (is_many) {
      inbox.fill_densely(context, vertices.size(), pieces.size(), rows_of, visit);
    }
  }
  if (!is_many || !std::default_initializable<M>) {
    std::vector<std::pair<Row, M>> few;
    few.reserve(num_messages);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      visit_far(i, [&](Row row, const auto& message) { few.emplace_back(row, message()); });
    inbox.fill(std::move(few));
  }
  return std::accumulate(num_dropped.begin(), num_dropped.end(), std::uint64_t{0});
}

}  // namespace weir
