// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct TriangleCountOptions {
  RunOptions run{};
};

/// Vertex ids that copies share.
class SharedIds {
 public:
  SharedIds() = default;
  explicit SharedIds(std::vector<VertexId> ids)
      : ids_(ids.empty() ? nullptr
                         : std::make_shared<const std::vector<VertexId>>(std::move(ids))) {}

  std::span<const VertexId> get() const {
    return ids_ ? std::span<const VertexId>(*ids_) : std::span<const VertexId>();
  }
  bool empty() const { return ids_ == nullptr; }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    std::vector<VertexId> ids;
    if constexpr (Archive::is_saving::value) {
      if (ids_)
        archive << *ids_;
      else
        archive << ids;
    } else {
      archive >> ids;
      *this = SharedIds(std::move(ids));
    }
  }

 private:
  std::shared_ptr<const std::vector<VertexId>> ids_;
};

/// How many ids two ascending lists share.
std::int64_t num_common(std::span<const VertexId> a, std::span<const VertexId> b);

/// Counts the arcs among the neighbours of every vertex.
///
/// A vertex tells its neighbours which of its neighbours are *later*: have more arcs, or as many
/// and a greater id. Of two joined vertices one is the later, so a vertex that looks for itself in
/// nobody's list, but for its neighbours in the lists of all, meets every pair of joined neighbours
/// once. No list is longer than the square root of twice the number of edges, whatever the
/// degrees.
struct NeighbourhoodProgram {
  struct Value {
    std::vector<VertexId> neighbours;  ///< ascending, each once, without the vertex itself
    SharedIds joined_once;             ///< later ones with arcs in one direction
    SharedIds joined_twice;            ///< later ones with arcs in both
    std::int64_t num_neighbours = 0;
    std::int64_t num_joined = 0;  ///< pairs of joined neighbours, or arcs among them
  };
  struct Message {
    VertexId id = 0;
    std::uint64_t num_arcs = 0;
    SharedIds joined_once;
    SharedIds joined_twice;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& id& num_arcs& joined_once& joined_twice;
    }
  };
  static constexpr Edges along_edges = Edges::both;

  std::int64_t weight_of_twice = 1;  ///< what a pair with arcs in both directions counts

  Value init(const VertexInfo&) const { return {}; }

  void compute(VertexHandle auto& v, const auto& inbox) const {
    v.vote_to_halt();
    if (v.superstep() == 0) {
      v.scatter();  // id and number of arcs
    } else if (v.superstep() == 1) {
      learn_neighbours(v, inbox);
      // Who has one neighbour is the corner of no triangle.
      const Value& value = v.value();
      const bool has_later = !value.joined_once.empty() || !value.joined_twice.empty();
      if (value.num_neighbours > 1 && has_later) v.scatter();
    } else {
      v.value().num_joined = count_joined(v.id(), v.value().neighbours, inbox);
    }
  }

  Message publish(const Value& value, const VertexInfo& source) const {
    return {source.id, source.in_degree + source.out_degree, value.joined_once, value.joined_twice};
  }

 private:
  struct Neighbour {
    VertexId id;
    std::uint64_t num_arcs;
    unsigned directions;
  };

  static void learn_neighbours(VertexHandle auto& v, const auto& inbox) {
    constexpr unsigned in = 1, out = 2;
    std::vector<Neighbour> neighbours;
    std::uint64_t position = 0;  // everyone spoke: first the in-list is read, then the out-list
    for (const Message& m : inbox) {
      const unsigned direction = position++ < v.in_degree() ? in : out;
      if (m.id != v.id()) neighbours.push_back({m.id, m.num_arcs, direction});
    }
    std::sort(neighbours.begin(), neighbours.end(),
              [](const Neighbour& a, const Neighbour& b) { return a.id < b.id; });
    const std::uint64_t own_arcs = v.in_degree() + v.out_degree();
    std::vector<VertexId> once, twice;
    Value& value = v.value();
    for (std::size_t i = 0; i < neighbours.size();) {
      const auto [id, num_arcs, first_direction] = neighbours[i];
      unsigned directions = 0;
      for (; i < neighbours.size() && neighbours[i].id == id; ++i)
        directions |= neighbours[i].directions;
      value.neighbours.push_back(id);
      const bool is_later = num_arcs != own_arcs ? num_arcs > own_arcs : id > v.id();
      if (is_later) (directions == (in | out) ? twice : once).push_back(id);
    }
    value.num_neighbours = static_cast<std::int64_t>(value.neighbours.size());
    value.joined_once = SharedIds(std::move(once));
    value.joined_twice = SharedIds(std::move(twice));
  }

  std::int64_t count_joined(VertexId own, const std::vector<VertexId>& neighbours,
                            const auto& inbox) const {
    std::vector<bool> has_spoken(neighbours.size());  // parallel arcs bring a list again
    std::int64_t count = 0;
    for (const Message& m : inbox) {
      if (m.id == own) continue;
      const auto at = std::lower_bound(neighbours.begin(), neighbours.end(), m.id);
      const auto i = static_cast<std::size_t>(at - neighbours.begin());
      if (has_spoken[i]) continue;
      has_spoken[i] = true;
      count += num_common(m.joined_once.get(), neighbours);
      count += num_common(m.joined_twice.get(), neighbours) * weight_of_twice;
    }
    return count;
  }
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
