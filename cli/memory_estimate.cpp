// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/memory_estimate.hpp>

#include <algorithm>

#include <weir/engine/model/ids.hpp>

namespace weir::cli {

std::uint64_t most_memory_bytes(const GraphSize& size, std::uint64_t num_ranks) {
  constexpr std::uint64_t per_degree = 4;
  constexpr std::uint64_t per_offset = 8;
  constexpr std::uint64_t per_slot = sizeof(VertexId) + 2 * sizeof(Row);
  constexpr std::uint64_t per_vertex =
      sizeof(VertexId) + sizeof(Row) + 2 * per_degree + per_offset + per_slot;
  constexpr std::uint64_t per_rank = 64;
  const std::uint64_t ghosts = std::min(size.num_arcs, size.num_vertices * (num_ranks - 1));
  return (size.num_vertices * per_vertex) + (ghosts * per_slot) +
         (size.num_arcs * (sizeof(Slot) + size.bytes_per_value)) + (num_ranks * per_rank);
}

}  // namespace weir::cli
