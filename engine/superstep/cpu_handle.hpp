// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/model/vertex_program.hpp>
#include <weir/engine/superstep/messages.hpp>
#include <weir/engine/superstep/shard_work.hpp>

namespace weir {

/// What is the same for every vertex of a superstep.
template <class P, class E>
struct StepView {
  Superstep superstep = 0;
  std::uint64_t seed = 0;
  std::uint64_t num_vertices = 0;
  const Vertices* vertices = nullptr;
  const Side<E>* out_side = nullptr;  ///< lists of out-edges; only for programs that read arcs
  const typename AggregatorsOf<P>::Values* aggregated = nullptr;
  const MasterOf<P>* master = nullptr;
};

/// One out-edge list as a range of arcs.
template <class E>
class ArcRange {
 public:
  ArcRange(const Side<E>& side, Row row, VertexId source)
      : side_(&side), first_(side.first(row)), last_(side.last(row)), source_(source) {}

  class Iterator {
   public:
    using value_type = Arc<E>;
    Iterator(const ArcRange* range, std::uint64_t position) : range_(range), position_(position) {}
    Arc<E> operator*() const {
      const Side<E>& side = *range_->side_;
      if (position_ + 32 < side.neighbours.size())
        __builtin_prefetch(side.slots.ids.data() + side.neighbours[position_ + 32]);
      return {range_->source_, side.slots.ids[side.neighbours[position_]], side.values[position_]};
    }
    Iterator& operator++() {
      ++position_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.position_ == b.position_;
    }

   private:
    const ArcRange* range_;
    std::uint64_t position_;
  };

  Iterator begin() const { return {this, first_}; }
  Iterator end() const { return {this, last_}; }
  std::size_t size() const { return static_cast<std::size_t>(last_ - first_); }

 private:
  const Side<E>* side_;
  std::uint64_t first_;
  std::uint64_t last_;
  VertexId source_;
};

/// The vertex handle of the CPU executor; satisfies VertexHandle.
template <class P, class E>
class CpuHandle {
 public:
  using Value = typename P::Value;
  using Message = typename P::Message;
  using Tags = AggregatorsOf<P>;

  CpuHandle(const StepView<P, E>& step, ShardWork<P, E>& work, Row row, Value& value)
      : step_(step), work_(work), row_(row), value_(value) {}

  VertexId id() const { return step_.vertices->id(row_); }
  Superstep superstep() const { return step_.superstep; }
  std::uint64_t num_vertices() const { return step_.num_vertices; }
  std::uint64_t out_degree() const { return step_.vertices->out_degree(row_); }
  std::uint64_t in_degree() const { return step_.vertices->in_degree(row_); }
  Value& value() { return value_; }
  const Value& value() const { return value_; }

  void vote_to_halt() { is_halted_ = true; }
  void scatter() { has_scattered_ = true; }

  void send(VertexId target, const Message& message) {
    detail::refuse_nan<P>(message);
    work_.sends.add(target, message);
    ++work_.num_messages;
  }
  void send(const Arc<E>& arc, const Message& message) { send(arc.target, message); }

  ArcRange<E> arcs() const {
    static_assert(ArcReadingProgram<P>,
                  "weir: arcs() needs `static constexpr bool reads_arcs = true` in the program");
    return {*step_.out_side, row_, id()};
  }

  CounterRandom random() const {
    return {step_.seed, static_cast<std::uint64_t>(step_.superstep),
            static_cast<std::uint64_t>(id())};
  }
  const MasterOf<P>& broadcast() const { return *step_.master; }

  template <class Tag>
  void aggregate(Tag, const typename Tag::value_type& x) {
    if constexpr (std::is_floating_point_v<typename Tag::value_type> && Tag::monoid::is_exact)
      WEIR_EXPECT(!std::isnan(x), program, "a contribution to a minimum or maximum is NaN");
    auto& mine = std::get<Tags::template index_of<Tag>()>(work_.aggregates);
    mine = typename Tag::monoid{}(mine, x);
  }
  template <class Tag>
  typename Tag::value_type aggregated(Tag) const {
    return Tags::template read<Tag>(*step_.aggregated);
  }

  void remove() { mutations().topology.removed_vertices.push_back(id()); }
  void remove_edge(VertexId target) {
    mutations().topology.removed_edges.emplace_back(id(), target);
  }
  void add_edge(VertexId target, const E& value = {}) {
    mutations().topology.added_edges.push_back({id(), target, value});
  }
  void add_vertex(VertexId id, const Value& value) {
    mutations().added_vertices.emplace_back(id, value);
  }

  bool is_halted() const { return is_halted_; }
  bool has_scattered() const { return has_scattered_; }

 private:
  auto& mutations() {
    static_assert(MutatingProgram<P>,
                  "weir: remove(), remove_edge(), add_edge() and add_vertex() need "
                  "`static constexpr bool mutates_topology = true` in the program");
    return work_.mutations;
  }

  const StepView<P, E>& step_;
  ShardWork<P, E>& work_;
  Row row_;
  Value& value_;
  bool is_halted_ = false;
  bool has_scattered_ = false;
};

}  // namespace weir
