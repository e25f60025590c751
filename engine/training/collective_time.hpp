// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weir::training {

/// A group of ranks in a cluster of nodes, and what a rank of it can move.
struct GroupLinks {
  std::int64_t num_ranks = 1;
  std::int64_t num_ranks_in_node = 1;  ///< Of the group, on each node it has ranks on.
  double node_bytes_per_second = 0;    ///< Inside a node, per rank.
  double node_latency_seconds = 0;
  double network_bytes_per_second = 0;  ///< Out of a node, per rank.
  double network_latency_seconds = 0;

  std::int64_t num_nodes() const { return num_ranks / num_ranks_in_node; }
};

/// Seconds of an all-reduce over one ring: 2(n-1)/n of the bytes over the slowest link, 2(n-1) hops
/// ([Patarasuk09]).
double ring_all_reduce_seconds(const GroupLinks& group, double bytes);
/// Over a double binary tree: 2 of the bytes, 2 log2(n) hops ([Sanders09]).
double tree_all_reduce_seconds(const GroupLinks& group, double bytes);
/// Reduce-scatter inside the node, all-reduce of the shares between nodes, all-gather inside.
double hierarchical_all_reduce_seconds(const GroupLinks& group, double bytes);
/// All-gather, or reduce-scatter, over one ring: half an all-reduce. `bytes` of the whole.
double ring_all_gather_seconds(const GroupLinks& group, double bytes);

/// Every rank sends `bytes` in all, as much to each rank as to any, itself included. Between nodes
/// a share of what would go there is enough where receivers pass it on inside (1: all of it,
/// [DeepSeek24]); what stays in and what leaves a node travels at once.
double all_to_all_seconds(const GroupLinks& group, double bytes, double network_share = 1);

}  // namespace weir::training
