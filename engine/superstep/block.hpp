// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// One rank's part of a graph, as a block program sees it: its own vertices by row, and by slot
/// these and the vertices of other ranks that their neighbour lists name, its ghosts.
///
/// Slots lie in heat order, which is the same total order on every rank: of two slots the smaller
/// holds the vertex with more arcs, or as many and the smaller id. Lists ascend by slot.
class Block {
 public:
  /// The lists that messages along `edges` would be read from. Collective when they must be built.
  template <class E>
  Block(const Graph<E>& graph, Edges edges)
      : Block(graph.context(), *graph.vertices(), Topology(graph.side_for(edges)),
              graph.is_directed()) {}

  Row num_rows() const { return vertices_->size(); }
  Slot num_slots() const { return static_cast<Slot>(topology_.slots->size()); }
  bool has_ghosts() const { return num_slots() > num_rows(); }
  bool is_directed() const { return is_directed_; }

  VertexId id(Slot slot) const { return topology_.slots->ids[slot]; }
  Slot slot(Row row) const { return topology_.slots->of_rows[row]; }
  bool is_ghost(Slot slot) const { return row(slot) == Slots::no_row; }
  /// Row of an own vertex, Slots::no_row of a ghost.
  Row row(Slot slot) const { return topology_.slots->rows[slot]; }
  /// Ghosts and the own vertices that are ghosts elsewhere, by the rank they are shared with.
  const std::vector<GhostLink>& links() const { return topology_.slots->links; }

  /// The neighbour list of an own vertex; along Edges::both its in-list, then its out-list.
  std::span<const Slot> neighbours(Row row) const {
    return list(topology_.offsets[row], topology_.offsets[row + std::size_t{1}]);
  }
  /// The two lists of `neighbours` apart; the second is empty unless both are here.
  std::span<const Slot> first_list(Row row) const { return list(topology_.offsets[row], end(row)); }
  std::span<const Slot> second_list(Row row) const {
    return list(end(row), topology_.offsets[row + std::size_t{1}]);
  }

  /// Calls body(first, last) for runs of rows that cover all, each of about equally many arcs, on
  /// this rank's threads; see Context::parallel_for.
  void for_each_run(const std::function<void(Row, Row)>& body) const {
    context_->parallel_for(cuts_.size() - 1, [&](std::size_t i) { body(cuts_[i], cuts_[i + 1]); });
  }
  /// The same for runs of `length` that cover [0, count).
  void for_each_run(std::size_t count, std::size_t length,
                    const std::function<void(std::size_t, std::size_t)>& body) const {
    context_->parallel_for((count + length - 1) / length, [&](std::size_t i) {
      body(i * length, std::min(count, (i + 1) * length));
    });
  }

 private:
  /// A side without what depends on the type of edge values.
  struct Topology {
    template <class E>
    explicit Topology(const Side<E>& side)
        : offsets(side.offsets),
          splits(side.splits),
          neighbours(side.neighbours),
          slots(&side.slots) {}
    std::span<const std::uint64_t> offsets;
    std::span<const std::uint64_t> splits;
    std::span<const Slot> neighbours;
    const Slots* slots;
  };

  Block(Context& context, const Vertices& vertices, const Topology& topology, bool is_directed);

  std::uint64_t end(Row row) const {
    return topology_.splits.empty() ? topology_.offsets[row + std::size_t{1}]
                                    : topology_.splits[row];
  }
  std::span<const Slot> list(std::uint64_t begin, std::uint64_t end) const {
    return topology_.neighbours.subspan(begin, end - begin);
  }

  Context* context_;
  const Vertices* vertices_;
  Topology topology_;
  bool is_directed_;
  std::vector<Row> cuts_;  // runs of rows: [cuts_[i], cuts_[i + 1])
};

}  // namespace weir
