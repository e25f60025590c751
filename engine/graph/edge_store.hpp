// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <weir/engine/graph/id_range.hpp>
#include <weir/engine/graph/packed_edges.hpp>
#include <weir/engine/graph/pages.hpp>

namespace weir {

/// Edges in no order, packed. Adding is safe from several threads; several readers share the
/// edges, and where they take them, memory goes as they are read.
template <class E>
class EdgeStore {
 public:
  static constexpr std::size_t batch_edges = std::size_t{1} << 13;

  void add(std::span<const Edge<E>> edges) {
    for (; !edges.empty(); edges = edges.subspan(std::min(edges.size(), batch_edges))) {
      const auto batch = edges.first(std::min(edges.size(), batch_edges));
      const auto [header, range] = plan_packing(batch);
      pack(header, batch, claim(header.template num_bytes<E>(), header, range));
    }
  }

  std::uint64_t size() const { return num_edges_; }
  const IdRange& range() const { return range_; }
  /// Holds every value to the bit.
  detail::ValueForm form() const { return form_; }

  class Reader;
  /// What is read by several readers, each chunk by one of them.
  class Reading {
   public:
    /// `takes`: the store is emptied on the way.
    Reading(EdgeStore& store, bool takes) : store_(&store), takes_(takes) {}

   private:
    friend class Reader;
    EdgeStore* store_;
    bool takes_;
    std::atomic<std::size_t> next_{0};
  };

  /// A source of edges for one thread.
  class Reader {
   public:
    explicit Reader(Reading& reading) : reading_(&reading) {}

    bool next(std::vector<Edge<E>>& batch) {
      if (!has_more()) {
        batch.clear();
        return false;
      }
      unpack(rest_, batch);
      return true;
    }

    /// Calls body(edges) for all that is left, with PackedEdges: nothing is copied.
    template <class F>
    void for_each_batch(const F& body) {
      while (has_more()) with_packed<E>(rest_, body);
    }

   private:
    bool has_more() {
      auto& chunks = reading_->store_->chunks_;
      while (rest_.empty()) {
        if (reading_->takes_ && chunk_ < chunks.size()) chunks[chunk_] = {};
        chunk_ = reading_->next_.fetch_add(1, std::memory_order_relaxed);
        if (chunk_ >= chunks.size()) return false;
        rest_ = {chunks[chunk_].pages.data(), chunks[chunk_].num_used};
      }
      return true;
    }

    Reading* reading_;
    std::size_t chunk_ = std::numeric_limits<std::size_t>::max();
    std::span<const std::byte> rest_;
  };

 private:
  struct Chunk {
    Pages pages;
    std::size_t num_used = 0;
  };

  /// Memory for a batch. Chunks grow with the store, so that a small one is small.
  std::byte* claim(std::size_t num_bytes, const PackedHeader& header, const IdRange& range) {
    constexpr std::size_t first_bytes = std::size_t{1} << 16;
    constexpr std::size_t most_bytes = std::size_t{1} << 21;
    const std::lock_guard lock(*mutex_);
    num_edges_ += header.num_edges;
    range_.see(range);
    form_ = std::max(form_, header.values);
    if (chunks_.empty() || chunks_.back().pages.size() - chunks_.back().num_used < num_bytes) {
      const std::size_t grown =
          chunks_.empty() ? first_bytes : std::min(2 * chunks_.back().pages.size(), most_bytes);
      chunks_.push_back({Pages(std::max(grown, num_bytes), Pages::Fill::in_order), 0});
    }
    Chunk& chunk = chunks_.back();
    std::byte* const memory = chunk.pages.data() + chunk.num_used;
    chunk.num_used += num_bytes;
    return memory;
  }

  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::vector<Chunk> chunks_;
  std::uint64_t num_edges_ = 0;
  IdRange range_;
  detail::ValueForm form_ = detail::ValueForm::none;
};

}  // namespace weir
