// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/algorithms/neighbourhoods.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/superstep/block_program.hpp>

namespace weir {

struct TriangleCountOptions {
  RunOptions run{};
};

/// Counts the joined pairs among the neighbours of every vertex, which are the triangles there
/// ([Latapy08]).
///
/// Of the corners of a triangle one is the coldest, one the middle and one the hottest. The owner
/// of the coldest finds it: with the hotter neighbours of the middle corner marked, it looks
/// through those of each colder neighbour of the middle one. No vertex has more hotter neighbours
/// than the square root of twice the number of edges, whatever its degree. Lists of hotter
/// neighbours go to the ghosts of their vertex once, a bounded number of bytes per superstep; what
/// was counted at a ghost goes back to its owner.
class TriangleProgram {
 public:
  struct Value {
    std::int64_t num_neighbours = 0;
    std::int64_t num_joined = 0;  ///< pairs of joined neighbours, or arcs among them
  };
  /// To a ghost: how many of the hotter neighbours are not mutual, these, then the mutual ones. To
  /// an owner: what was counted.
  using Message = std::int64_t;
  static constexpr Edges along_edges = Edges::both;

  /// `counts_arcs`: of a directed graph, a pair counts once per direction in which it is joined.
  /// A rank holds lists of `max_foreign_bytes` of others at a time, or one list of each.
  explicit TriangleProgram(bool counts_arcs, std::size_t max_foreign_bytes = std::size_t{64} << 20)
      : counts_arcs_(counts_arcs), max_foreign_bytes_(max_foreign_bytes) {}

  void compute(const Block& block, Boundary<Message>& boundary);
  Value value(const Block& block, Row row) const {
    return {static_cast<std::int64_t>(neighbourhoods_.of(row).size()), counts_[block.slot(row)]};
  }

 private:
  class Marks;
  class MarksPool;
  /// An own vertex that is colder than a neighbour of its.
  struct Reader {
    Row row = 0;
    bool is_mutual = false;  ///< arcs lead both ways between the two
  };

  /// Whether pairs may count more than once.
  bool is_weighted(const Block& block) const { return counts_arcs_ && block.is_directed(); }
  std::size_t num_hotter(const Block& block, Row row) const;
  void prepare_ghosts(const Block& block);
  void count_own(const Block& block);
  void count_received(const Block& block, const Boundary<Message>& boundary);
  void add_colder(const Block& block, Reader reader, Marks& marks) const;
  template <bool is_weighted>
  static void count_colder(Slot middle, Marks& marks);
  bool send_lists(const Block& block, Boundary<Message>& boundary);
  void send_counts(const Block& block, Boundary<Message>& boundary);

  bool counts_arcs_;
  std::size_t max_foreign_bytes_;
  Neighbourhoods neighbourhoods_;
  std::vector<std::int64_t> counts_;  // by slot
  Row next_to_send_ = 0;
  // Empty without ghosts:
  std::vector<Slot> slots_by_id_;
  IdIndex index_;                              // place of an id in slots_by_id_
  std::vector<std::uint64_t> reader_offsets_;  // by slot
  std::vector<Reader> readers_;                // of ghosts
};

/// Number of triangles at each vertex; direction, loops and repeats are ignored. Collective.
RunResult<std::int64_t> triangle_count(const Graph<NoValue>& graph,
                                       const TriangleCountOptions& options = {});
RunResult<std::int64_t> triangle_count(const Graph<double>& graph,
                                       const TriangleCountOptions& options = {});

/// Number of triangles of the whole graph: each was counted at its three corners. Collective.
std::uint64_t num_triangles(const VertexValues<std::int64_t>& counts);

extern const Algorithm triangle_count_algorithm;

}  // namespace weir
