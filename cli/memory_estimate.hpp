// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weir::cli {

/// What is known of a graph before it is loaded.
struct GraphSize {
  std::uint64_t num_vertices = 0;
  std::uint64_t num_arcs = 0;         ///< An undirected edge is two.
  std::uint64_t bytes_per_value = 0;  ///< Of an arc; 0 without weights.
};

/// The bytes that the graph takes at most over all ranks once it is loaded, in one direction of
/// arcs, as `Graph::memory_bytes` counts them; where ids have gaps, a table of theirs comes on top.
/// On one rank it takes that much, unless edge values fit in fewer bytes. On several each keeps a
/// slot for every vertex of another that its arcs name: no more than there are arcs, nor than there
/// are vertices of others.
std::uint64_t most_memory_bytes(const GraphSize& size, std::uint64_t num_ranks);

}  // namespace weir::cli
