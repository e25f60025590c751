// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/marks.hpp>

namespace weir {

/// Asked by whoever computes the rows of a shard: before the first, now and then, after the last.
class RowWatch {
 public:
  virtual ~RowWatch() = default;
  /// How many rows to compute, after so many, before asking again. None: the rest is left alone.
  virtual std::size_t rows_to_go(std::size_t num_done) = 0;

 protected:
  RowWatch() = default;
  RowWatch(const RowWatch&) = default;
  RowWatch& operator=(const RowWatch&) = default;
};

/// The rows a superstep visits: all of them, those marked, or a list. Always shard by shard and
/// ascending inside a shard, so that nothing depends on which it is.
class Frontier {
 public:
  /// A superstep that touches less runs on the calling thread: waking a worker costs more.
  static constexpr std::uint64_t serial_work = 1 << 14;

  void bind(const Vertices& vertices);

  /// Starts gathering anew.
  void begin();
  void visit(Row row) {
    if (is_marked_[row] == Mark::set) return;
    is_marked_[row] = Mark::set;
    ++num_rows_;
    if (!is_many()) rows_.push_back(row);
  }
  bool is_marked(Row row) {
    return std::atomic_ref(is_marked_[row]).load(std::memory_order_relaxed) == Mark::set;
  }
  /// Marks a row, from any thread; true for the first to do so. The rows are handed to
  /// `visit_marked` afterwards, or all by `visit_all_marked`.
  bool mark(Row row) {
    return !is_marked(row) &&
           std::atomic_ref(is_marked_[row]).exchange(Mark::set, std::memory_order_relaxed) ==
               Mark::unset;
  }
  /// The same while no other thread marks.
  bool mark_unshared(Row row) {
    if (is_marked_[row] == Mark::set) return false;
    is_marked_[row] = Mark::set;
    return true;
  }
  void unmark(Row row) { is_marked_[row] = Mark::unset; }
  /// As `mark`, without an order between threads, which costs a fraction; of threads that mark a
  /// row at the same time several may be told to be the first. A row may be handed over twice.
  bool mark_unordered(Row row) {
    const std::atomic_ref is_marked(is_marked_[row]);
    if (is_marked.load(std::memory_order_relaxed) == Mark::set) return false;
    is_marked.store(Mark::set, std::memory_order_relaxed);
    return true;
  }
  /// Takes rows that were marked.
  void visit_marked(std::span<const Row> rows) {
    num_rows_ += rows.size();
    if (!is_many()) rows_.insert(rows_.end(), rows.begin(), rows.end());
  }
  /// Ends gathering. `work`: arcs and rows that visiting will touch, roughly.
  void finish(std::uint64_t work);
  /// Ends gathering: visits every row. `work`: as above.
  void visit_all(std::uint64_t work);
  /// Ends gathering: visits the rows that were marked, however many. `work`: as above.
  void visit_all_marked(std::uint64_t work);

  bool is_sparse() const { return way_ != Way::all; }
  bool is_listed() const { return way_ == Way::listed; }
  /// Whether the rows are visited by the calling thread alone.
  bool is_serial() const { return is_serial_; }
  /// Whether touching `work` rows and arcs one by one beats streaming through all of them.
  bool is_sparse_better(std::uint64_t work, std::uint64_t num_arcs) const {
    return work < (num_arcs + is_marked_.size()) / 16;
  }
  /// Own shards (0 is the rank's first) that may hold a visited row, ascending.
  const std::vector<std::size_t>& visited_shards() const { return shards_; }

  /// Calls body(i) for the places of `visited_shards()`, on the context's threads where that pays.
  template <class F>
  void for_each_place(Context& context, const F& body) const {
    if (is_serial_) {
      for (std::size_t i = 0; i < shards_.size(); ++i) body(i);
    } else {
      context.parallel_for(shards_.size(), body);
    }
  }

  /// Calls body(shard, rows) for the i-th of `visited_shards()`; rows(f) calls f(row) in order, and
  /// asks the watch in between unless it is null.
  template <class F>
  void visit_shard(std::size_t i, RowWatch* watch, const F& body) {
    const std::size_t shard = shards_[i];
    const auto rows = [&](const auto& f) __attribute__((always_inline)) {
      if (way_ == Way::listed) {
        for_each_watched(cuts_[i], cuts_[i + 1], watch, [&](std::size_t k) { f(rows_[k]); });
        return;
      }
      const Row begin = first_row(shard);
      const Row end = first_row(shard + 1);
      if (way_ == Way::all) {
        for_each_watched(begin, end, watch, f);
        return;
      }
      const std::span<Mark> marks = std::span(is_marked_).subspan(begin, end - begin);
      for_each_watched(std::size_t{0}, (marks.size() + 7) / 8, watch, [&](std::size_t word) {
        for_each_set(marks.subspan(8 * word, std::min<std::size_t>(8, marks.size() - 8 * word)),
                     [&](std::size_t k) { f(begin + static_cast<Row>(8 * word + k)); });
      });
      std::fill(marks.begin(), marks.end(), Mark::unset);
    };
    body(shard, rows);
  }

  /// The rows of the i-th of `visited_shards()`, of a superstep that keeps no list: flags, one a
  /// row; none where all are visited.
  std::span<const Mark> marked_rows(std::size_t i) const {
    if (way_ != Way::marked) return {};
    const Row begin = first_row(shards_[i]);
    return std::span(is_marked_).subspan(begin, first_row(shards_[i] + 1) - begin);
  }
  /// Leaves the i-th of `visited_shards()` out: it was visited elsewhere.
  void skip_shard(std::size_t i) {
    if (way_ != Way::marked) return;
    const Row begin = first_row(shards_[i]);
    const Row end = first_row(shards_[i] + 1);
    std::fill(is_marked_.begin() + begin, is_marked_.begin() + end, Mark::unset);
  }

 private:
  enum class Way { all, marked, listed };

  /// Calls f(k) for k in [begin, end), and asks the watch in between.
  template <class Index, class F>
  [[gnu::always_inline]] static inline void for_each_watched(Index begin, Index end,
                                                             RowWatch* watch, const F& f) {
    const Index first = begin;
    for (;;) {
      const auto left = static_cast<std::size_t>(end - begin);
      const std::size_t count =
          watch == nullptr ? left : watch->rows_to_go(static_cast<std::size_t>(begin - first));
      if (left == 0 || count == 0) return;
      const Index next = begin + static_cast<Index>(std::min(left, count));
      for (; begin < next; ++begin) f(begin);
    }
  }

  /// Whether a list does not pay: sorting a row costs as much as looking at the marks of some 500.
  bool is_many() const { return num_rows_ > is_marked_.size() / 512 + 64; }
  Row first_row(std::size_t shard) const {
    return vertices_->first_row(vertices_->shards().begin + static_cast<ShardIndex>(shard));
  }
  std::size_t shard_of(Row row) const;
  void visit_all_shards();

  const Vertices* vertices_ = nullptr;
  LargeVector<Mark> is_marked_;  // by row; outside a step of marked rows only rows_ are
  std::vector<Row> rows_;        // those visited, unless they are many
  std::size_t num_rows_ = 0;
  std::vector<std::size_t> shards_;
  std::vector<std::size_t> cuts_;  // rows of visited shard i: [cuts_[i], cuts_[i + 1])
  Way way_ = Way::all;
  bool is_serial_ = false;
};

}  // namespace weir
