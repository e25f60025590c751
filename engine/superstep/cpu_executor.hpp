// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/cpu_handle.hpp>
#include <weir/engine/superstep/decision.hpp>
#include <weir/engine/superstep/frontier.hpp>
#include <weir/engine/superstep/messages.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/engine/superstep/published.hpp>
#include <weir/engine/superstep/pushed.hpp>
#include <weir/engine/superstep/sends.hpp>
#include <weir/engine/superstep/shard_work.hpp>
#include <weir/engine/superstep/sparse_inbox.hpp>

namespace weir {

template <class Executor>
class SavedState;
template <class Executor>
class ShardReplicas;
template <class Executor>
class ExecutorDigests;

namespace detail {

/// The combiner of a program; something harmless where it has none.
template <class P>
struct CombinerOf {
  using type = Any;
};
template <CombiningProgram P>
struct CombinerOf<P> {
  using type = typename P::Combiner;
};

}  // namespace detail

/// Runs supersteps of a vertex program on this rank's threads. `graph` is `const Graph<E>` unless
/// the program mutates it.
///
/// A superstep visits either every row (dense) or the rows that may be active (sparse): those that
/// did not halt, those that read a value published in the last superstep, those that were sent a
/// message. Both visit rows shard by shard, in row order, so that nothing depends on which way was
/// taken.
template <class G, class First, class... Rest>
class CpuExecutor {
 public:
  using E = typename G::EdgeValue;
  using Value = typename First::Value;
  using Message = typename First::Message;
  using Tags = AggregatorsOf<First>;
  using Work = ShardWork<First, E>;
  static constexpr std::size_t num_phases = 1 + sizeof...(Rest);
  static constexpr bool is_synchronous = true;
  static constexpr bool is_combining = CombiningProgram<First>;
  static constexpr bool combines_at_sender = [] {
    if constexpr (is_combining) {
      return ExactMonoid<typename First::Combiner>;
    } else {
      return false;
    }
  }();

  /// Values come from `init`, or from `initial` unless it is null. Collective.
  CpuExecutor(G& graph, const std::tuple<First, Rest...>& programs, const RunOptions& options,
              const VertexValues<Value>* initial)
      : graph_(graph), context_(graph.context()), programs_(programs), options_(options) {
    for_each_phase([&](auto k) {
      using P = Phase<k>;
      static_assert(
          std::is_same_v<typename P::Value, Value> && std::is_same_v<typename P::Message, Message>,
          "weir: the phases of a program share Value and Message");
      static_assert(!StickyProgram<P> || !MutatingProgram<First>,
                    "weir: a sticky program cannot change the topology");
      static_assert(CombiningProgram<P> == is_combining,
                    "weir: the phases of a program share Combiner");
      static_assert(
          std::is_same_v<AggregatorsOf<P>, Tags> && std::is_same_v<MasterOf<P>, MasterOf<First>>,
          "weir: the phases of a program share Aggregators and Master");
    });
    bind();
    context_.agree([&] { initialise(initial); });
  }

  /// Without values: of a replica of a shard, which is given them anew for each superstep.
  CpuExecutor(G& graph, const std::tuple<First, Rest...>& programs, const RunOptions& options)
      : graph_(graph), context_(graph.context()), programs_(programs), options_(options) {
    bind();
    values_.resize(vertices().size());
    halted_.assign(vertices().size(), Mark::unset);
  }

  /// Prepares superstep `step`: phase, aggregates of the last one, and which rows to visit.
  void begin(Superstep step, const Decision& decision, const Agreed<First>& agreed) {
    phase_ = decision.phase;
    view_.aggregated = &agreed.aggregated;
    view_.master = &agreed.master;
    view_.superstep = step;
    summary_ = {};
    for (const std::size_t s : touched_) work_[s].clear();
    send_streams_.clear();
    touched_.clear();
    choose_rows(step, decision.wakes_all);
    with_phase(phase_, [&](auto k) {
      const bool visits_all = !frontier_.is_sparse() && !StickyProgram<Phase<k>>;
      std::get<k>(channels_).write.begin(context_, visits_all,
                                         may_run_small && !options_.ledger.is_on() && is_small());
    });
  }

  /// Folds, computes and publishes for every active vertex. `watch` may be null.
  void run(RowWatch* watch = nullptr) {
    const bool is_small = small_.is_open();
    if constexpr (may_run_small) {
      if (is_small) with_phase(phase_, [&](auto current) { run_small<current>(); });
    }
    if (!is_small) {
      touched_ = frontier_.visited_shards();
      frontier_.for_each_place(context_, [&](std::size_t i) { compute_shard(i, watch); });
    }
    finish_run();
  }

  /// Brings published values to the ranks that read them. Collective.
  void exchange() {
    with_phase(phase_, [&](auto k) {
      auto& channel = std::get<k>(channels_);
      exchange_published(context_, channel.side->slots, channel.write, summary_.num_values_sent,
                         summary_.num_values_received);
    });
  }

  Summary& summary() { return summary_; }

  /// Own vertices that have not voted to halt.
  std::uint64_t num_unhalted() const {
    return static_cast<std::uint64_t>(std::count(halted_.begin(), halted_.end(), Mark::unset));
  }
  /// Before superstep 0. Collective.
  std::uint64_t num_unhalted_of_all() const {
    if constexpr (!StartingProgram<First>) return graph_.num_vertices();
    return all_fold(context_, Sum<std::uint64_t>{}, num_unhalted());
  }

  /// Delivers messages sent to single vertices; only when any rank sent one. Collective.
  std::uint64_t deliver_sends() {
    std::vector<const Sends<Message>*> by_shard;
    for (const std::size_t s : touched_) {
      if (!work_[s].sends.empty()) by_shard.push_back(&work_[s].sends);
    }
    return weir::deliver_sends(context_, send_bins_, vertices(),
                               std::span<const Sends<Message>* const>(by_shard), sent_);
  }

  /// Flips the buffers: what was published becomes readable.
  void commit(bool has_sends) {
    if (!has_sends) sent_.clear();
    delivered_.reset();
    if (read_phase_ && *read_phase_ != phase_)
      with_phase(*read_phase_, [&](auto k) { std::get<k>(channels_).read.clear(context_); });
    with_phase(phase_, [&](auto k) {
      auto& channel = std::get<k>(channels_);
      if constexpr (StickyProgram<Phase<k>>) {
        keep_changed(channel.read, channel.write);
      } else {
        channel.write.end_stale();
        std::swap(channel.read, channel.write);  // what was read is emptied when it is written
      }
    });
    read_phase_ = phase_;
  }

  /// Folds every inbox now, so that the topology may change under it. Collective.
  void deliver() {
    context_.agree([&] {
      Delivered delivered(vertices().size());
      with_phase(*read_phase_, [&](auto sender) {
        const auto messages = scattered_messages<sender>();
        for (const Row row : vertices().rows_by_id()) {  // the smallest vertex that fails is told
          try {
            deliver_row(messages, row, delivered[row]);
          } catch (...) {
            const Failure failure = current_failure(vertices().id(row), context_.rank());
            throw Error(failure.code, "superstep " + std::to_string(view_.superstep + 1) +
                                          ", vertex " + std::to_string(failure.vertex) + ": " +
                                          failure.text);
          }
        }
      });
      delivered_ = std::move(delivered);
    });
  }

  /// Applies the topology changes of all ranks and moves values to the new rows. Collective.
  /// Returns the number of dropped edges found here.
  std::uint64_t mutate() requires MutatingProgram<First> {
    std::map<VertexId, Value> added = gather_added_vertices();
    TopologyChange<E> change = std::move(mutations_.topology);
    for (const auto& [id, value] : added) change.added_vertices.push_back(id);
    mutations_ = {};
    const std::shared_ptr<const Vertices> old = graph_.vertices();
    const AppliedChange applied = graph_.apply(std::move(change));
    PlainVector<detail::Cell<Value>> values = std::move(values_);
    LargeVector<Mark> halted = std::move(halted_);
    Delivered delivered = std::move(*delivered_);
    bind();
    values_.assign(vertices().size(), {});
    halted_.assign(vertices().size(), Mark::unset);
    delivered_.emplace(vertices().size());
    if constexpr (is_combining) {
      for (auto& inbox : *delivered_) inbox.messages.assign(1, {First::Combiner::identity()});
    }
    for (const auto& [id, value] : added) {
      if (const auto row = vertices().find(id)) values_[*row].value = value;
    }
    for (Row row = 0; row < old->size(); ++row) {
      const Row now = applied.new_rows[row];
      if (now == Slots::no_row) continue;  // gone with its inbox
      values_[now] = std::move(values[row]);
      halted_[now] = halted[row];
      (*delivered_)[now] = std::move(delivered[row]);
    }
    return applied.num_dropped;
  }

  /// The aggregates of all ranks from their encoded subtrees, in rank order.
  typename Tags::Values fold_aggregates(const Bytes& encoded) const {
    if constexpr (Tags::size == 0) {
      return Tags::identity();
    } else {
      std::vector<typename Tags::Values> subtrees;
      for (BytesView rest(encoded); !rest.empty();) decode(rest, subtrees);
      std::size_t next = 0;
      const ShardMap& shards = graph_.shards();
      return fold_subtrees(
          shards.num_shards(), Tags::combine,
          [&](std::uint64_t first) {
            return shards.owned_by(shards.owner_of_shard(static_cast<ShardIndex>(first))).end;
          },
          [&] { return subtrees.at(next++); });
    }
  }

  VertexValues<Value> take_values() {
    return VertexValues<Value>(context_, graph_.vertices(), graph_.names(), std::move(values_));
  }

  bool is_sparse() const { return frontier_.is_sparse(); }
  std::size_t phase() const { return phase_; }

 private:
  template <class>
  friend class SavedState;
  template <class>
  friend class ShardReplicas;
  template <class>
  friend class ExecutorDigests;

  using Combiner = typename detail::CombinerOf<First>::type;
  using Pushed = PushedMessages<Combiner>;
  template <std::size_t K>
  using Phase = std::tuple_element_t<K, std::tuple<First, Rest...>>;

  /// An inbox folded before a change of the topology: one message when combining.
  struct DeliveredInbox {
    std::vector<detail::Cell<Message>> messages;
    bool has_any = false;  ///< with `wakes_on_any_message`: any message, also the identity
  };
  using Delivered = std::vector<DeliveredInbox>;  // by row

  /// Lists and buffers of the messages one phase scatters.
  template <class P>
  struct Channel {
    Side<E>* side = nullptr;
    PublishedBuffer<PublishedOf<P>> read;
    PublishedBuffer<PublishedOf<P>> write;
  };

  /// Whether supersteps that few vertices take part in may take the short way: `visit_small`.
  static constexpr bool may_run_small = combines_at_sender && !MutatingProgram<First> &&
                                        !StickyProgram<First> && !(StickyProgram<Rest> || ...) &&
                                        !WakesOnAnyMessageProgram<First> &&
                                        !(WakesOnAnyMessageProgram<Rest> || ...);

  const Vertices& vertices() const { return *graph_.vertices(); }

  template <class F>
  static void for_each_phase(F&& f) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (f(std::integral_constant<std::size_t, K>{}), ...);
    }
    (std::make_index_sequence<num_phases>{});
  }
  template <class F>
  static void with_phase(std::size_t phase, F&& f) {
    for_each_phase([&](auto k) {
      if (k == phase) f(k);
    });
  }
  /// What an absent slot holds: the identity, where what is published is the message.
  template <class P, class Published>
  static Published blank_of() {
    if constexpr (CombiningProgram<P>) {
      if constexpr (std::is_same_v<Published, typename P::Message>) return P::Combiner::identity();
    }
    return Published{};
  }

  /// Attaches to the graph's topology as it is now. Collective when lists must be built.
  void bind() {
    for_each_phase([&](auto k) {
      using P = Phase<k>;
      using Published = PublishedOf<P>;
      auto& channel = std::get<k>(channels_);
      channel.side = &graph_.side_for(along_edges_of<P>());
      const Published blank = blank_of<P, Published>();
      constexpr bool needs_blank = ScatteredMessages<P, E>::is_blank_identity;
      context_.agree([&] {
        channel.read.resize(channel.side->slots.size(), blank, needs_blank);
        channel.write.resize(channel.side->slots.size(), blank, needs_blank);
        if (options_.direction == Direction::push) channel.side->make_transpose(context_);
      });
    });
    if constexpr (ArcReadingProgram<First>) view_.out_side = &graph_.side_for(Edges::in);
    view_.vertices = graph_.vertices().get();
    view_.num_vertices = graph_.num_vertices();
    view_.seed = options_.seed;
    frontier_.bind(vertices());
    work_.clear();
    work_.resize(vertices().shards().size());
    for (Work& work : work_) work.sends.use(send_streams_);
    touched_.clear();
    send_bins_ = SendBins(graph_.shards(), graph_.num_vertices());
    send_streams_.bind(send_bins_);
    sent_.clear();
    fresh_.clear();
    is_fresh_.clear();
  }

  [[gnu::always_inline]] VertexInfo info(Row row) const {
    return {vertices().id(row), vertices().out_degree(row), vertices().in_degree(row),
            graph_.num_vertices()};
  }

  void initialise(const VertexValues<Value>* initial) {
    values_.resize(vertices().size());
    halted_.assign(vertices().size(), StartingProgram<First> ? Mark::set : Mark::unset);
    if constexpr (StartingProgram<First>) {
      for (const VertexId id : std::get<0>(programs_).starts()) {
        if (const auto row = vertices().find(id)) halted_[*row] = Mark::unset;
      }
    }
    for_each_own_shard([&](ShardIndex shard) {
      for (Row row = vertices().first_row(shard); row < vertices().first_row(shard + 1); ++row) {
        values_[row].value = initial ? initial->at(vertices().id(row))
                                     : static_cast<Value>(std::get<0>(programs_).init(info(row)));
      }
    });
  }

  template <class F>
  void for_each_own_shard(const F& f) {
    const ShardRange own = vertices().shards();
    context_.parallel_for(own.size(),
                          [&](std::size_t s) { f(own.begin + static_cast<ShardIndex>(s)); });
  }

  void choose_rows(Superstep step, bool wakes_all) {
    frontier_.begin();
    if (wakes_all) std::fill(halted_.begin(), halted_.end(), Mark::unset);
    if (wakes_all || delivered_) return visit_all();
    if (step == 0) {
      if constexpr (StartingProgram<First>) {
        for (const VertexId id : std::get<0>(programs_).starts()) {
          if (const auto row = vertices().find(id)) frontier_.visit(*row);
        }
        return frontier_.finish(0);
      }
      return visit_all();
    }
    with_phase(*read_phase_, [&](auto k) {
      if constexpr (StickyProgram<Phase<k>>) {
        visit_readers_of_fresh<k>();
      } else {
        choose_readers<k>();
      }
    });
  }

  /// Whether the superstep runs on the calling thread and keeps lists.
  bool is_small() const {
    return context_.size() == 1 && frontier_.is_listed() && frontier_.is_serial();
  }

  void visit_all() {
    std::uint64_t work = vertices().size();
    if (read_phase_) {
      with_phase(*read_phase_, [&](auto k) {
        auto& [side, read, write] = std::get<k>(channels_);
        read.spread(side->slots);
        work += side->num_arcs();
      });
    }
    frontier_.visit_all(work);
  }

  /// Visits the rows that are awake or were sent a message, besides those gathered.
  void finish_frontier(std::uint64_t work) {
    for (const Row row : unhalted_rows()) frontier_.visit(row);
    for_each_sent_row([&](Row row, auto) { frontier_.visit(row); });
    frontier_.finish(work);
  }

  template <class F>
  void for_each_sent_row(const F& f) const {
    sent_.for_each_row(0, vertices().size(), f);
  }

  /// Rows that stay awake; the list is made where the last superstep kept none.
  const std::vector<Row>& unhalted_rows() {
    if (unhalted_.size() != num_unhalted_) {
      unhalted_.clear();
      for (std::size_t row = 0; row < halted_.size(); ++row) {
        if (halted_[row] == Mark::unset) unhalted_.push_back(static_cast<Row>(row));
      }
    }
    return unhalted_;
  }

  /// Visits the rows that may be active: gathered from what phase K published last where that is
  /// less work than looking at every row. Where the combiner is exact the messages come along.
  template <std::size_t K>
  void choose_readers() {
    auto& channel = std::get<K>(channels_);
    const Side<E>& side = *channel.side;
    const auto is_worth_while = [&](std::uint64_t work) {
      return options_.direction == Direction::push ||
             frontier_.is_sparse_better(work, side.num_arcs());
    };
    std::uint64_t work = num_unhalted_ + sent_.num_rows();
    if constexpr (may_run_small) {
      if (visit_small<K>(work, is_worth_while)) return;
    }
    if (options_.direction == Direction::pull) return visit_all();
    // What own vertices scattered, or one arc for each value there is: no more than will be
    // counted.
    if (!is_worth_while(work + std::max(num_arcs_out_, channel.read.num_present())))
      return visit_all();
    const std::vector<Slot>& slots = channel.read.listed();
    if (!slots.empty()) channel.side->make_transpose(context_);
    work += cut_by_readers(side, slots);
    if (!is_worth_while(work)) return visit_all();
    if constexpr (combines_at_sender) {
      push<K>(slots, work);
    } else {
      visit_readers(side, slots, work);
    }
    finish_frontier(work);
  }

  /// The short way, for a superstep of few vertices after another such: messages go from the list
  /// of published values straight to a small inbox, and no array that is as long as the graph is
  /// touched but for lists and values. False, with the values in their slots, where it does not
  /// pay.
  template <std::size_t K, class IsWorthWhile>
  bool visit_small(std::uint64_t work, const IsWorthWhile& is_worth_while) {
    auto& channel = std::get<K>(channels_);
    if (!channel.read.is_apart()) return false;
    Side<E>& side = *channel.side;
    const auto& entries = channel.read.entries();
    const auto slot_of = [&](const auto& entry) {  // not looked up where the row is enough
      return side.is_symmetric ? Slot{0} : side.slots.of_rows[entry.row];
    };
    if (options_.direction != Direction::pull) {
      if (!entries.empty()) side.make_transpose(context_);
      for (const auto& entry : entries) work += side.num_readers(slot_of(entry), entry.row);
    }
    if (options_.direction == Direction::pull || work >= Frontier::serial_work ||
        !is_worth_while(work)) {
      channel.read.spread(side.slots);
      return false;
    }
    const auto& program = std::get<K>(programs_);
    const auto messages = scattered_messages<K>();
    // Where any message will do, a mark tells whether a row has one, else it has to be found.
    constexpr bool first_decides = FirstDecidesProgram<Phase<K>>;
    const auto add = [&](Row row, const auto& message_of) {
      try {
        if constexpr (WantingProgram<Phase<K>>) {
          if (!program.wants(values_[row].value)) return;
        }
        if constexpr (first_decides) {
          if (frontier_.mark_unshared(row)) small_.add_new(row, message_of());
        } else {
          small_.add(row, message_of());
        }
      } catch (...) {
        note_failure(summary_.failure, row);
      }
    };
    small_.begin(work);
    for (const auto& entry : entries) {
      const VertexId source = vertices().id(entry.row);
      side.for_each_reader(slot_of(entry), entry.row, [&](Row row, const E& value) {
        add(row, [&] {
          return messages.along({source, vertices().id(row), value}, entry.value.value);
        });
      });
    }
    for_each_sent_row([&](Row row, const auto& sent) {
      for (const auto& message : sent) add(row, [&] { return message.value; });
    });
    const auto visit = [&](Row row) {
      if constexpr (first_decides) {
        if (frontier_.mark_unshared(row)) small_.add_new(row, Combiner::identity());
      } else {
        small_.add(row, Combiner::identity());
      }
    };
    for (const Row row : unhalted_rows()) visit(row);
    for_each_sent_row([&](Row row, auto) { visit(row); });  // also with messages not wanted
    if constexpr (first_decides) {
      for (const auto& letter : small_.letters()) frontier_.unmark(letter.row);
    }
    if constexpr (Tags::size > 0) small_.sort();  // shards contribute one by one
    return true;
  }

  /// Cuts a list of slots into pieces of about as many readers each; returns how many there are.
  std::uint64_t cut_by_readers(const Side<E>& side, const std::vector<Slot>& slots) {
    constexpr std::uint64_t readers_per_piece = 1 << 13;
    std::uint64_t total = 0, in_piece = 0;
    slot_cuts_.assign(1, 0);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::uint64_t readers = side.num_readers(slots[i]);
      total += readers;
      in_piece += readers;
      if (in_piece < readers_per_piece) continue;
      slot_cuts_.push_back(i + 1);
      in_piece = 0;
    }
    if (slot_cuts_.back() != slots.size()) slot_cuts_.push_back(slots.size());
    return total;
  }

  /// Calls gather(slot, visited) for every slot of a list cut before, on this rank's threads where
  /// that pays; gather appends the rows it marked to `visited`.
  template <class F>
  void for_each_piece(const std::vector<Slot>& slots, std::uint64_t work, const F& gather) {
    const std::size_t num_pieces = slot_cuts_.size() - 1;
    if (piece_rows_.size() < num_pieces) piece_rows_.resize(num_pieces);
    const auto run_piece = [&](std::size_t piece) {
      std::vector<Row>& visited = piece_rows_[piece];
      visited.clear();
      for (std::size_t i = slot_cuts_[piece]; i < slot_cuts_[piece + 1]; ++i)
        gather(slots[i], visited);
    };
    if (work < Frontier::serial_work) {
      for (std::size_t piece = 0; piece < num_pieces; ++piece) run_piece(piece);
    } else {
      context_.parallel_for(num_pieces, run_piece);
    }
    for (std::size_t piece = 0; piece < num_pieces; ++piece)
      frontier_.visit_marked(piece_rows_[piece]);
  }

  void visit_readers(const Side<E>& side, const std::vector<Slot>& slots, std::uint64_t work) {
    for_each_piece(slots, work, [&](Slot slot, std::vector<Row>& visited) {
      side.for_each_reader(slot, [&](Row row, const E&) {
        if (frontier_.mark(row)) visited.push_back(row);
      });
    });
  }

  template <std::size_t K>
  void push(const std::vector<Slot>& slots, std::uint64_t work) {
    using P = Phase<K>;
    // Another phase than the one that scattered may wake on any message.
    constexpr bool marks_each = WakesOnAnyMessageProgram<First> ||
                                (WakesOnAnyMessageProgram<Rest> || ...) || !Pushed::is_concurrent;
    constexpr bool first_decides = FirstDecidesProgram<P> && !marks_each;
    const auto messages = scattered_messages<K>();
    const P& program = std::get<K>(programs_);
    const Side<E>& side = *std::get<K>(channels_).side;
    pushed_.begin(vertices().size());
    std::mutex failing;
    const auto gather = [&](Slot slot, std::vector<Row>& visited) {
      side.for_each_reader(slot, [&](Row row, const E& value) {
        try {
          if constexpr (first_decides) {
            if (frontier_.is_marked(row)) return;
          }
          if constexpr (WantingProgram<P>) {
            if (!program.wants(values_[row].value)) return;
          }
          const Message message = messages.over(slot, vertices().id(row), value);
          if constexpr (marks_each) {
            pushed_.add(row, message);
            if (frontier_.mark(row)) visited.push_back(row);
          } else if constexpr (first_decides) {
            if (!frontier_.mark_unordered(row)) return;
            pushed_.put_concurrently(row, message);
            visited.push_back(row);
          } else {
            if (pushed_.add_concurrently(row, message) && frontier_.mark(row))
              visited.push_back(row);
          }
        } catch (...) {
          const std::lock_guard lock(failing);
          note_failure(summary_.failure, row);
        }
      });
    };
    for_each_piece(slots, marks_each ? 0 : work, gather);
  }

  /// Sticky: visits the rows that are awake or read a value that changed in the last superstep.
  template <std::size_t K>
  void visit_readers_of_fresh() {
    auto& channel = std::get<K>(channels_);
    Side<E>& side = *channel.side;
    if (fresh_.size() * 16 < side.slots.size()) {
      side.make_transpose(context_);
      const std::uint64_t work = cut_by_readers(side, fresh_);
      if (frontier_.is_sparse_better(work, side.num_arcs())) {
        visit_readers(side, fresh_, work);
        return finish_frontier(work);
      }
    }
    // Most rows find a fresh value among the first they read.
    for_each_own_shard([&](ShardIndex shard) {
      for (Row row = vertices().first_row(shard); row < vertices().first_row(shard + 1); ++row) {
        bool is_visited = halted_[row] == Mark::unset;
        for (std::uint64_t i = side.first(row); i < side.last(row) && !is_visited; ++i)
          is_visited = is_fresh_[side.neighbours[i]] != 0;
        if (is_visited) frontier_.mark(row);
      }
    });
    for_each_sent_row([&](Row row, auto) { frontier_.mark(row); });
    frontier_.visit_all_marked(side.num_arcs());
  }

  template <std::size_t K>
  auto scattered_messages() const {
    const auto& channel = std::get<K>(channels_);
    return ScatteredMessages<Phase<K>, E>(std::get<K>(programs_), *channel.side, channel.read,
                                          vertices());
  }

  /// The folded inbox of a row when combining.
  template <class Scattered>
  [[gnu::always_inline]] inline Message folded(const Scattered* messages, Row row) {
    const typename First::Combiner combiner{};
    Message result = First::Combiner::identity();
    if (delivered_) return (*delivered_)[row].messages.front().value;
    if (pushed_.has_any()) {
      result = pushed_.take(row);
    } else if (messages != nullptr) {
      result = messages->folded(combiner, row);
    }
    if (sent_.empty()) return result;
    const auto sent = sent_.of(row);
    return sent.empty() ? result : combiner(result, sent.front().value);
  }

  static bool is_identity(const Message& message) {
    static_assert(std::equality_comparable<Message>,
                  "weir: the messages of a combiner need an operator==");
    return is_same(message, First::Combiner::identity());
  }

  template <class Scattered>
  void deliver_row(const Scattered& messages, Row row, DeliveredInbox& inbox) {
    if constexpr (is_combining) {
      inbox.has_any = messages.has_any(row) || !sent_.of(row).empty();
      inbox.messages.push_back({folded(&messages, row)});
    } else {
      for (const Message& m :
           MessageView<typename Scattered::Program, E>(&messages, row, sent_.of(row)))
        inbox.messages.push_back({m});
    }
  }

  /// Sticky: what changed in any bit becomes readable and wakes its readers.
  template <class Published>
  void keep_changed(PublishedBuffer<Published>& read, PublishedBuffer<Published>& write) {
    for (const Slot slot : fresh_) is_fresh_[slot] = 0;
    fresh_.clear();
    is_fresh_.resize(read.size());
    std::vector<Slot> first;
    for (const Slot slot : write.listed()) {
      if (!read.has(slot)) {
        first.push_back(slot);
      } else if (is_same(read[slot], write[slot])) {
        continue;
      }
      read.put(slot, write[slot]);
      fresh_.push_back(slot);
      is_fresh_[slot] = 1;
    }
    read.note(std::span<const Slot>(first));
    write.clear(context_);
  }

  template <class T>
  static bool is_same(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::memcmp(&a, &b, sizeof(T)) == 0;
    } else if constexpr (std::equality_comparable<T>) {
      return a == b;
    } else {
      return false;
    }
  }

  /// Computes the visited rows of the i-th of the visited shards.
  void compute_shard(std::size_t i, RowWatch* watch) {
    with_phase(phase_, [&](auto current) {
      if (!read_phase_) return compute_shard<num_phases, current>(i, watch);
      with_phase(*read_phase_, [&](auto sender) { compute_shard<sender, current>(i, watch); });
    });
  }
  template <std::size_t S, std::size_t C>
  void compute_shard(std::size_t i, RowWatch* watch) {
    frontier_.visit_shard(i, watch, [&](std::size_t s, const auto& rows) {
      compute_rows<S, C>(work_[s], rows);
      if (after_shard_) after_shard_(s);
    });
  }

  void finish_run() {
    pushed_.end();
    gather_work();
  }

  /// Computes the rows of a small inbox, in one go where shards need not be told apart.
  template <std::size_t C>
  void run_small() {
    const auto letters = small_.letters();
    const ShardIndex first_shard = vertices().shards().begin;
    std::size_t shard = 0;
    for (std::size_t begin = 0, end; begin < letters.size(); begin = end) {
      if constexpr (Tags::size == 0) {
        end = letters.size();
      } else {
        const auto end_row = [&] {
          return vertices().first_row(first_shard + static_cast<ShardIndex>(shard) + 1);
        };
        while (end_row() <= letters[begin].row) ++shard;
        for (end = begin; end < letters.size() && letters[end].row < end_row();) ++end;
      }
      auto letter = letters.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto rows = [&](const auto& f) {
        for (std::size_t i = begin; i < end; ++i, ++letter) f(letter->row);
      };
      compute_each<C>(work_[shard], rows, [&](Row, const auto& compute) {
        const bool any = !is_identity(letter->message.value);
        compute(Inbox<Message>(letter->message.value, !any), any);
      });
      touched_.push_back(shard);
    }
    small_.end();
  }

  /// Where the rows of one shard are computed: copies of what they share, so that it stays in
  /// registers across what a row stores.
  template <std::size_t C>
  struct Desk {
    using Buffer = PublishedBuffer<PublishedOf<Phase<C>>>;

    explicit Desk(CpuExecutor& executor, Work& of_shard)
        : work(of_shard),
          view(executor.view_),
          program(std::get<C>(executor.programs_)),
          values(executor.values_.data()),
          halted(executor.halted_.data()),
          slots(std::get<C>(executor.channels_).side->slots.of_rows.data()),
          side(*std::get<C>(executor.channels_).side),
          buffer(std::get<C>(executor.channels_).write),
          out(buffer.writer()),
          is_listed(executor.frontier_.is_listed()),
          is_apart(buffer.is_apart()),
          is_directed(executor.graph_.is_directed()) {}
    ~Desk() {
      work.num_computed += num_computed;
      work.num_messages += num_messages;
      work.num_unhalted += num_unhalted;
      work.num_scattered += num_scattered;
    }
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    Work& work;
    const StepView<First, E> view;
    const Phase<C>& program;
    detail::Cell<Value>* const values;
    Mark* const halted;
    const Slot* const slots;
    const Side<E>& side;
    Buffer& buffer;
    const typename Buffer::Writer out;
    const bool is_listed, is_apart, is_directed;
    std::uint64_t num_computed = 0;
    std::uint64_t num_messages = 0;
    std::uint64_t num_unhalted = 0;
    std::uint64_t num_scattered = 0;
  };

  /// Programs of plain numbers have a small row loop, all of which is inlined; of others it would
  /// take minutes to compile.
  static constexpr bool is_light = std::is_arithmetic_v<Value> && std::is_arithmetic_v<Message>;

  template <std::size_t S, std::size_t C, class Rows>
  void compute_rows(Work& work, const Rows& rows) {
    if constexpr (S == num_phases) {
      compute_each<C>(work, rows, [&](Row row, const auto& compute) { read_none(row, compute); });
    } else {
      const auto messages = scattered_messages<S>();
      if constexpr (is_combining) {
        if (!delivered_ && !pushed_.has_any() && sent_.empty() && !messages.is_empty() &&
            messages.has_one_list())
          return compute_each_lightly<S, C>(work, rows, messages);
      }
      compute_each<C>(work, rows, [&](Row row, const auto& compute) {
        read_any<S, C>(messages, row, compute);
      });
    }
  }

  /// The usual way of a dense superstep: every message comes by one list.
  template <std::size_t S, std::size_t C, class Rows, class Scattered>
  void compute_each_lightly(Work& work, const Rows& rows, const Scattered& messages) {
    const auto read =
        [ this, messages ](Row row, const auto& compute) __attribute__((always_inline)) {
      if constexpr (WantingProgram<Phase<S>>) {
        if (!std::get<S>(programs_).wants(values_[row].value))
          return compute(Inbox<Message>(Combiner::identity(), true), false);
      }
      const Message message = messages.folded_list(Combiner{}, row);
      bool any = !is_identity(message);
      if constexpr (WakesOnAnyMessageProgram<Phase<C>>) any = any || messages.has_any(row);
      compute(Inbox<Message>(message, !any), any);
    };
    if constexpr (is_light) {
      compute_each_flat<C>(work, rows, read);
    } else {
      compute_each<C>(work, rows, read);
    }
  }

  template <std::size_t C, class Rows, class Read>
  [[gnu::flatten]] void compute_each_flat(Work& work, const Rows& rows, const Read& read) {
    compute_each<C>(work, rows, Read(read));
  }

  /// Computes rows: read(row, compute) calls compute(inbox, has_message).
  template <std::size_t C, class Rows, class Read>
  void compute_each(Work& work, const Rows& rows, const Read& read) {
    Desk<C> desk(*this, work);
    rows([&](Row row) __attribute__((always_inline)) {
      // After a failure only smaller vertices matter: the smallest that fails is told.
      if (desk.work.failure && desk.work.failure->vertex < vertices().id(row)) return;
      try {
        read(
            row, [&](const auto& inbox, bool has_message) __attribute__((always_inline)) {
              compute_row(desk, row, inbox, has_message);
            });
      } catch (...) {
        note_failure(desk.work.failure, row);
      }
    });
    work.sends.end();
  }

  /// Keeps the exception being handled unless one at a smaller vertex is known.
  [[gnu::noinline, gnu::cold]] void note_failure(std::optional<Failure>& kept, Row row) {
    Failure failure = current_failure(vertices().id(row), context_.rank());
    if (!kept || failure < *kept) kept = std::move(failure);
  }

  /// Where nothing was scattered in the last superstep.
  template <class Compute>
  void read_none(Row row, const Compute& compute) {
    if constexpr (is_combining) {
      const Message message = folded<ScatteredMessages<First, E>>(nullptr, row);
      const bool any = !is_identity(message);
      compute(Inbox<Message>(message, !any), any);
    } else if (delivered_) {
      const MessageView<First, E> inbox(nullptr, row, (*delivered_)[row].messages);
      compute(inbox, !inbox.empty());
    } else {
      compute(std::span<const Message>(), false);
    }
  }

  /// Messages that were scattered, sent, pushed, or delivered before a change of the topology.
  template <std::size_t S, std::size_t C, class Scattered, class Compute>
  void read_any(const Scattered& messages, Row row, const Compute& compute) {
    if constexpr (is_combining) {
      Message message = First::Combiner::identity();
      bool any = false;
      bool is_wanted = true;
      if constexpr (WantingProgram<Phase<S>>)
        is_wanted = delivered_ || std::get<S>(programs_).wants(values_[row].value);
      if (is_wanted) {
        message = folded(&messages, row);
        if constexpr (WakesOnAnyMessageProgram<Phase<C>>)
          any = delivered_ ? (*delivered_)[row].has_any
                           : messages.has_any(row) || !sent_.of(row).empty();
      }
      any = any || (is_wanted && !is_identity(message));
      compute(Inbox<Message>(message, !any), any);
    } else if (delivered_) {
      const MessageView<First, E> inbox(nullptr, row, (*delivered_)[row].messages);
      compute(inbox, !inbox.empty());
    } else {
      const MessageView<Phase<S>, E> inbox(&messages, row, sent_.of(row));
      // A sticky row is visited because something it reads changed, or because it is awake.
      compute(inbox, !inbox.empty());
    }
  }

  /// Computes a row if it is awake or has a message, and publishes what it scatters.
  template <std::size_t C>
  [[gnu::always_inline]] inline void compute_row(Desk<C>& desk, Row row, const auto& inbox,
                                                 bool has_message) {
    bool has_scattered = false;
    if (desk.halted[row] == Mark::unset || has_message) {
      CpuHandle<First, E> handle(desk.view, desk.work, row, desk.values[row].value);
      desk.program.compute(handle, inbox);
      ++desk.num_computed;
      desk.halted[row] = handle.is_halted() ? Mark::set : Mark::unset;
      if (!handle.is_halted()) {
        ++desk.num_unhalted;
        if (desk.is_listed) desk.work.unhalted.push_back(row);
      }
      has_scattered = handle.has_scattered();
    }
    if (has_scattered) return publish(desk, row);
    if (desk.out.is_stale) desk.buffer.drop(desk.slots[row]);
  }

  template <std::size_t C>
  [[gnu::always_inline]] inline void publish(Desk<C>& desk, Row row) {
    using P = Phase<C>;
    const auto put = [&](auto&& published) __attribute__((always_inline)) {
      detail::refuse_nan<P>(published);
      if constexpr (may_run_small) {
        if (desk.is_apart) return desk.buffer.append(row, published);
      }
      const Slot slot = desk.slots[row];
      desk.out.put(slot, std::forward<decltype(published)>(published));
      if (desk.is_listed) desk.work.scattered.push_back(slot);
    };
    const Value& value = desk.values[row].value;
    if constexpr (requires { desk.program.publish(value, info(row)); }) {
      put(desk.program.publish(value, info(row)));
    } else {
      put(value);
    }
    ++desk.num_scattered;
    desk.num_messages += detail::num_messages<P>(desk.side, vertices(), row, desk.is_directed);
  }

  /// Shard results to rank results, in shard order.
  void gather_work() {
    const bool is_listed = frontier_.is_listed();
    unhalted_.clear();
    for (const std::size_t s : touched_) {
      Work& work = work_[s];
      summary_.num_computed += work.num_computed;
      summary_.num_messages += work.num_messages;
      summary_.num_scattered += work.num_scattered;
      summary_.num_unhalted += work.num_unhalted;
      unhalted_.insert(unhalted_.end(), work.unhalted.begin(), work.unhalted.end());
      summary_.num_sent += work.sends.size();
      if (work.failure && (!summary_.failure || *work.failure < *summary_.failure))
        summary_.failure = work.failure;
      if (is_listed) {
        with_phase(phase_, [&](auto k) {
          std::get<k>(channels_).write.note(std::span<const Slot>(work.scattered));
        });
      }
      if constexpr (MutatingProgram<First>) gather_mutations(work.mutations);
    }
    if (!is_listed) {
      with_phase(phase_,
                 [&](auto k) { std::get<k>(channels_).write.note(summary_.num_scattered); });
    }
    num_unhalted_ = summary_.num_unhalted;
    num_arcs_out_ = summary_.num_messages - summary_.num_sent;
    summary_.num_mutations = mutations_.size();
    if constexpr (Tags::size > 0) {
      // The tree runs over all shards; those not visited contribute the identity.
      const ShardRange own = vertices().shards();
      std::vector<typename Tags::Values> subtrees;
      for_each_subtree(
          graph_.shards().num_shards(), own.begin, own.end, Tags::combine,
          [&](std::uint64_t s) { return work_[s - own.begin].aggregates; },
          [&](const typename Tags::Values& values) { subtrees.push_back(values); });
      encode(std::span<const typename Tags::Values>(subtrees), summary_.aggregates);
    }
  }

  void gather_mutations(Mutations<Value, E>& from) {
    const auto append = [](auto& to, auto& source) {
      std::move(source.begin(), source.end(), std::back_inserter(to));
    };
    append(mutations_.topology.removed_edges, from.topology.removed_edges);
    append(mutations_.topology.removed_vertices, from.topology.removed_vertices);
    append(mutations_.topology.added_edges, from.topology.added_edges);
    append(mutations_.added_vertices, from.added_vertices);
  }

  /// Brings added vertices to their owners and settles conflicts. Collective.
  std::map<VertexId, Value> gather_added_vertices() {
    const auto num_ranks = static_cast<std::size_t>(context_.size());
    std::vector<std::vector<VertexId>> ids(num_ranks);
    std::vector<std::vector<detail::Wire<Value>>> values(num_ranks);
    for (auto& [id, value] : mutations_.added_vertices) {
      const auto owner = static_cast<std::size_t>(graph_.shards().owner_of(id));
      ids[owner].push_back(id);
      values[owner].push_back(std::move(value));
    }
    const auto ids_here = weir::exchange(context_, std::move(ids));
    const auto values_here = weir::exchange(context_, std::move(values));
    std::map<VertexId, Value> added;
    context_.agree([&] {
      for (std::size_t r = 0; r < num_ranks; ++r) {
        for (std::size_t i = 0; i < ids_here[r].size(); ++i) {
          const VertexId id = ids_here[r][i];
          const Value value = static_cast<Value>(values_here[r][i]);
          const auto [at, is_new] = added.emplace(id, value);
          if (is_new) continue;
          if constexpr (ResolvingProgram<First>) {
            at->second = std::get<0>(programs_).resolve(id, at->second, value);
          } else {
            WEIR_EXPECT(at->second == value, program,
                        "vertex " + std::to_string(id) +
                            " was added twice with different values; the program has no resolve()");
          }
        }
      }
    });
    return added;
  }

  G& graph_;
  Context& context_;
  const std::tuple<First, Rest...>& programs_;
  const RunOptions& options_;
  std::tuple<Channel<First>, Channel<Rest>...> channels_;
  PlainVector<detail::Cell<Value>> values_;  // by row
  LargeVector<Mark> halted_;                 // by row
  Frontier frontier_;
  std::vector<Work> work_;                        // by own shard
  std::vector<std::size_t> touched_;              // own shards visited in this superstep
  std::function<void(std::size_t)> after_shard_;  // by the thread that computed it; may be empty
  std::uint64_t num_arcs_out_ = 0;                // along which the last superstep scattered
  std::uint64_t num_unhalted_ = 0;                // own rows that stay awake
  std::vector<Row> unhalted_;                     // they, unless the last superstep kept no list
  std::vector<Slot> fresh_;                   // sticky: slots that changed in the last superstep
  std::vector<std::uint8_t> is_fresh_;        // the same by slot
  std::vector<std::size_t> slot_cuts_;        // pieces of a list of slots
  std::vector<std::vector<Row>> piece_rows_;  // rows visited because of them
  Pushed pushed_;
  SparseInbox<Combiner> small_;
  SendBins send_bins_;
  SendStreams<Message> send_streams_;
  SentInbox<Message, std::conditional_t<is_combining, Combiner, void>> sent_;
  Mutations<Value, E> mutations_;
  std::optional<Delivered> delivered_;  // after a mutation: the inboxes, folded before it
  StepView<First, E> view_;
  Summary summary_;
  std::size_t phase_ = 0;
  std::optional<std::size_t> read_phase_;  // the phase whose messages are read
};

}  // namespace weir
