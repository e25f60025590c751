// SPDX-License-Identifier: Apache-2.0
// Which process of a graph job is which rank. Ranks own consecutive shards; processes are on hosts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weir/engine/schedule/placement.hpp>

namespace weir::schedule {

/// The process of each rank; every process once. Rank 0 is process 0, which reads standard input
/// and writes results.
using ProcessOfRank = std::vector<std::uint32_t>;

/// Consecutive ranks on one host, hosts in the order of their first process.
/// `host_of_process`: hosts by number, from 0.
ProcessOfRank packed_processes(std::span<const std::uint32_t> host_of_process);

/// Rank after rank on the next host that has a process left.
ProcessOfRank round_robin_processes(std::span<const std::uint32_t> host_of_process);

/// The fewest bytes between hosts that `place` and the orders above find; of equally few the order
/// of the processes themselves, then packed, then round-robin. The same for the same input.
/// Throws Error{usage} for traffic of a rank that is not there.
ProcessOfRank placed_processes(std::span<const std::uint32_t> host_of_process,
                               const std::vector<Traffic>& traffic);

/// Bytes of the traffic whose two ranks are on different hosts.
double bytes_between_hosts(const std::vector<Traffic>& traffic,
                           std::span<const std::uint32_t> host_of_process,
                           const ProcessOfRank& process_of_rank);

}  // namespace weir::schedule
