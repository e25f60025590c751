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
#include <weir/engine/superstep/frontier.hpp>
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
    return ConcurrentFold<typename P::Combiner>::is_possible &&
           std::is_trivially_copyable_v<typename P::Value> &&
           std::atomic_ref<typename P::Value>::is_always_lock_free && AggregatorsOf<P>::size == 0 &&
           !MutatingProgram<P> && !ArcReadingProgram<P> && !MasterProgram<P> && !StickyProgram<P>;
  } else {
    return false;
  }
}();

/// Vertices waiting to be computed, as slots, by bucket: one worker's. Buckets are asked for in
/// ascending order; those far ahead share the last of a window, which a monotone program allows.
class Buckets {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// `current`: no smaller bucket is asked for from now on.
  void add(std::uint64_t current, std::uint64_t bucket, Slot slot) {
    const std::uint64_t place = std::clamp(bucket, current, current + window - 1);
    slots_[place % window].push_back(slot);
    ++size_;
  }
  std::vector<Slot>& at(std::uint64_t bucket) { return slots_[bucket % window]; }
  /// Empties a bucket into a list.
  void take(std::uint64_t bucket, std::vector<Slot>& slots) {
    std::vector<Slot>& taken = at(bucket);
    size_ -= taken.size();
    slots.insert(slots.end(), taken.begin(), taken.end());
    taken.clear();
  }
  /// The smallest bucket from `current` on that is not empty, or `none`.
  std::uint64_t next(std::uint64_t current) const {
    if (size_ == 0) return none;
    while (slots_[current % window].empty()) ++current;
    return current;
  }
  std::uint64_t size() const { return size_; }

 private:
  static constexpr std::uint64_t window = 1024;
  std::array<std::vector<Slot>, window> slots_;
  std::uint64_t size_ = 0;
};

template <class Executor>
class SavedState;
template <class Executor>
class ExecutorDigests;

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
      if (context_.size() > 1) {
        read_.resize(side_.slots.size(), {}, false);
        write_.resize(side_.slots.size(), {}, false);
      }
      folded_.resize(side_.slots.size());
      states_.resize(side_.slots.size());
      is_busy_.assign(side_.slots.size(), 0);
      workers_.resize(static_cast<std::size_t>(context_.num_threads()));
      initialise(initial);
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
  /// rows fall into it. `watch` may be null.
  void run(RowWatch* watch) {
    watch_ = watch;
    if (current_ == Buckets::none) current_ = last_;  // all that is left comes from other ranks
    last_ = current_;
    if (view_.superstep == 0) {
      std::vector<Slot> starts = std::move(starts_);
      for_each(starts, true);
    }
    take_in_ghosts();
    std::vector<Slot> slots;
    while (!options_.cancel.is_cancelled()) {  // what is left is told at the barrier
      slots.clear();
      for (Worker& worker : workers_) worker.buckets.take(current_, slots);
      if (slots.empty()) break;
      for_each(slots, false);
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
    PlainVector<detail::Cell<Value>> values;
    context_.agree([&] {
      values.resize(vertices().size());
      for_each_run_of_rows(
          [&](Row row) { values[row].value = states_[slots().of_rows[row]].value; });
    });
    return VertexValues<Value>(context_, graph_.vertices(), graph_.names(), std::move(values));
  }
  bool is_sparse() const { return true; }
  static constexpr bool is_synchronous = false;

 private:
  template <class>
  friend class SavedState;
  template <class>
  friend class ExecutorDigests;

  using Fold = ConcurrentFold<typename P::Combiner>;

  /// What is looked at when a vertex is computed, and not per arc.
  struct State {
    alignas(std::atomic_ref<Value>::required_alignment) Value value;
    Message computed;  ///< the fold of messages that was computed last
  };

  /// What one thread at a time works with.
  struct alignas(64) Worker {  // NOLINT(clang-analyzer-optin.performance.Padding): lines of its own
    Buckets buckets;
    std::vector<Slot> scattered;
    ShardWork<P, E> work;
    std::uint64_t num_computed = 0;
    std::uint64_t num_messages = 0;
  };

  const Vertices& vertices() const { return *graph_.vertices(); }
  const Slots& slots() const { return side_.slots; }
  VertexInfo info(Row row) const {
    return {vertices().id(row), vertices().out_degree(row), vertices().in_degree(row),
            graph_.num_vertices()};
  }

  template <class F>
  void for_each_run_of_rows(const F& f) {
    constexpr std::size_t run = std::size_t{1} << 14;
    const std::size_t num_rows = vertices().size();
    context_.parallel_for((num_rows + run - 1) / run, [&](std::size_t i) {
      for (std::size_t row = i * run; row < std::min(num_rows, (i + 1) * run); ++row)
        f(static_cast<Row>(row));
    });
  }

  void initialise(const VertexValues<Value>* initial) {
    for_each_run_of_rows([&](Row row) {
      folded_[slots().of_rows[row]] = {P::Combiner::identity()};
      states_[slots().of_rows[row]] = {
          initial ? initial->at(vertices().id(row)) : static_cast<Value>(program_.init(info(row))),
          P::Combiner::identity()};
    });
  }

  void gather_starts() {
    if constexpr (StartingProgram<P>) {
      for (const VertexId id : program_.starts()) {
        if (const auto row = vertices().find(id)) starts_.push_back(slots().of_rows[*row]);
      }
    } else {
      starts_.assign(slots().of_rows.begin(), slots().of_rows.end());
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
      watched(count, [&] {
        for (std::size_t i = 0; i < count; ++i) body(workers_.front(), i);
        drain(workers_.front());
      });
      return;
    }
    std::atomic<std::size_t> next{0};
    context_.parallel_for(workers_.size(), [&](std::size_t w) {
      for (;;) {
        const std::size_t first = next.fetch_add(run, std::memory_order_relaxed);
        if (first >= count) break;
        watched(run, [&] {
          for (std::size_t i = first; i < std::min(count, first + run); ++i) body(workers_[w], i);
        });
      }
      drain(workers_[w]);
    });
  }

  template <class F>
  void watched(std::size_t count, const F& body) {
    if (watch_ != nullptr) (void)watch_->rows_to_go(0);
    body();
    if (watch_ != nullptr) (void)watch_->rows_to_go(count);
  }

  /// Bucket fusion: a worker empties its own part of the current bucket while it is small.
  void drain(Worker& worker) {
    constexpr std::size_t most = 1024;
    std::vector<Slot> slots;
    for (int round = 0; round < 64; ++round) {
      const std::size_t count = worker.buckets.at(current_).size();
      if (count == 0 || count > most) return;
      slots.clear();
      worker.buckets.take(current_, slots);
      for (const Slot slot : slots) compute(worker, slot, false);
    }
  }

  void for_each(const std::vector<Slot>& slots, bool is_start) {
    share(slots.size(),
          [&](Worker& worker, std::size_t i) { compute(worker, slots[i], is_start); });
  }

  void take_in_ghosts() {
    if (context_.size() == 1) return;
    const std::vector<Slot>& listed = read_.listed();
    share(listed.size(), [&](Worker& worker, std::size_t i) {
      const Slot slot = listed[i];
      if (slots().rows[slot] != Slots::no_row) return;  // own: pushed when published
      guarded(slots().ids[slot], [&] { push(worker, slot, Slots::no_row, read_[slot]); });
    });
  }

  void compute(Worker& worker, Slot slot, bool is_start) {
    const std::atomic_ref busy(is_busy_[slot]);
    while (busy.exchange(1, std::memory_order_acquire) != 0) {
      if (!is_start) return worker.buckets.add(current_, current_, slot);  // for a later round
      std::this_thread::yield();
    }
    // A start computes without a message, as in superstep 0; one that came early stays for later.
    State& state = states_[slot];
    const Message message = is_start ? P::Combiner::identity() : Fold::read(folded_[slot].value);
    const bool has_message = !Fold::is_same(message, state.computed);
    if (has_message || is_start) {
      state.computed = message;
      const Row row = slots().rows[slot];
      guarded(vertices().id(row), [&] {
        const std::atomic_ref cell(state.value);
        Value value = cell.load(std::memory_order_relaxed);
        CpuHandle<P, E> handle(view_, worker.work, row, value);
        program_.compute(handle, Inbox<Message>(message, !has_message));
        cell.store(value, std::memory_order_relaxed);
        ++worker.num_computed;
        if (handle.has_scattered()) scatter(worker, slot, row, value);
      });
    }
    busy.store(0, std::memory_order_release);
  }

  void scatter(Worker& worker, Slot slot, Row row, const Value& value) {
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
    worker.num_messages += detail::num_messages<P>(side_, vertices(), row, graph_.is_directed());
    push(worker, slot, row, published);
  }

  /// `row`: own row of the slot, or no_row.
  void push(Worker& worker, Slot slot, Row row, const PublishedOf<P>& published) {
    const VertexId source = slots().ids[slot];
    side_.for_each_reading_slot(slot, row, [&](Slot reader, const E& arc) {
      Message message;
      if constexpr (AlongProgram<P, E>) {
        message = program_.along(published, Arc<E>{source, slots().ids[reader], arc});
        detail::refuse_nan<P>(message);
      } else {
        message = static_cast<Message>(published);
      }
      // Most messages are no better than what came before: no more than that is looked at.
      Message& folded = folded_[reader].value;
      if (!Fold::changes(folded, message)) return;
      if constexpr (SelectiveProgram<P>) {
        const std::atomic_ref value(states_[reader].value);
        if (!program_.wants(value.load(std::memory_order_relaxed), message)) return;
      }
      if (Fold::add(folded, message)) worker.buckets.add(current_, bucket_of(message), reader);
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
      summary_.num_unhalted += worker.buckets.size();
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
  PublishedBuffer<PublishedOf<P>> read_;       // by slot: what ghosts published
  PublishedBuffer<PublishedOf<P>> write_;      // by slot: what own vertices published
  PlainVector<detail::Cell<Message>> folded_;  // by slot: of all messages to an own vertex so far
  PlainVector<State> states_;                  // by slot; of own vertices
  LargeVector<std::uint8_t> is_busy_;          // by slot: some thread computes it
  std::vector<Worker> workers_;
  std::vector<Slot> starts_;
  std::uint64_t current_ = 0;  // bucket
  std::uint64_t last_ = 0;
  RowWatch* watch_ = nullptr;
  std::mutex failing_;
  StepView<P, E> view_;
  Summary summary_;
};

}  // namespace weir
