// SPDX-License-Identifier: Apache-2.0
// From each rank's edges to shards: count the arcs of every vertex, bring the counts of one vertex
// together, and cut the ids into shards by weight.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weir/engine/graph/id_map.hpp>
#include <weir/engine/graph/id_range.hpp>
#include <weir/engine/graph/shard_map.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/model/edge.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// Runs of ids without gaps, as lists of vertices mostly are.
class IdRuns {
 public:
  struct Run {
    VertexId first;
    VertexId last;
  };

  void add(VertexId id) {
    if (!runs_.empty() && runs_.back().last < id && runs_.back().last + 1 == id) {
      ++runs_.back().last;
    } else {
      runs_.push_back({id, id});
    }
  }
  void add(std::span<const VertexId> ids) {
    for (const VertexId id : ids) add(id);
  }

  /// Sorts the runs and joins those that overlap: each id is then there once.
  void normalise() {
    std::sort(runs_.begin(), runs_.end(),
              [](const Run& a, const Run& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (const Run& run : runs_) {
      if (kept > 0 && run.first <= runs_[kept - 1].last) {
        runs_[kept - 1].last = std::max(runs_[kept - 1].last, run.last);
      } else {
        runs_[kept++] = run;
      }
    }
    runs_.resize(kept);
  }

  const std::vector<Run>& runs() const { return runs_; }
  IdRange range() const {
    IdRange range;
    for (const Run& run : runs_) {
      range.see(run.first);
      range.see(run.last);
      range.num_seen +=
          static_cast<std::uint64_t>(run.last) - static_cast<std::uint64_t>(run.first);
    }
    return range;
  }
  template <class F>
  void for_each(const F& visit) const {
    for (const Run& run : runs_) {
      for (VertexId id = run.first; id != run.last; ++id) visit(id);
      visit(run.last);
    }
  }
  template <class F>
  void erase_if(const F& is_unwanted) {
    IdRuns kept;
    for_each([&](VertexId id) {
      if (!is_unwanted(id)) kept.add(id);
    });
    *this = std::move(kept);
  }

 private:
  std::vector<Run> runs_;
};

/// Counts arcs per end point over one rank's edges, by several workers: in arrays over the range of
/// the ids where these are no larger than lists, else in tables. Local.
class EndPointCounter {
 public:
  /// `range`: of all end points, and of the ids given to `finish`.
  EndPointCounter(bool is_directed, const IdRange& range, std::size_t num_workers);

  /// Counts the edges of PackedEdges; one call at a time for each worker.
  template <class Batch>
  void count(std::size_t worker, const Batch& edges) {
    const auto for_each_edge = [&](const auto& visit) {
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const auto edge = edges[i];
        visit(edge.source, edge.target);
      }
    };
    if (!is_dense_) {
      auto& table = tables_[worker];
      for_each_edge([&](VertexId source, VertexId target) {
        ++table[source].out_arcs;
        ++table[target].in_arcs;
      });
      return;
    }
    Array& array = arrays_[worker % arrays_.size()];
    // Undirected, both ends of an edge get the same two counts, so one array has their sum.
    std::uint32_t* const out = array.out.data();
    std::uint32_t* const in = is_directed_ ? array.in.data() : out;
    const IdRange range = range_;  // stays in registers across the counting
    if (arrays_.size() < num_workers_) {
      for_each_edge([&](VertexId source, VertexId target) {
        increment(out[range.offset(source)]);
        increment(in[range.offset(target)]);
      });
    } else {
      for_each_edge([&](VertexId source, VertexId target) {
        ++out[range.offset(source)];
        ++in[range.offset(target)];
      });
    }
  }

  /// Records ascending by id, also of the `bare` ids, which have no arcs of their own; `heat` is 1
  /// for vertices of the list `listed`, else 0. Undirected edges count as an in-arc and an out-arc
  /// at each end.
  std::vector<VertexRecord> finish(Context& context, const IdRuns& listed, const IdRuns& bare);

 private:
  struct Array {
    std::vector<std::uint32_t> in, out;
  };
  struct Counts {
    std::uint64_t in_arcs = 0, out_arcs = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  static void increment(std::uint32_t& count) {
    std::atomic_ref<std::uint32_t>(count).fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<VertexRecord> finish_dense(Context& context, const IdRuns& listed,
                                         const IdRuns& bare);
  std::vector<VertexRecord> finish_sparse(const IdRuns& listed, const IdRuns& bare);

  bool is_directed_;
  IdRange range_;
  std::size_t num_workers_;
  bool is_dense_ = false;
  std::vector<Array> arrays_;  // workers share them where one each would take too much
  std::vector<IdMap<Counts>> tables_;
};

/// Brings the counts of each vertex together on one rank; homes hold ascending runs of ids.
/// Collective.
std::vector<VertexRecord> gather_at_homes_of(Context& context, std::vector<VertexRecord> counted);

/// Shards by the rule, and this rank's vertices. `at_home`: see gather_at_homes_of. Collective.
struct ShardAssignment {
  ShardMap shards;
  std::vector<VertexRecord> own;
};
ShardAssignment assign_shards(Context& context, std::vector<VertexRecord> at_home,
                              std::optional<std::uint32_t> num_shards);

}  // namespace weir
