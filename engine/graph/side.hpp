// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <weir/engine/graph/edge_store.hpp>
#include <weir/engine/graph/pages.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/edges.hpp>

namespace weir {

class Context;

/// Values of arcs: numbers in the narrowest type that holds all of them to the bit, other values as
/// they are, and nothing at all for NoValue.
template <class E>
class ArcValues {
 public:
  void resize(std::size_t count, detail::ValueForm) { values_.resize(count); }
  detail::ValueForm form() const { return detail::ValueForm::whole; }
  E operator[](std::uint64_t i) const { return values_[i]; }
  void set(std::uint64_t i, const E& value) { values_[i] = value; }

 private:
  PlainVector<E> values_;
};
template <>
class ArcValues<double> {
 public:
  /// `form` holds every value that will be set.
  void resize(std::size_t count, detail::ValueForm form) {
    form_ = form;
    bytes_.resize(count * detail::bytes_of_value<double>(form));
  }
  detail::ValueForm form() const { return form_; }
  [[gnu::always_inline]] inline double operator[](std::uint64_t i) const {
    switch (form_) {
      case detail::ValueForm::u8: return load<std::uint8_t>(i);
      case detail::ValueForm::u16: return load<std::uint16_t>(i);
      case detail::ValueForm::f32: return load<float>(i);
      default: return load<double>(i);
    }
  }
  void set(std::uint64_t i, double value) {
    detail::with_value_type<double>(form_, [&](auto stored) {
      stored = static_cast<decltype(stored)>(value);
      std::memcpy(bytes_.data() + i * sizeof stored, &stored, sizeof stored);
    });
  }

 private:
  template <class T>
  double load(std::uint64_t i) const {
    T stored;
    std::memcpy(&stored, bytes_.data() + i * sizeof stored, sizeof stored);
    return static_cast<double>(stored);
  }

  detail::ValueForm form_ = detail::ValueForm::none;
  PlainVector<std::byte> bytes_;
};
template <>
class ArcValues<NoValue> {
 public:
  void resize(std::size_t, detail::ValueForm) {}
  detail::ValueForm form() const { return detail::ValueForm::none; }
  NoValue operator[](std::uint64_t) const { return {}; }
  void set(std::uint64_t, NoValue) {}
};

/// Which published values travel between this rank and another, in an order both remember.
struct GhostLink {
  Rank peer = 0;
  std::vector<Slot> sent;      ///< Slots of own vertices the peer reads; heat order.
  std::vector<Slot> received;  ///< Slots of the peer's vertices read here; heat order.
};

/// The slots of one side: own vertices and the remote ones their neighbour lists name (ghosts), all
/// in heat order, so that what is read most lies together.
struct Slots {
  static constexpr Row no_row = 0xffffffff;

  LargeVector<VertexId> ids;     ///< Vertex of each slot.
  LargeVector<Row> rows;         ///< Own row of each slot, `no_row` for a ghost.
  LargeVector<Slot> of_rows;     ///< Slot of each own row.
  std::vector<GhostLink> links;  ///< Ascending by peer; only peers with something to say.

  std::size_t size() const { return ids.size(); }
  bool has_ghosts() const { return ids.size() > of_rows.size(); }
};

/// Finds owners and heat of the neighbours and lays the slots out. Collective.
/// `ghosts`: vertices of other ranks in neighbour lists, ascending, each once.
Slots make_slots(Context& context, const ShardMap& shards, const Vertices& vertices,
                 std::span<const VertexId> ghosts);

/// The adjacency seen from the slots: which rows read a slot.
template <class E>
struct Transpose {
  LargeVector<std::uint64_t> offsets;  ///< num_slots + 1
  LargeVector<Row> rows;
  ArcValues<E> values;
};

/// Neighbour lists of a rank's vertices in one direction, with the slots they read.
///
/// A list ascends by slot, which is the heat order of its members; parallel arcs by value bits.
template <class E>
struct Side {
  /// Every arc lies in the lists of both its ends: an undirected graph, or in- and out-lists
  /// together. Then the list of an own vertex names its readers too.
  bool is_symmetric = false;
  LargeVector<std::uint64_t> offsets;  ///< num_rows + 1
  LargeVector<std::uint64_t>
      splits;  ///< num_rows; where the out-list begins when both are here; else empty
  PlainVector<Slot> neighbours;
  ArcValues<E> values;
  Slots slots;
  /// Readers of the slots whose own list does not name them; empty until `make_transpose`.
  Transpose<E> transpose;

  std::uint64_t first(Row row) const { return offsets[row]; }
  std::uint64_t last(Row row) const { return offsets[row + std::size_t{1}]; }
  /// End of the first list of a row: the in-list where both are here.
  std::uint64_t split(Row row) const { return splits.empty() ? last(row) : splits[row]; }
  std::uint64_t num_arcs() const { return neighbours.size(); }

  /// Makes `for_each_reader` and `num_readers` possible.
  void make_transpose(Context& context);
  /// Calls f(row, value of the arc) for every own row that reads the slot, in no order. `source`:
  /// own row of the slot or no_row, where it is known already.
  template <class F>
  void for_each_reader(Slot slot, const F& f) const {
    for_each_reader(slot, slots.rows[slot], f);
  }
  template <class F>
  void for_each_reader(Slot slot, Row source, const F& f) const {
    if (is_symmetric && source != Slots::no_row) {
      const Slot* const list = neighbours.data();  // stays in a register across what f stores
      const Row* const rows = slots.rows.data();
      for (std::uint64_t i = first(source), end = last(source); i < end; ++i) {
        const Row reader = rows[list[i]];
        if (reader != Slots::no_row) f(reader, values[i]);
      }
      return;
    }
    for (std::uint64_t i = transpose.offsets[slot]; i < transpose.offsets[slot + std::size_t{1}];
         ++i)
      f(transpose.rows[i], transpose.values[i]);
  }
  /// The same with the reader's slot.
  template <class F>
  void for_each_reading_slot(Slot slot, Row source, const F& f) const {
    if (is_symmetric && source != Slots::no_row) {
      const bool has_ghosts = slots.has_ghosts();
      for (std::uint64_t i = first(source); i < last(source); ++i) {
        const Slot reader = neighbours[i];
        if (!has_ghosts || slots.rows[reader] != Slots::no_row) f(reader, values[i]);
      }
      return;
    }
    for (std::uint64_t i = transpose.offsets[slot]; i < transpose.offsets[slot + std::size_t{1}];
         ++i)
      f(slots.of_rows[transpose.rows[i]], transpose.values[i]);
  }
  /// Arcs that `for_each_reader` looks at.
  std::uint64_t num_readers(Slot slot) const { return num_readers(slot, slots.rows[slot]); }
  std::uint64_t num_readers(Slot slot, Row source) const {
    if (is_symmetric && source != Slots::no_row) return last(source) - first(source);
    return transpose.offsets[slot + std::size_t{1}] - transpose.offsets[slot];
  }

 private:
  bool has_transpose_ = false;
};

/// The arcs of a side in no order. Each has an own vertex as its target, and as its source the
/// neighbour in that vertex's list, whichever way messages go.
template <class E>
struct SideArcs {
  EdgeStore<E>& first;             ///< Of the first lists, or of the only ones.
  EdgeStore<E>* second = nullptr;  ///< Of the second lists, where a vertex has two.
  bool is_mirrored = false;        ///< Each arc also stands for the one back; for one rank alone.
};

/// Sorted lists for messages along `edges`, as long as the degrees of the vertices say; see
/// Graph::side_for. Empties the stores on the way. Collective.
template <class E>
Side<E> make_side(Context& context, const ShardMap& shards, const Vertices& vertices, Edges edges,
                  SideArcs<E> arcs);

extern template struct Side<NoValue>;
extern template struct Side<float>;
extern template struct Side<double>;
extern template Side<NoValue> make_side(Context&, const ShardMap&, const Vertices&, Edges,
                                        SideArcs<NoValue>);
extern template Side<float> make_side(Context&, const ShardMap&, const Vertices&, Edges,
                                      SideArcs<float>);
extern template Side<double> make_side(Context&, const ShardMap&, const Vertices&, Edges,
                                       SideArcs<double>);

}  // namespace weir
