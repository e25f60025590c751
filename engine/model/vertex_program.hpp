// SPDX-License-Identifier: Apache-2.0
// What a vertex program looks like. docs/semantics.md is the contract.
#pragma once

#ifdef __FAST_MATH__
#error "weir promises equal bits at any rank count; compile without -ffast-math"
#endif

#include <concepts>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weir/engine/model/aggregator.hpp>
#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/edges.hpp>
#include <weir/engine/model/ids.hpp>
#include <weir/engine/model/inbox.hpp>
#include <weir/engine/model/monoid.hpp>
#include <weir/engine/model/random.hpp>

namespace weir {

/// What is known of a vertex before it has a value, and of the source of a message.
struct VertexInfo {
  VertexId id = 0;
  std::uint64_t out_degree = 0;  ///< In an undirected graph both degrees are the degree.
  std::uint64_t in_degree = 0;
  std::uint64_t num_vertices = 0;  ///< Of the whole graph.
};

/// The edges along which the messages of a program travel.
template <class P>
constexpr Edges along_edges_of() {
  if constexpr (requires { P::along_edges; }) {
    return P::along_edges;
  } else {
    return Edges::out;
  }
}

/// The state a program without a `Master` type has there.
struct NoMaster {};

/// The value of what is no program, so that `check_program` can say what it lacks.
struct NoProgramValue {};

namespace detail {

template <class P>
struct AggregatorsOf {
  using type = Aggregators<>;
};
template <class P>
requires requires { typename P::Aggregators; }
struct AggregatorsOf<P> {
  using type = typename P::Aggregators;
};

template <class P>
struct MasterOf {
  using type = NoMaster;
};
template <class P>
requires requires { typename P::Master; }
struct MasterOf<P> {
  using type = typename P::Master;
};

template <class P>
struct ValueOf {
  using type = NoProgramValue;
};
template <class P>
requires requires { typename P::Value; }
struct ValueOf<P> {
  using type = typename P::Value;
};

template <class P>
struct PublishedOf {
  using type = typename P::Value;
};
template <class P>
requires requires(const P& p, const typename P::Value& v, const VertexInfo& i) { p.publish(v, i); }
struct PublishedOf<P> {
  using type = std::remove_cvref_t<decltype(std::declval<const P&>().publish(
      std::declval<const typename P::Value&>(), std::declval<const VertexInfo&>()))>;
};

}  // namespace detail

/// The aggregators of a program; Aggregators<> when it names none.
template <class P>
using AggregatorsOf = typename detail::AggregatorsOf<P>::type;

/// The state of the master of a program; see MasterHandle.
template <class P>
using MasterOf = typename detail::MasterOf<P>::type;

/// The value a program keeps per vertex.
template <class P>
using ValueOf = typename detail::ValueOf<P>::type;

/// What a source publishes: the result of `publish(value, source)`, or the value itself without
/// one.
template <class P>
using PublishedOf = typename detail::PublishedOf<P>::type;

/// Has a monoid that folds the messages to one vertex.
template <class P>
concept CombiningProgram = requires {
  typename P::Combiner;
  requires Monoid<typename P::Combiner>;
  requires std::same_as<typename P::Combiner::value_type, typename P::Message>;
};

/// Turns what is published into the message of one arc by `along(published, arc)`.
template <class P, class E>
concept AlongProgram = requires(const P& p, const PublishedOf<P>& x, const Arc<E>& arc) {
  { p.along(x, arc) } -> std::convertible_to<typename P::Message>;
};

/// Changes the topology: declares `static constexpr bool mutates_topology = true`.
template <class P>
concept MutatingProgram = requires {
  requires P::mutates_topology;
};

/// Law: a message to a vertex whose value is not wanted would change nothing there, so it need not
/// be delivered.
template <class P>
concept WantingProgram = requires(const P& p, const typename P::Value& value) {
  { p.wants(value) } -> std::convertible_to<bool>;
};

/// Law: any one message of a superstep gives the same result as all of them.
template <class P>
concept FirstDecidesProgram = requires {
  requires P::first_message_decides;
};

/// Law: early, late or repeated messages do not change the values in the end, and neither superstep
/// nor aggregates are read. Ranks then compute to a local fixed point between exchanges. Declares
/// `static constexpr bool monotone = true`.
template <class P>
concept MonotoneProgram = requires {
  requires P::monotone;
};

/// Law: a message that is not wanted at a value would change nothing there. For monotone programs.
template <class P>
concept SelectiveProgram = requires(const P& p, const typename P::Value& value,
                                    const typename P::Message& message) {
  { p.wants(value, message) } -> std::convertible_to<bool>;
};

/// Monotone programs: messages of a smaller priority, from 0, are better taken first; those within
/// one bucket width are taken together.
template <class P>
concept PriorityProgram = requires(const P& p, const typename P::Message& message) {
  { p.priority(message) } -> std::convertible_to<double>;
  { p.bucket_width() } -> std::convertible_to<double>;
};

/// The last published value of a source stays readable; a vertex wakes when one it reads changed.
template <class P>
concept StickyProgram = requires {
  requires P::sticky;
};

/// Names the vertices that are active in superstep 0; all others start halted.
template <class P>
concept StartingProgram = requires(const P& p) {
  { p.starts() } -> std::convertible_to<std::span<const VertexId>>;
};

/// Reads its own out-edges by `v.arcs()`: declares `static constexpr bool reads_arcs = true`, so
/// that a directed graph keeps them.
template <class P>
concept ArcReadingProgram = requires {
  requires P::reads_arcs;
};

/// Strict Pregel: any message wakes, also one equal to the identity of the combiner.
template <class P>
concept WakesOnAnyMessageProgram = requires {
  requires P::wakes_on_any_message;
};

/// Decides about additions of one vertex with different values: `resolve(id, a, b) -> Value`,
/// associative and commutative.
template <class P>
concept ResolvingProgram = requires(const P& p, VertexId id, const typename P::Value& v) {
  { p.resolve(id, v, v) } -> std::convertible_to<typename P::Value>;
};

/// What the engine hands to `compute`. Every executor passes a type of its own.
template <class H>
concept VertexHandle = requires(H& v) {
  { v.id() } -> std::same_as<VertexId>;
  { v.superstep() } -> std::same_as<Superstep>;
  v.value();
  v.vote_to_halt();
  v.scatter();
};

/// What the master hook reads and decides between supersteps; a pure function called on every rank.
template <class P>
class MasterHandle {
 public:
  using Tags = AggregatorsOf<P>;

  MasterHandle(Superstep step, std::uint64_t num_active, std::uint64_t num_vertices,
               std::uint64_t num_messages, const typename Tags::Values& aggregated,
               std::size_t phase)
      : step_(step),
        num_active_(num_active),
        num_vertices_(num_vertices),
        num_messages_(num_messages),
        aggregated_(aggregated),
        phase_(phase) {}

  /// The superstep about to run.
  Superstep superstep() const { return step_; }
  /// Vertices that have not voted to halt; messages are counted apart.
  std::uint64_t num_unhalted() const { return num_active_; }
  std::uint64_t num_vertices() const { return num_vertices_; }
  /// Vertices that scattered plus messages sent in the last superstep.
  std::uint64_t num_senders() const { return num_messages_; }
  /// Fold over the last superstep; the identity in superstep 0. A floating sum of nothing is +0.0.
  template <class Tag>
  typename Tag::value_type aggregated(Tag) const {
    return Tags::template read<Tag>(aggregated_);
  }
  std::size_t phase() const { return phase_; }

  /// Ends the job before the superstep runs.
  void halt() { is_halted_ = true; }
  /// Chooses the phase of this superstep.
  void set_phase(std::size_t phase) { phase_ = phase; }
  /// Makes every vertex active in this superstep.
  void wake_all() { wakes_all_ = true; }

  bool is_halted() const { return is_halted_; }
  bool wakes_all() const { return wakes_all_; }

 private:
  Superstep step_;
  std::uint64_t num_active_;
  std::uint64_t num_vertices_;
  std::uint64_t num_messages_;
  const typename Tags::Values& aggregated_;
  std::size_t phase_;
  bool is_halted_ = false;
  bool wakes_all_ = false;
};

/// Has `void master(Master& state, MasterHandle<P>& handle) const`. The state is equal on every
/// rank and read by vertices as `v.broadcast()`.
template <class P>
concept MasterProgram = requires(const P& p, MasterOf<P>& state, MasterHandle<P>& handle) {
  p.master(state, handle);
};

namespace detail {

/// Stands for any handle while a program is checked; never runs. `First`: the first phase, which
/// declares what all may do.
template <class P, class E, class First>
struct HandleArchetype {
  VertexId id() const;
  Superstep superstep() const;
  std::uint64_t num_vertices() const;
  std::uint64_t out_degree() const;
  std::uint64_t in_degree() const;
  typename P::Value& value();
  void vote_to_halt();
  void scatter();
  void send(VertexId target, const typename P::Message& message);
  void send(const Arc<E>& arc, const typename P::Message& message);
  std::span<const Arc<E>> arcs() const requires ArcReadingProgram<First>;
  CounterRandom random() const;
  const MasterOf<P>& broadcast() const;
  template <class Tag>
  void aggregate(Tag, const typename Tag::value_type& x);
  template <class Tag>
  const typename Tag::value_type& aggregated(Tag) const;
  void remove() requires MutatingProgram<First>;
  void remove_edge(VertexId target) requires MutatingProgram<First>;
  void add_edge(VertexId target, const E& value = {}) requires MutatingProgram<First>;
  void add_vertex(VertexId id, const typename P::Value& value) requires MutatingProgram<First>;
};

template <class P>
struct InboxArchetype {
  using type = std::span<const typename P::Message>;
};
template <CombiningProgram P>
struct InboxArchetype<P> {
  using type = Inbox<typename P::Message>;
};

}  // namespace detail

template <class P>
concept HasValue = requires {
  typename P::Value;
}
&&std::copyable<typename P::Value>;
template <class P>
concept HasMessage = requires {
  typename P::Message;
}
&&std::copyable<typename P::Message>;
template <class P>
concept HasInit = requires(const P& p, const VertexInfo& info) {
  { p.init(info) } -> std::convertible_to<typename P::Value>;
};
template <class P, class E, class First = P>
concept HasCompute = requires(const P& p, detail::HandleArchetype<P, E, First>& v,
                              const typename detail::InboxArchetype<P>::type& inbox) {
  { p.compute(v, inbox) } -> std::same_as<void>;
};
/// What is published becomes the message: by `along`, or because it converts.
template <class P, class E>
concept HasMessagePath = AlongProgram<P, E> || std::convertible_to < PublishedOf<P>,
typename P::Message > ;

/// A vertex program over edges with values of type E, or a later phase of one that begins with
/// `First`.
template <class P, class E, class First = P>
concept VertexProgram = HasValue<P> && HasMessage<P> &&
    (!std::same_as<P, First> || HasInit<P>)&&HasCompute<P, E, First>&& HasMessagePath<P, E>;

/// Says in one line what a program lacks; part of every `run`.
template <class P, class E, class First = P>
consteval bool check_program() {
  static_assert(HasValue<P>, "weir: a vertex program needs a copyable type `Value`");
  static_assert(HasMessage<P>, "weir: a vertex program needs a copyable type `Message`");
  if constexpr (HasValue<P> && HasMessage<P>) {
    static_assert(!std::same_as<P, First> || HasInit<P>,
                  "weir: a vertex program needs `Value init(const weir::VertexInfo&) const`");
    static_assert(
        HasCompute<P, E, First>,
        "weir: a vertex program needs `void compute(weir::VertexHandle auto& v, inbox) const`; "
        "arcs() needs reads_arcs = true; remove(), remove_edge(), add_edge() and add_vertex() need "
        "mutates_topology = true");
    static_assert(HasMessagePath<P, E>,
                  "weir: what the program publishes must convert to `Message`, or "
                  "`Message along(published, const weir::Arc<E>&) const` must make it one");
  }
  return VertexProgram<P, E, First>;
}

/// Several phases of one program that share Value, Message, Combiner, Aggregators and Master, each
/// with its own compute, published type and edge direction. The first phase initialises values,
/// declares `reads_arcs` and `mutates_topology` for all, and holds the master, which chooses the
/// phase of each superstep. `Phases{std::tuple{A{}, B{}}}`.
template <class First, class... Rest>
struct Phases {
  std::tuple<First, Rest...> phases;
};

}  // namespace weir
