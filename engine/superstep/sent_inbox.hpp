// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/graph/pages.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/fold_table.hpp>
#include <weir/engine/superstep/marks.hpp>
#include <weir/engine/superstep/pool.hpp>

namespace weir {

/// Messages sent to own vertices: of each row in (source shard, row, sequence) order, or, with the
/// combiner C, one message, their fold in that order.
///
/// Few messages are kept with a list of their rows; many with an entry for every row, which all
/// threads fill.
template <class M, class C = void>
class SentInbox {
 public:
  static constexpr bool is_folding = !std::is_void_v<C>;
  /// Rows [begin, end).
  struct RowRange {
    Row begin = 0;
    Row end = 0;
  };

  bool empty() const { return messages_.empty(); }
  std::uint64_t num_rows() const { return num_rows_; }
  /// Messages of one row.
  std::span<const detail::Cell<M>> of(Row row) const {
    if (messages_.empty()) return {};
    if (is_dense_) return of_dense(row);
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), row);
    if (at == rows_.end() || *at != row) return {};
    return between(static_cast<std::size_t>(at - rows_.begin()));
  }
  /// Calls f(row, messages) for the rows of [begin, end) that have any, ascending.
  template <class F>
  void for_each_row(Row begin, Row end, const F& f) const {
    if (messages_.empty()) return;
    if (is_dense_) {
      for (Row row = begin; row < end; ++row) {
        if (const auto messages = of_dense(row); !messages.empty()) f(row, messages);
      }
      return;
    }
    const auto first = std::lower_bound(rows_.begin(), rows_.end(), begin);
    for (auto at = first; at != rows_.end() && *at < end; ++at)
      f(*at, between(static_cast<std::size_t>(at - rows_.begin())));
  }

  void clear() {
    rows_.clear();
    messages_.clear();
    num_rows_ = 0;
  }

  /// Takes few messages, in order of arrival per row.
  void fill(std::vector<std::pair<Row, M>> arrived) {
    std::stable_sort(arrived.begin(), arrived.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    clear();
    is_dense_ = false;
    offsets_.assign(1, 0);
    for (std::size_t i = 0, end = 0; i < arrived.size(); i = end) {
      const Row row = arrived[i].first;
      while (end < arrived.size() && arrived[end].first == row) ++end;
      rows_.push_back(row);
      if constexpr (is_folding) {
        messages_.push_back(
            {fold(C{}, i, end, [&](std::uint64_t k) -> M { return arrived[k].second; })});
      } else {
        for (; i < end; ++i) messages_.push_back({std::move(arrived[i].second)});
      }
      offsets_.push_back(messages_.size());
    }
    num_rows_ = rows_.size();
  }

  /// Takes many messages to rows [0, num_rows), part by part on all threads. Part i has the rows
  /// rows_of(i); the parts have all rows, ascending. visit(i, f) calls f(row, message) for every
  /// message of part i, in order of arrival per row, message() being it; visit is called up to
  /// twice, message() once. For messages that are made without arguments.
  template <class RowsOf, class Visit>
  void fill_densely(Context& context, std::size_t num_rows, std::size_t num_parts,
                    const RowsOf& rows_of, const Visit& visit) {
    rows_.clear();
    num_rows_ = 0;
    is_dense_ = true;
    if constexpr (is_folding) {
      fold_densely(context, num_rows, num_parts, rows_of, visit);
    } else {
      sort_densely(context, num_rows, num_parts, rows_of, visit);
    }
  }

 private:
  using Cells = std::span<const detail::Cell<M>>;

  Cells of_dense(Row row) const {
    if constexpr (is_folding) {
      return Cells(messages_).subspan(row, present_[row] == Mark::set ? 1 : 0);
    } else {
      return between(row);
    }
  }
  Cells between(std::size_t i) const {
    return Cells(messages_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }

  template <class RowsOf, class Visit>
  void fold_densely(Context& context, std::size_t num_rows, std::size_t num_parts,
                    const RowsOf& rows_of, const Visit& visit) {
    if (messages_.size() != num_rows) messages_.assign(num_rows, {C::identity()});
    present_.resize(num_rows);
    std::vector<std::uint64_t> counts(num_parts);
    context.parallel_for(num_parts, [&](std::size_t part) {
      const RowRange rows = rows_of(part);
      FoldTable<C> folds = tables_.take();
      folds.reset(rows.end - rows.begin);
      visit(part, [&](Row row, const auto& message) { folds.add(row - rows.begin, message()); });
      for (Row row = rows.begin; row < rows.end; ++row) {
        const bool is_present = !folds.is_empty(row - rows.begin);
        present_[row] = is_present ? Mark::set : Mark::unset;
        if (is_present) messages_[row].value = folds.take(row - rows.begin);
        counts[part] += is_present ? 1 : 0;
      }
      tables_.give(std::move(folds));
    });
    for (const std::uint64_t count : counts) num_rows_ += count;
  }

  template <class RowsOf, class Visit>
  void sort_densely(Context& context, std::size_t num_rows, std::size_t num_parts,
                    const RowsOf& rows_of, const Visit& visit) {
    // offsets_[row + 1] counts the messages of a row, then is where its next one goes.
    offsets_.resize(num_rows + 1);
    offsets_[0] = 0;
    std::vector<std::uint64_t> counts(num_parts);
    std::vector<std::uint64_t> starts(num_parts);
    context.parallel_for(num_parts, [&](std::size_t part) {
      const RowRange rows = rows_of(part);
      std::uint64_t* const count_of = offsets_.data() + 1;
      std::fill(count_of + rows.begin, count_of + rows.end, 0);
      visit(part, [&](Row row, const auto&) { ++count_of[row]; });
      for (Row row = rows.begin; row < rows.end; ++row) {
        counts[part] += count_of[row] == 0 ? 0 : 1;
        starts[part] += count_of[row];
      }
    });
    std::uint64_t num_messages = 0;
    for (std::size_t part = 0; part < num_parts; ++part) {
      num_rows_ += counts[part];
      num_messages += std::exchange(starts[part], num_messages);
    }
    messages_.clear();  // not to be moved to where there is room
    messages_.resize(num_messages);
    context.parallel_for(num_parts, [&](std::size_t part) {
      const RowRange rows = rows_of(part);
      std::uint64_t* const next = offsets_.data() + 1;
      std::uint64_t start = starts[part];
      for (Row row = rows.begin; row < rows.end; ++row) start += std::exchange(next[row], start);
      detail::Cell<M>* const messages = messages_.data();
      visit(part, [&](Row row, const auto& message) { messages[next[row]++].value = message(); });
    });
  }

  bool is_dense_ = false;
  std::uint64_t num_rows_ = 0;          // with messages
  std::vector<Row> rows_;               // they, ascending, unless dense
  PlainVector<std::uint64_t> offsets_;  // of their messages; when dense and not folding, by row
  PlainVector<detail::Cell<M>> messages_;
  PlainVector<Mark> present_;  // dense and folding: by row, as the messages are
  Pool<FoldTable<std::conditional_t<is_folding, C, Any>>> tables_;
};

}  // namespace weir
