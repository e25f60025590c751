// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/collective_time.hpp>

#include <algorithm>
#include <bit>

namespace weir::training {

namespace {

bool spans_nodes(const GroupLinks& group) { return group.num_ranks > group.num_ranks_in_node; }

double slowest_bytes_per_second(const GroupLinks& group) {
  if (!spans_nodes(group)) return group.node_bytes_per_second;
  // A ring enters and leaves a node once, with what all its ranks there can move.
  const double network =
      group.network_bytes_per_second * static_cast<double>(group.num_ranks_in_node);
  return group.num_ranks_in_node > 1 ? std::min(group.node_bytes_per_second, network) : network;
}

double hop_seconds(const GroupLinks& group) {
  return spans_nodes(group) ? group.network_latency_seconds : group.node_latency_seconds;
}

double share_moved(std::int64_t num_ranks) {
  return static_cast<double>(num_ranks - 1) / static_cast<double>(num_ranks);
}

}  // namespace

double ring_all_gather_seconds(const GroupLinks& group, double bytes) {
  if (group.num_ranks <= 1) return 0;
  return share_moved(group.num_ranks) * bytes / slowest_bytes_per_second(group) +
         static_cast<double>(group.num_ranks - 1) * hop_seconds(group);
}

double ring_all_reduce_seconds(const GroupLinks& group, double bytes) {
  return 2 * ring_all_gather_seconds(group, bytes);
}

double tree_all_reduce_seconds(const GroupLinks& group, double bytes) {
  if (group.num_ranks <= 1) return 0;
  const auto depth =
      static_cast<double>(std::bit_width(static_cast<std::uint64_t>(group.num_ranks - 1)));
  return 2 * bytes / slowest_bytes_per_second(group) + 2.0 * depth * hop_seconds(group);
}

double hierarchical_all_reduce_seconds(const GroupLinks& group, double bytes) {
  GroupLinks inside = group;
  inside.num_ranks = group.num_ranks_in_node;
  GroupLinks across = group;
  across.num_ranks = group.num_nodes();
  across.num_ranks_in_node = 1;
  const double share = bytes / static_cast<double>(group.num_ranks_in_node);
  return ring_all_reduce_seconds(inside, bytes) + ring_all_reduce_seconds(across, share);
}

double all_to_all_seconds(const GroupLinks& group, double bytes, double network_share) {
  if (group.num_ranks <= 1) return 0;
  const auto n = static_cast<double>(group.num_ranks);
  const auto local = static_cast<double>(group.num_ranks_in_node);
  const double leaving = bytes * (n - local) / n * network_share;
  double inside = bytes * (local - 1) / n;
  // What is sent to a node once is multiplied there.
  if (network_share < 1 && local > 1) inside = bytes * (local - 1) / local;
  const double node = inside > 0 ? inside / group.node_bytes_per_second : 0;
  const double network = leaving > 0 ? leaving / group.network_bytes_per_second : 0;
  return std::max(node, network) + (n - 1) * hop_seconds(group);
}

}  // namespace weir::training
