// SPDX-License-Identifier: Apache-2.0
// From each rank's edges to shards: count the arcs of every vertex, bring the counts of one vertex
// together, and cut the ids into shards by weight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weir/engine/graph/shard_map.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// Counts arcs per end point over one rank's edges, in two passes: `see` everything, `begin`,
/// `count` everything, `finish`. Local; uses an array over the id range where that is smaller than
/// a list.
class EndPointCounter {
 public:
  explicit EndPointCounter(bool is_directed) : is_directed_(is_directed) {}

  void see(VertexId source, VertexId target) {
    see_id(source);
    see_id(target);
    num_seen_ += 2;
  }
  void see_vertices(std::span<const VertexId> ids) {
    for (const VertexId id : ids) see_id(id);
    num_seen_ += ids.size();
  }
  void begin();
  void count(VertexId source, VertexId target) {
    if (is_dense_) {
      ++dense_out_[offset(source)];
      ++dense_in_[offset(target)];
      return;
    }
    sparse_.push_back({source, 0, 1, 0});
    sparse_.push_back({target, 1, 0, 0});
    if (sparse_.size() >= compact_at_) compact();
  }
  /// Records ascending by id, also of the `bare` ids, which have no arcs of their own; `heat` is 1
  /// for vertices of the list `listed`, else 0. Undirected edges count as an in-arc and an out-arc
  /// at each end.
  std::vector<VertexRecord> finish(std::span<const VertexId> listed,
                                   std::span<const VertexId> bare);

 private:
  void see_id(VertexId id) {
    least_ = id < least_ ? id : least_;
    greatest_ = id > greatest_ ? id : greatest_;
  }
  std::size_t offset(VertexId id) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(id) -
                                    static_cast<std::uint64_t>(least_));
  }
  void compact();

  bool is_directed_;
  bool is_dense_ = false;
  VertexId least_ = INT64_MAX;
  VertexId greatest_ = INT64_MIN;
  std::uint64_t num_seen_ = 0;
  std::vector<std::uint32_t> dense_in_;
  std::vector<std::uint32_t> dense_out_;
  std::vector<VertexRecord> sparse_;
  std::size_t compact_at_ = std::size_t{1} << 22;
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
