// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weir/engine/schedule/topology.hpp>

namespace weir::schedule {

/// A cluster as ASTRA-sim's network YAML, which `read_topology` reads back: levels, their sizes,
/// bandwidths and latencies; neither names nor memory. Throws Error{usage} for a tree whose groups
/// of a level differ in size, which the format cannot say.
std::string astra_sim_text(const Topology& cluster);

}  // namespace weir::schedule
