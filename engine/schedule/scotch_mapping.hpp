// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <weir/engine/schedule/placement.hpp>

namespace weir::schedule {

/// Scotch's mapping of `num_ranks` ranks onto the first devices of a cluster, one each, where a
/// byte costs `level_costs` by the innermost common level; empty where the cluster is no regular
/// tree. The same for the same seed.
std::vector<std::uint32_t> map_by_scotch(std::size_t num_ranks, const std::vector<Traffic>& traffic,
                                         const Topology& cluster,
                                         const std::vector<double>& level_costs,
                                         std::uint64_t seed);

}  // namespace weir::schedule
