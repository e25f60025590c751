// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/vertex_program.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/cpu_handle.hpp>
#include <weir/engine/superstep/decision.hpp>
#include <weir/engine/superstep/messages.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/engine/superstep/published.hpp>
#include <weir/engine/superstep/pushed.hpp>
#include <weir/engine/superstep/shard_work.hpp>
#include <weir/engine/superstep/summary.hpp>

namespace weir {

/// Whether a program can run to local fixed points: it is monotone, keeps its value in one machine
/// word, and neither aggregates nor changes the graph nor reads its arcs.
template <class P>
inline constexpr bool runs_to_fixed_point = [] {
  if constexpr (MonotoneProgram<P> && CombiningProgram<P>) {
    return PushedMessages<typename P::Combiner>::is_concurrent &&
           std::is_trivially_copyable_v<typename P::Value> &&
           std::atomic_ref<typename P::Value>::is_always_lock_free && AggregatorsOf<P>::size == 0 &&
           !MutatingProgram<P> && !ArcReadingProgram<P> && !MasterProgram<P> && !StickyProgram<P>;
  } else {
    return false;
  }
}();

/// Rows waiting to be computed, by bucket: one worker's. Buckets are asked for in ascending order;
/// those far ahead share the last of a window, which a monotone program allows.
class Buckets {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// `current`: no smaller bucket is asked for from now on.
  void add(std::uint64_t current, std::uint64_t bucket, Row row) {
    const std::uint64_t place = std::clamp(bucket, current, current + window - 1);
    rows_[place % window].push_back(row);
    ++num_rows_;
  }
  std::vector<Row>& at(std::uint64_t bucket) { return rows_[bucket % window]; }
  /// Empties a bucket into a list.
  void take(std::uint64_t bucket, std::vector<Row>& rows) {
    std::vector<Row>& taken = at(bucket);
    num_rows_ -= taken.size();
    rows.insert(rows.end(), taken.begin(), taken.end());
    taken.clear();
  }
  /// The smallest bucket from `current` on that holds a row, or `none`.
  std::uint64_t next(std::uint64_t current) const {
    if (num_rows_ == 0) return none;
    while (rows_[current % window].empty()) ++current;
    return current;
  }
  std::uint64_t num_rows() const { return num_rows_; }

 private:
  static constexpr std::uint64_t window = 1024;
  std::array<std::vector<Row>, window> rows_;
  std::uint64_t num_rows_ = 0;
};

/// Runs a monotone vertex program: each rank computes to a local fixed point between exchanges, in
/// ascending order of priority by buckets (delta-stepping, [Meyer03]; draining one's own small
/// buckets without waiting is the bucket fusion of [Zhang20]). The values at the end are those of
/// synchronous supersteps; how often vertices compute on the way is not.
template <class G, class P>
class FixedPointExecutor {
 public:
  using E = typename G::EdgeValue;
  using Value = typename P::Value;
  using Message = typename P::Message;
  using Tags = AggregatorsOf<P>;
  static constexpr std::size_t num_phases = 1;

  /// Values come from `init`, or from `initial` unless it is null. Collective.
  FixedPointExecutor(G& graph, const std::tuple<P>& program, const RunOptions& options,
                     const VertexValues<Value>* initial)
      : graph_(graph),
        context_(graph.context()),
        program_(std::get<0>(program)),
        options_(options),
        side_(graph.side_for(along_edges_of<P>())) {
    view_.vertices = graph_.vertices().get();
    view_.num_vertices = graph_.num_vertices();
    view_.seed = options.seed;
    context_.agree([&] {
      side_.make_transpose(context_);
      read_.resize(side_.slots.size(), {}, false);
      write_.resize(side_.slots.size(), {}, false);
      values_.resize(vertices().size());
      is_busy_.assign(vertices().size(), 0);
      pushed_.begin(vertices().size());
      workers_.resize(static_cast<std::size_t>(context_.num_threads()));
      for (Row row = 0; row < vertices().size(); ++row)
        values_[row].value = initial ? initial->at(vertices().id(row))
                                     : static_cast<Value>(program_.init(info(row)));
      gather_starts();
    });
  }

  void begin(Superstep step, const Decision&, const auto& agreed) {
    view_.superstep = step;
    view_.aggregated = &agreed.aggregated;
    view_.master = &agreed.master;
    summary_ = {};
    write_.begin(context_, false);
    current_ = step == 0 ? 0 : agreed.summary.next_bucket;
  }

  /// Takes in what other ranks published, then empties the current bucket, again and again while
  /// rows fall into it.
  void run() {
    if (current_ == Buckets::none) current_ = last_;  // all that is left comes from other ranks
    last_ = current_;
    if (view_.superstep == 0) {
      std::vector<Row> starts = std::move(starts_);
      for_each_row(starts, true);
    }
    take_in_ghosts();
    std::vector<Row> rows;
    while (!options_.cancel.is_cancelled()) {  // what is left is told at the barrier
      rows.clear();
      for (Worker& worker : workers_) worker.buckets.take(current_, rows);
      if (rows.empty()) break;
      for_each_row(rows, false);
    }
    finish_summary();
  }

  void exchange() {
    exchange_published(context_, side_.slots, write_, summary_.num_values_sent,
                       summary_.num_values_received);
  }
  void commit(bool) { std::swap(read_, write_); }

  Summary& summary() { return summary_; }
  /// Vertices that start. Before superstep 0. Collective.
  std::uint64_t num_unhalted_of_all() const {
    return all_fold(context_, Sum<std::uint64_t>{}, std::uint64_t{starts_.size()});
  }
  std::uint64_t num_unhalted() const { return summary_.num_unhalted; }
  std::uint64_t deliver_sends() { return 0; }
  typename Tags::Values fold_aggregates(const Bytes&) const { return Tags::identity(); }
  VertexValues<Value> take_values() {
    return VertexValues<Value>(context_, graph_.vertices(), graph_.names(), std::move(values_));
  }
  bool is_sparse() const { return true; }
  static constexpr bool is_synchronous = false;

 private:
  /// What one thread at a time works with.
  struct alignas(64) Worker {
    Buckets buckets;
    std::vector<Slot> scattered;
    ShardWork<P, E> work;
    std::uint64_t num_computed = 0;
    std::uint64_t num_messages = 0;
  };

  const Vertices& vertices() const { return *graph_.vertices(); }
  VertexInfo info(Row row) const {
    return {vertices().id(row), vertices().out_degree(row), vertices().in_degree(row),
            graph_.num_vertices()};
  }

  void gather_starts() {
    if constexpr (StartingProgram<P>) {
      for (const VertexId id : program_.starts()) {
        if (const auto row = vertices().find(id)) starts_.push_back(*row);
      }
    } else {
      for (Row row = 0; row < vertices().size(); ++row) starts_.push_back(row);
    }
  }

  std::uint64_t bucket_of(const Message& message) const {
    if constexpr (PriorityProgram<P>) {
      const double bucket = program_.priority(message) / program_.bucket_width();
      return bucket < 0x1p62 ? static_cast<std::uint64_t>(std::max(bucket, 0.0))
                             : std::uint64_t{1} << 62;
    } else {
      return current_;
    }
  }

  /// Runs body(worker, i) for i in [0, count), on several threads where it is much.
  template <class F>
  void share(std::size_t count, const F& body) {
    constexpr std::size_t run = 64;
    if (workers_.size() == 1 || count < 4 * run) {
      for (std::size_t i = 0; i < count; ++i) body(workers_.front(), i);
      drain(workers_.front());
      return;
    }
    std::atomic<std::size_t> next{0};
    context_.parallel_for(workers_.size(), [&](std::size_t w) {
      for (;;) {
        const std::size_t first = next.fetch_add(run, std::memory_order_relaxed);
        if (first >= count) break;
        for (std::size_t i = first; i < std::min(count, first + run); ++i) body(workers_[w], i);
      }
      drain(workers_[w]);
    });
  }

  /// Bucket fusion: a worker empties its own part of the current bucket while it is small.
  void drain(Worker& worker) {
    constexpr std::size_t most = 1024;
    std::vector<Row> rows;
    for (int round = 0; round < 64; ++round) {
      const std::size_t count = worker.buckets.at(current_).size();
      if (count == 0 || count > most) return;
      rows.clear();
      worker.buckets.take(current_, rows);
      for (const Row row : rows) compute(worker, row, false);
    }
  }

  void for_each_row(const std::vector<Row>& rows, bool is_start) {
    share(rows.size(), [&](Worker& worker, std::size_t i) { compute(worker, rows[i], is_start); });
  }

  void take_in_ghosts() {
    if (context_.size() == 1) return;
    const std::vector<Slot>& slots = read_.listed();
    share(slots.size(), [&](Worker& worker, std::size_t i) {
      if (side_.slots.rows[slots[i]] != Slots::no_row) return;  // own: pushed when published
      guarded(side_.slots.ids[slots[i]], [&] { push(worker, slots[i], read_[slots[i]]); });
    });
  }

  void compute(Worker& worker, Row row, bool is_start) {
    const std::atomic_ref busy(is_busy_[row]);
    while (busy.exchange(1, std::memory_order_acquire) != 0) {
      if (!is_start) return worker.buckets.add(current_, current_, row);  // for a later round
      std::this_thread::yield();
    }
    // A start computes without a message, as in superstep 0; one that came early stays for later.
    const Message message = is_start ? P::Combiner::identity() : pushed_.take_concurrently(row);
    const bool has_message = !pushed_.is_identity(message);
    if (has_message || is_start) {
      guarded(vertices().id(row), [&] {
        const std::atomic_ref cell(values_[row].value);
        Value value = cell.load(std::memory_order_relaxed);
        CpuHandle<P, E> handle(view_, worker.work, row, value);
        program_.compute(handle, Inbox<Message>(message, !has_message));
        cell.store(value, std::memory_order_relaxed);
        ++worker.num_computed;
        if (handle.has_scattered()) scatter(worker, row, value);
      });
    }
    busy.store(0, std::memory_order_release);
  }

  void scatter(Worker& worker, Row row, const Value& value) {
    const Slot slot = side_.slots.of_rows[row];
    PublishedOf<P> published;
    if constexpr (requires { program_.publish(value, info(row)); }) {
      published = program_.publish(value, info(row));
    } else {
      published = value;
    }
    detail::refuse_nan<P>(published);
    if (context_.size() > 1) {
      if (!write_.has(slot)) worker.scattered.push_back(slot);
      write_.put(slot, published);
    }
    worker.num_messages += vertices().out_degree(row);
    push(worker, slot, published);
  }

  void push(Worker& worker, Slot slot, const PublishedOf<P>& published) {
    const VertexId source = side_.slots.ids[slot];
    side_.for_each_reader(slot, [&](Row row, const E& arc) {
      Message message;
      if constexpr (AlongProgram<P, E>) {
        message = program_.along(published, Arc<E>{source, vertices().id(row), arc});
        detail::refuse_nan<P>(message);
      } else {
        message = static_cast<Message>(published);
      }
      if constexpr (SelectiveProgram<P>) {
        const std::atomic_ref value(values_[row].value);
        if (!program_.wants(value.load(std::memory_order_relaxed), message)) return;
      }
      if (pushed_.lower(row, message)) worker.buckets.add(current_, bucket_of(message), row);
    });
  }

  template <class F>
  void guarded(VertexId vertex, const F& body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(failing_);
      Failure failure = current_failure(vertex, context_.rank());
      if (!summary_.failure || failure < *summary_.failure) summary_.failure = std::move(failure);
    }
  }

  void finish_summary() {
    summary_.next_bucket = Buckets::none;
    for (Worker& worker : workers_) {
      summary_.num_computed += std::exchange(worker.num_computed, 0);
      summary_.num_messages += std::exchange(worker.num_messages, 0);
      summary_.num_scattered += worker.scattered.size();
      write_.note(std::span<const Slot>(worker.scattered));
      worker.scattered.clear();
      summary_.num_unhalted += worker.buckets.num_rows();
      summary_.next_bucket = std::min(summary_.next_bucket, worker.buckets.next(current_));
      if (!worker.work.sends.empty()) {
        summary_.failure = Failure{ErrorCode::program, 0, context_.rank(),
                                   "found a call of send; expected a monotone program to scatter"};
      }
    }
  }

  G& graph_;
  Context& context_;
  const P& program_;
  const RunOptions& options_;
  Side<E>& side_;
  PublishedBuffer<PublishedOf<P>> read_;   // by slot: what ghosts published
  PublishedBuffer<PublishedOf<P>> write_;  // by slot: what own vertices published
  std::vector<detail::Cell<Value>> values_;
  std::vector<std::uint8_t> is_busy_;  // by row: some thread computes it
  PushedMessages<typename P::Combiner> pushed_;
  std::vector<Worker> workers_;
  std::vector<Row> starts_;
  std::uint64_t current_ = 0;  // bucket
  std::uint64_t last_ = 0;
  std::mutex failing_;
  StepView<P, E> view_;
  Summary summary_;
};

}  // namespace weir
