// SPDX-License-Identifier: Apache-2.0
// Shards of one rank computed on another: what travels there and back.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/graph/id_map.hpp>
#include <weir/engine/graph/radix_sort.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/superstep/cpu_executor.hpp>
#include <weir/engine/superstep/shard_race.hpp>
#include <weir/engine/superstep/state.hpp>

namespace weir {

/// The shards of an executor as tasks of a race; none for executors whose shards stay where they
/// are.
template <class Executor>
class ShardReplicas {
 public:
  static constexpr bool is_possible = false;
};

/// A replica of a shard is a small executor: the shard's rows and lists as they are at the owner,
/// and, as ghosts, the vertices they read. It is kept, so that from the second time on only the
/// state of the rows and what the ghosts published are sent.
template <class G, class First, class... Rest>
class ShardReplicas<CpuExecutor<G, First, Rest...>> final : public ShardTasks {
 public:
  using Executor = CpuExecutor<G, First, Rest...>;
  using E = typename Executor::E;
  using Value = typename First::Value;
  using Message = typename First::Message;
  using Tags = AggregatorsOf<First>;
  static constexpr bool is_possible =
      SavedState<Executor>::is_possible && (Tags::size == 0 || Transferable<typename Tags::Values>);

  explicit ShardReplicas(Executor& executor)
      : executor_(executor), replica_options_(executor.options_) {
    replica_options_.direction = Direction::pull;
  }

  /// Before `size` is asked. A superstep that lists its rows or whose messages are folded already
  /// is over too soon to be shared: then there are no tasks, and nothing to finish.
  void begin(bool wakes_all) {
    may_continue_ = !keeps_published && !wakes_all && executor_.sent_.empty() &&
                    executor_.read_phase_.has_value();
    has_tasks_ = !executor_.small_.is_open() && !executor_.frontier_.is_listed() &&
                 !executor_.pushed_.has_any() && !executor_.delivered_;
    if (has_tasks_) executor_.touched_ = executor_.frontier_.visited_shards();
  }
  void finish() {
    if (has_tasks_) executor_.finish_run();
  }
  bool has_tasks() const { return has_tasks_; }

  std::size_t size() const override {
    return has_tasks_ ? executor_.frontier_.visited_shards().size() : 0;
  }
  std::size_t num_rows(std::size_t place) const override {
    const auto [first, last] = rows_of(shard_at(place));
    return last - first;
  }
  void compute(std::size_t place, RowWatch& watch) override {
    executor_.compute_shard(place, &watch);
  }

  Bytes state(std::size_t place) override {
    Bytes bytes = marks_of(place);
    SavedState<Executor>(executor_).save(shard_at(place), bytes);
    return bytes;
  }

  bool is_known(std::size_t place, Rank helper) const override {
    return shared_.contains({shard_at(place), helper});
  }
  bool is_known(std::size_t place) const override {
    const auto at = shared_.lower_bound({shard_at(place), 0});
    return at != shared_.end() && at->first.first == shard_at(place);
  }

  Bytes input(std::size_t place, const Bytes* begun, Rank helper) override {
    const ShardIndex shard = shard_at(place);
    const std::lock_guard lock(installing_);
    const auto known = shared_.try_emplace({shard, helper});
    Header header;
    header.shard = shard;
    header.has_table = known_tables_.insert(helper).second ? 1 : 0;
    header.has_lists = known.second ? 1 : 0;
    header.reads = executor_.read_phase_ ? static_cast<std::uint32_t>(*executor_.read_phase_)
                                         : std::uint32_t{nothing};
    const std::size_t num_marks = executor_.frontier_.marked_rows(place).size();
    header.has_marks = num_marks == 0 ? 0 : 1;
    const Known& remembered = known.first->second;
    header.has_wanted = remembered.wanted ? 1 : 0;
    header.has_state = may_continue_ && remembered.holds == executor_.view_.superstep ? 0 : 1;
    Bytes state;
    if (begun != nullptr) {
      state = *begun;
    } else {
      state = header.has_state != 0 ? this->state(place) : marks_of(place);
    }
    if (header.has_state == 0) state.resize(num_marks);
    header.state_bytes = state.size() - num_marks;
    Bytes out;
    append_plain(out, header);
    if (header.has_table != 0) {
      for (const auto& [side, edges] : places(executor_.graph_))
        encode(std::span<const VertexId>(executor_.graph_.side_for(edges).slots.ids), out);
    }
    if (header.has_lists != 0) append_lists(shard, out);
    out.insert(out.end(), state.begin(), state.end());
    if (remembered.wanted) append_wanted(*remembered.wanted, out);
    return out;
  }

  Bytes answer(std::size_t place, Rank helper, std::span<const std::byte> question) override {
    BytesView in(question);
    SlotLists& wanted = shared_.at({shard_at(place), helper}).wanted.emplace();
    for (const auto& [side, edges] : places(executor_.graph_)) decode(in, wanted[side]);
    Bytes out;
    append_wanted(wanted, out);
    return out;
  }

  Bytes result(std::size_t place) override {
    return result_of(executor_, executor_.touched_[place], shard_at(place));
  }

  void install(std::size_t place, Rank helper, std::span<const std::byte> result) override {
    executor_.frontier_.skip_shard(place);
    BytesView in(result);
    auto& work = executor_.work_[executor_.touched_[place]];
    work.clear();
    take_work(in, work);
    const auto [first, last] = rows_of(shard_at(place));
    const auto flags = in.take_bytes(last - first);
    detail::take_values<Value>(
        in, last - first, [&, row = first](std::size_t i, detail::Wire<Value> value) {
          executor_.values_[row + i].value = static_cast<Value>(std::move(value));
        });
    Executor::with_phase(executor_.phase_, [&](auto k) {
      auto& channel = std::get<k>(executor_.channels_);
      const Slot* const slots = channel.side->slots.of_rows.data();
      const auto writer = channel.write.writer();
      std::vector<Row> published;
      published.reserve(work.num_scattered);
      for (Row row = first; row < last; ++row) {
        const std::byte of_row = flags[row - first];
        executor_.halted_[row] =
            detail::has_flag(of_row, detail::is_halted) ? Mark::set : Mark::unset;
        if (detail::has_flag(of_row, detail::has_value)) {
          published.push_back(row);
        } else if (writer.is_stale) {
          channel.write.drop(slots[row]);
        }
      }
      using Published = PublishedOf<Phase<k>>;
      detail::take_values<Published>(
          in, published.size(), [&](std::size_t i, detail::Wire<Published> value) {
            writer.put(slots[published[i]], static_cast<Published>(std::move(value)));
          });
    });
    const std::lock_guard lock(installing_);
    shared_.at({shard_at(place), helper}).holds = executor_.view_.superstep + 1;
  }

  void refuse(std::size_t place, Rank helper, std::span<const std::byte> other) override {
    if (!says_all) return;
    const auto [first, last] = rows_of(shard_at(place));
    const Row row = first_difference(result(place), other, first, last);
    Failure failure;
    failure.code = ErrorCode::internal;
    failure.vertex = executor_.vertices().id(row);
    failure.rank = executor_.context_.rank();
    failure.text = "rank " + std::to_string(failure.rank) + " and rank " + std::to_string(helper) +
                   " computed shard " + std::to_string(shard_at(place)) +
                   " to different bits; one of them computes or remembers wrongly, or the program "
                   "is not deterministic";
    executor_.work_[executor_.touched_[place]].failure = std::move(failure);
  }

  AcceptedShard& accept(Rank owner, std::span<const std::byte> input) override {
    BytesView in(input);
    const auto header = in.take<Header>();
    if (header.has_table != 0) take_table(owner, in);
    auto& kept = replicas_[{owner, header.shard}];
    if (header.has_lists != 0) {
      kept = take_lists(tables_[owner], in);
    } else if (!kept) {
      const auto aside = lists_aside_.extract({owner, header.shard});
      BytesView lists(aside.mapped());
      kept = take_lists(tables_[owner], lists);
    }
    Replica& replica = *kept;
    replica.asks = header.has_wanted == 0;
    load(replica, header, in);
    return replica;
  }

  void set_aside(Rank owner, std::span<const std::byte> input) override {
    BytesView in(input);
    const auto header = in.take<Header>();
    if (header.has_table != 0) take_table(owner, in);
    if (header.has_lists == 0) return;
    lists_aside_[{owner, header.shard}].assign(in.rest().begin(), in.rest().end());
  }

 private:
  static constexpr std::uint32_t nothing = 0xffffffff;
  /// What a sticky program published stays readable: a helper that was left out once lacks it.
  static constexpr bool keeps_published = StickyProgram<First> || (StickyProgram<Rest> || ...);
  static constexpr Slot no_slot = 0xffffffff;
  static constexpr Slot not_asked = 0xfffffffe;
  template <std::size_t K>
  using Phase = std::tuple_element_t<K, std::tuple<First, Rest...>>;
  /// Whether every byte of a value that travels says something of it: of others there are no two to
  /// be compared.
  template <class T>
  static constexpr bool is_plain =
      !Bitwise<detail::Wire<T>> || std::has_unique_object_representations_v<T> ||
      std::is_same_v<T, float> || std::is_same_v<T, double>;
  template <class... Ts>
  static constexpr bool are_plain(const std::tuple<Ts...>*) {
    return sizeof...(Ts) == 0 || !Bitwise<std::tuple<Ts...>> ||
           ((is_plain<Ts> && ...) && (sizeof(Ts) + ... + 0) == sizeof(std::tuple<Ts...>));
  }
  static constexpr bool says_all = is_plain<Value> && is_plain<Message> &&
                                   is_plain<PublishedOf<First>> &&
                                   (is_plain<PublishedOf<Rest>> && ...) &&
                                   are_plain(static_cast<const typename Tags::Values*>(nullptr));
  using Sides = std::array<std::unique_ptr<Side<E>>, 3>;

  struct Header {
    ShardIndex shard = 0;
    std::uint32_t reads = nothing;  ///< phase that published what is read
    std::uint8_t has_table = 0;     ///< the ids of all slots of the owner
    std::uint8_t has_lists = 0;
    std::uint8_t has_marks = 0;
    std::uint8_t has_wanted = 0;  ///< else the helper asks
    std::uint8_t has_state = 0;   ///< else the helper goes on from what it computed last
    std::uint64_t state_bytes = 0;
  };

  /// Slots by place of the side.
  using SlotLists = std::array<std::vector<Slot>, 3>;
  /// What the owner remembers of a helper that knows a shard.
  struct Known {
    std::optional<SlotLists> wanted{};  ///< own slots whose values it lacks, once it asked
    Superstep holds = -1;  ///< the superstep of which it has the state, for it computed the last
  };
  /// The slots of an owner: whose they are, and which they are here if this rank has them.
  struct OwnersSlots {
    std::vector<VertexId> ids;
    std::vector<Slot> slots_here;  ///< no_slot, or not_asked yet
  };
  using Table = std::array<OwnersSlots, 3>;

  struct Replica final : AcceptedShard {
    Replica(Context& context, ShardMap shards, Vertices vertices, Sides sides, bool is_directed,
            std::uint64_t num_vertices, const std::tuple<First, Rest...>& programs,
            const RunOptions& options)
        : graph(context, std::move(shards), std::move(vertices), std::move(sides), is_directed,
                num_vertices),
          executor(graph, programs, options) {}

    Bytes question() const override {
      Bytes bytes;
      if (!asks) return bytes;
      for (const auto& [side, edges] : places(graph))
        encode(std::span<const Slot>(lacking_at_owner[side]), bytes);
      return bytes;
    }
    void take_answer(std::span<const std::byte> answer) override {
      BytesView in(answer);
      take_lacking(in);
    }
    void take_lacking(BytesView& in) {
      if (!executor.read_phase_) return;
      Executor::with_phase(*executor.read_phase_, [&](auto k) {
        take_published(in, lacking[place_of<k>(graph)], std::get<k>(executor.channels_).read);
      });
    }
    std::optional<Bytes> compute(RowWatch& watch) override {
      executor.compute_shard(0, &watch);
      Executor::with_phase(executor.phase_, [&](auto k) {  // so that it will be emptied
        std::get<k>(executor.channels_).write.note(executor.work_.front().num_scattered);
      });
      if (executor.work_.front().failure) return std::nullopt;
      return result_of(executor, 0, 0);
    }

    std::remove_const_t<G> graph;
    Executor executor;
    SlotLists known;       ///< ghosts that this rank reads itself,
    SlotLists known_here;  ///< and their slots in its own lists
    SlotLists lacking;     ///< ghosts whose values the owner sends,
    SlotLists lacking_at_owner;
    bool asks = false;
  };

  ShardIndex shard_at(std::size_t place) const {
    return executor_.vertices().shards().begin +
           static_cast<ShardIndex>(executor_.frontier_.visited_shards()[place]);
  }
  std::pair<Row, Row> rows_of(ShardIndex shard) const {
    return {executor_.vertices().first_row(shard), executor_.vertices().first_row(shard + 1)};
  }

  /// Which of the sides of a graph has the lists of such edges.
  static std::size_t place_of(const G& graph, Edges edges) {
    if (!graph.is_directed() || edges == Edges::out) return 0;
    return edges == Edges::in ? 1 : 2;
  }
  template <std::size_t K>
  static std::size_t place_of(const G& graph) {
    return place_of(graph, along_edges_of<Phase<K>>());
  }
  /// The sides that the phases read, and one for arcs().
  static std::map<std::size_t, Edges> places(const G& graph) {
    std::map<std::size_t, Edges> all;
    Executor::for_each_phase([&](auto k) {
      constexpr Edges edges = along_edges_of<Phase<k>>();
      all.emplace(place_of(graph, edges), edges);
    });
    if constexpr (ArcReadingProgram<First>) all.emplace(place_of(graph, Edges::in), Edges::in);
    return all;
  }

  /// Which rows of a shard are visited, one byte each; none where all are.
  Bytes marks_of(std::size_t place) const {
    const auto marks = std::as_bytes(executor_.frontier_.marked_rows(place));
    return Bytes(marks.begin(), marks.end());
  }

  // Lists.

  void append_lists(ShardIndex shard, Bytes& out) const {
    const auto [first, last] = rows_of(shard);
    const Vertices& vertices = executor_.vertices();
    std::vector<VertexRecord> records;
    records.reserve(last - first);
    for (Row row = first; row < last; ++row) {
      records.push_back({vertices.id(row), vertices.in_degree(row), vertices.out_degree(row),
                         vertices.heat(row)});
    }
    encode(std::span<const VertexRecord>(records), out);
    for (const auto& [place, edges] : places(executor_.graph_))
      append_side(executor_.graph_.side_for(edges), first, last, out);
  }

  /// The lists as they are: to number the slots anew is left to the helper, who has the time.
  static void append_side(const Side<E>& side, Row first, Row last, Bytes& out) {
    const std::uint64_t begin = side.first(first), end = side.first(last);
    append_plain(out, side.is_symmetric);
    append_plain(out, begin);
    const auto some = [](const auto& array, std::size_t from, std::size_t to) {
      return std::span(array.data() + from, to - from);
    };
    encode(some(side.slots.of_rows, first, last), out);
    encode(some(side.offsets, first, last + std::size_t{1}), out);
    encode(side.splits.empty() ? std::span<const std::uint64_t>() : some(side.splits, first, last),
           out);
    encode(some(side.neighbours, begin, end), out);
    if constexpr (!std::is_empty_v<E>) {
      append_plain(out, side.values.form());
      detail::append_values<E>(
          end - begin, [&](std::size_t i) { return side.values[begin + i]; }, out);
    }
  }

  /// Lists whose slots are those of the rows and their neighbours, in the order of the owner.
  /// `at_owner`: what the slots are called there.
  std::unique_ptr<Side<E>> take_side(const std::vector<VertexId>& ids, BytesView& in,
                                     std::vector<Slot>& at_owner) {
    auto side = std::make_unique<Side<E>>();
    side->is_symmetric = in.take<bool>();
    const auto begin = in.take<std::uint64_t>();
    std::vector<Slot> of_rows, neighbours;
    std::vector<std::uint64_t> offsets, splits;
    decode(in, of_rows);
    decode(in, offsets);
    decode(in, splits);
    decode(in, neighbours);
    for (auto& offset : offsets) offset -= begin;
    for (auto& split : splits) split -= begin;
    side->offsets.assign(offsets.begin(), offsets.end());
    side->splits.assign(splits.begin(), splits.end());

    is_used_.resize(std::max(is_used_.size(), ids.size()), Mark::unset);
    number_.resize(is_used_.size());
    std::vector<Slot> used;
    for (const auto& some : {std::span(of_rows), std::span(neighbours)}) {
      for (const Slot slot : some) {
        if (std::exchange(is_used_[slot], Mark::set) == Mark::unset) used.push_back(slot);
      }
    }
    std::vector<Slot> scratch(used.size());
    const auto sorted = radix_sort(std::span(used), std::span(scratch), ids.size(),
                                   [](Slot slot) { return std::uint64_t{slot}; });
    at_owner.assign(sorted.begin(), sorted.end());
    Slots& slots = side->slots;
    for (const Slot slot : at_owner) {
      is_used_[slot] = Mark::unset;
      number_[slot] = static_cast<Slot>(slots.ids.size());
      slots.ids.push_back(ids[slot]);
    }
    slots.rows.assign(slots.ids.size(), Slots::no_row);
    for (std::size_t row = 0; row < of_rows.size(); ++row) {
      slots.of_rows.push_back(number_[of_rows[row]]);
      slots.rows[slots.of_rows[row]] = static_cast<Row>(row);
    }
    side->neighbours.resize(neighbours.size());
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      side->neighbours[i] = number_[neighbours[i]];
    if constexpr (!std::is_empty_v<E>) {
      side->values.resize(neighbours.size(), in.take<detail::ValueForm>());
      detail::take_values<E>(in, neighbours.size(), [&](std::size_t i, detail::Wire<E> value) {
        side->values.set(i, static_cast<E>(value));
      });
    }
    return side;
  }

  void take_table(Rank owner, BytesView& in) {
    for (const auto& [side, edges] : places(executor_.graph_)) {
      OwnersSlots& slots = tables_[owner][side];
      decode(in, slots.ids);
      slots.slots_here.assign(slots.ids.size(), not_asked);
    }
  }

  std::unique_ptr<Replica> take_lists(Table& table, BytesView& in) {
    if (!alone_) {
      ContextOptions options;
      options.threads = 1;
      alone_ = std::make_unique<Context>(options);
    }
    std::vector<VertexRecord> records;
    decode(in, records);
    const auto& graph = executor_.graph_;
    Sides sides;
    SlotLists at_owner;
    for (const auto& [place, edges] : places(graph))
      sides[place] = take_side(table[place].ids, in, at_owner[place]);
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    ShardMap shards({records.front().id}, 1);
    Vertices vertices(*alone_, shards, std::move(records));
    auto replica = std::make_unique<Replica>(
        *alone_, std::move(shards), std::move(vertices), std::move(sides), graph.is_directed(),
        graph.num_vertices(), executor_.programs_, replica_options_);
    for (const auto& [place, edges] : places(graph)) {
      const Slots& slots = replica->graph.side_for(edges).slots;
      for (Slot slot = 0; slot < slots.size(); ++slot) {
        if (slots.rows[slot] != Slots::no_row) continue;
        const Slot there = at_owner[place][slot];
        Slot& here = table[place].slots_here[there];
        if (here == not_asked) here = slot_here(place, edges, slots.ids[slot]);
        if (here != no_slot) {
          replica->known[place].push_back(slot);
          replica->known_here[place].push_back(here);
        } else {
          replica->lacking[place].push_back(slot);
          replica->lacking_at_owner[place].push_back(there);
        }
      }
    }
    return replica;
  }

  /// The slot of a vertex in this rank's own lists; no_slot if it does not read it.
  Slot slot_here(std::size_t place, Edges edges, VertexId id) {
    const Slots& slots = executor_.graph_.side_for(edges).slots;
    if (const auto row = executor_.vertices().find(id)) return slots.of_rows[*row];
    if (!slots.has_ghosts()) return no_slot;
    auto& ghosts = ghosts_here_[place];
    if (!ghosts) {
      ghosts.emplace(no_slot, slots.size() - slots.of_rows.size());
      for (Slot slot = 0; slot < slots.size(); ++slot) {
        if (slots.rows[slot] == Slots::no_row) (*ghosts)[slots.ids[slot]] = slot;
      }
    }
    return ghosts->find(id);
  }

  // What a superstep begins with.

  template <class Published>
  static void append_published(const PublishedBuffer<Published>& buffer,
                               const std::vector<Slot>& slots, Bytes& out) {
    std::vector<Slot> present;
    const std::size_t flags_at = out.size();
    out.resize(flags_at + (slots.size() + 7) / 8);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!buffer.has(slots[i])) continue;
      out[flags_at + i / 8] |= std::byte{1} << (i % 8);
      present.push_back(slots[i]);
    }
    detail::append_values<Published>(
        present.size(), [&](std::size_t i) { return buffer[present[i]]; }, out);
  }

  template <class Published>
  static void take_published(BytesView& in, const std::vector<Slot>& slots,
                             PublishedBuffer<Published>& buffer) {
    const auto flags = in.take_bytes((slots.size() + 7) / 8);
    std::vector<Slot> present;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if ((std::to_integer<unsigned>(flags[i / 8]) >> (i % 8) & 1U) != 0)
        present.push_back(slots[i]);
    }
    detail::take_values<Published>(
        in, present.size(), [&](std::size_t i, detail::Wire<Published> value) {
          buffer.put(present[i], static_cast<Published>(std::move(value)));
        });
    buffer.note(std::span<const Slot>(present));
  }

  void append_wanted(const SlotLists& wanted, Bytes& out) const {
    if (!executor_.read_phase_) return;
    Executor::with_phase(*executor_.read_phase_, [&](auto k) {
      append_published(std::get<k>(executor_.channels_).read, wanted[place_of<k>(executor_.graph_)],
                       out);
    });
  }

  void load(Replica& replica, const Header& header, BytesView& in) {
    Executor& mini = replica.executor;
    const Row num_rows = mini.vertices().size();
    if (header.has_state == 0) {  // what it published last can be read now
      Executor::with_phase(header.reads, [&](auto k) {
        auto& channel = std::get<k>(mini.channels_);
        std::swap(channel.read, channel.write);
        channel.write.clear(*alone_);
      });
      mini.read_phase_ = header.reads;
    }
    Executor::for_each_phase([&](auto k) {
      if (header.has_state == 0 && k == header.reads) return;
      auto& channel = std::get<k>(mini.channels_);
      channel.read.clear(*alone_);
      channel.write.clear(*alone_);
    });
    mini.view_.aggregated = executor_.view_.aggregated;
    mini.view_.master = executor_.view_.master;
    mini.view_.superstep = executor_.view_.superstep;
    mini.work_.front().clear();
    mini.send_streams_.clear();
    mini.sent_.clear();
    mini.frontier_.bind(mini.vertices());  // no mark is left of an attempt that was called off
    mini.frontier_.begin();
    if (header.has_marks == 0) {
      mini.frontier_.visit_all(num_rows);
    } else {
      const auto marks = in.take_bytes(num_rows);
      for (Row row = 0; row < num_rows; ++row) {
        if (marks[row] != std::byte{0}) mini.frontier_.mark_unshared(row);
      }
      mini.frontier_.visit_all_marked(num_rows);
    }
    if (header.has_state != 0) {
      SavedState<Executor> state(mini);
      state.begin_loading(header.reads == nothing ? 0 : header.reads, {});
      if (header.reads == nothing) mini.read_phase_.reset();
      state.load(0, BytesView(in.take_bytes(header.state_bytes)));
      state.finish_loading();
    }
    mini.phase_ = executor_.phase_;
    if (header.reads == nothing) return;
    Executor::with_phase(header.reads, [&](auto k) {
      const std::size_t place = place_of<k>(executor_.graph_);
      const auto& here = std::get<k>(executor_.channels_).read;
      auto& there = std::get<k>(mini.channels_).read;
      std::vector<Slot> present;
      for (std::size_t i = 0; i < replica.known[place].size(); ++i) {
        const Slot slot = replica.known_here[place][i];
        if (!here.has(slot)) continue;
        there.put(replica.known[place][i], here[slot]);
        present.push_back(replica.known[place][i]);
      }
      there.note(std::span<const Slot>(present));
    });
    if (!replica.asks) replica.take_lacking(in);
  }

  // What came of it.

  static Bytes result_of(const Executor& executor, std::size_t place, ShardIndex shard) {
    Bytes out;
    append_work(executor.work_[place], out);
    const Row first = executor.vertices().first_row(shard);
    const Row last = executor.vertices().first_row(shard + 1);
    const std::size_t flags_at = out.size();
    out.resize(flags_at + (last - first));
    for (Row row = first; row < last; ++row) {
      if (executor.halted_[row] == Mark::set)
        out[flags_at + (row - first)] |= std::byte{detail::is_halted};
    }
    detail::append_values<Value>(
        last - first, [&](std::size_t i) { return executor.values_[first + i].value; }, out);
    Executor::with_phase(executor.phase_, [&](auto k) {
      const auto& channel = std::get<k>(executor.channels_);
      std::vector<Slot> published;
      for (Row row = first; row < last; ++row) {
        const Slot slot = channel.side->slots.of_rows[row];
        if (!channel.write.has(slot)) continue;
        out[flags_at + (row - first)] |= std::byte{detail::has_value};
        published.push_back(slot);
      }
      detail::append_values<PublishedOf<Phase<k>>>(
          published.size(), [&](std::size_t i) { return channel.write[published[i]]; }, out);
    });
    return out;
  }

  using Work = typename Executor::Work;
  static constexpr std::size_t counter_bytes = 4 * sizeof(std::uint64_t);

  static void append_work(const Work& work, Bytes& out) {
    append_plain(out, work.num_computed);
    append_plain(out, work.num_messages);
    append_plain(out, work.num_unhalted);
    append_plain(out, work.num_scattered);
    if constexpr (Tags::size > 0)
      encode(std::span<const typename Tags::Values>(&work.aggregates, 1), out);
    // By target, so that owner and helper write the same bytes.
    std::vector<std::pair<VertexId, Message>> sends;
    work.sends.for_each(
        [&](VertexId target, const Message& message) { sends.emplace_back(target, message); });
    std::stable_sort(sends.begin(), sends.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<VertexId> targets;
    for (const auto& [target, message] : sends) targets.push_back(target);
    encode(std::span<const VertexId>(targets), out);
    detail::append_values<Message>(
        targets.size(), [&](std::size_t i) -> detail::Wire<Message> { return sends[i].second; },
        out);
  }
  static void take_work(BytesView& in, Work& work) {
    work.num_computed = in.take<std::uint64_t>();
    work.num_messages = in.take<std::uint64_t>();
    work.num_unhalted = in.take<std::uint64_t>();
    work.num_scattered = in.take<std::uint64_t>();
    if constexpr (Tags::size > 0) {
      std::vector<typename Tags::Values> aggregates;
      decode(in, aggregates);
      work.aggregates = std::move(aggregates.at(0));
    }
    std::vector<VertexId> targets;
    decode(in, targets);
    detail::take_values<Message>(
        in, targets.size(), [&](std::size_t i, detail::Wire<Message> message) {
          work.sends.add(targets[i], static_cast<Message>(std::move(message)));
        });
    work.sends.end();
  }

  /// The first row of whose value, flags or messages two results differ; the first of all where
  /// their sums do.
  static Row first_difference(const Bytes& own, std::span<const std::byte> other, Row first,
                              Row last) {
    Work work;
    BytesView a(own), b(other);
    take_work(a, work);
    work.clear();
    take_work(b, work);
    const std::size_t num_rows = last - first;
    const auto flags_a = a.take_bytes(num_rows), flags_b = b.take_bytes(num_rows);
    Row row = last;
    for (std::size_t i = 0; i < num_rows; ++i) {
      if (flags_a[i] != flags_b[i]) row = std::min(row, first + static_cast<Row>(i));
    }
    if constexpr (Bitwise<detail::Wire<Value>>) {
      constexpr std::size_t size = sizeof(detail::Wire<Value>);
      a.take<std::uint64_t>();
      b.take<std::uint64_t>();
      const auto values_a = a.take_bytes(num_rows * size), values_b = b.take_bytes(num_rows * size);
      const auto at = std::mismatch(values_a.begin(), values_a.end(), values_b.begin()).first;
      if (at != values_a.end())
        row = std::min(row, first + static_cast<Row>((at - values_a.begin()) / size));
    }
    return row == last ? first : row;
  }

  Executor& executor_;
  RunOptions replica_options_;
  bool has_tasks_ = false;
  // As an owner: what helpers know, and what of a shard they lack.
  bool may_continue_ = false;  // helpers may go on from what they computed in the last superstep
  std::mutex installing_;
  std::set<Rank> known_tables_;
  std::map<std::pair<ShardIndex, Rank>, Known> shared_;
  // As a helper.
  std::unique_ptr<Context> alone_;  // of all replicas
  std::map<Rank, Table> tables_;    // by owner
  std::map<std::pair<Rank, ShardIndex>, std::unique_ptr<Replica>> replicas_;
  std::map<std::pair<Rank, ShardIndex>, Bytes> lists_aside_;  // of shards not computed so far
  std::array<std::optional<IdMap<Slot>>, 3> ghosts_here_;     // own slots, by place of the side
  std::vector<Mark> is_used_;  // by slot of an owner, while lists are taken in
  std::vector<Slot> number_;
};

}  // namespace weir
