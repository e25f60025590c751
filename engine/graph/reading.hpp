// SPDX-License-Identifier: Apache-2.0
// From an input in parts to a builder: what loading a graph is, whatever it is loaded from.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/io/graph_reader.hpp>

namespace weir {

/// Rank 0's header, on every rank: a pipe is read there alone. Collective.
io::GraphHeader share_header(Context& context, const io::GraphHeader& own);

/// A rank's share of an input, a part for each of its threads.
template <class Reader>
class RankReading {
 public:
  /// `open(part)` makes the reader of one part; called from several threads. Collective.
  template <class Open>
  RankReading(Context& context, const Open& open) : context_(context) {
    io::Part first{0, 0};
    const auto num_threads = all_gather(context, context.num_threads());
    for (std::size_t r = 0; r < num_threads.size(); ++r) {
      if (r < static_cast<std::size_t>(context.rank())) first.index += num_threads[r];
      first.count += num_threads[r];
    }
    context.agree([&] {
      readers_.resize(static_cast<std::size_t>(context.num_threads()));
      context.parallel_for(readers_.size(), [&](std::size_t i) {
        readers_[i].emplace(open(io::Part{first.index + static_cast<int>(i), first.count}));
      });
    });
    header_ = share_header(context, readers_.front()->header());
  }

  const io::GraphHeader& header() const { return header_; }
  /// The reader of this rank's first part.
  Reader& first() { return *readers_.front(); }

  /// Reads everything into the builder; of several errors the one of the smallest part counts, so
  /// that the first bad line of a file is told. Once. `progress`: see BuildOptions. Collective.
  template <class Vertex, class EdgeRecord, class Builder>
  void read_into(Builder& builder,
                 const std::function<void(std::string_view, std::uint64_t)>& progress) {
    std::mutex mutex;
    std::uint64_t num_edges = 0;
    const auto count = [&](std::uint64_t num_read) {
      if (!progress) return;
      const std::lock_guard lock(mutex);
      num_edges += num_read;
      progress("read", num_edges);
    };
    if (header_.has_vertices) builder.declare_vertex_list();
    context_.agree([&] {
      context_.parallel_for(readers_.size(), [&](std::size_t i) {
        // Edges come first: where the vertices go up to the largest id, that is then known.
        for (std::vector<EdgeRecord> batch; readers_[i]->next(batch);) {
          builder.add_edges(batch);
          count(batch.size());
        }
        if (!header_.has_vertices) return;
        for (std::vector<Vertex> batch; readers_[i]->next(batch);) {
          builder.add_vertices(batch);
          count(0);
        }
      });
    });
    verify();
    readers_.clear();  // with the files they hold
  }

 private:
  /// Checks what the input promised of itself against what all parts found.
  void verify() {
    if constexpr (requires(const Reader& reader) { reader.tally(); }) {
      io::Tally total;
      for (const auto& reader : readers_) total += reader->tally();
      const auto tallies = all_gather(context_, total);
      context_.agree([&] {
        total = {};
        for (const io::Tally& tally : tallies) total += tally;
        if (context_.is_root()) readers_.front()->verify(total);
      });
    }
  }

  Context& context_;
  std::vector<std::optional<Reader>> readers_;
  io::GraphHeader header_;
};

}  // namespace weir
