// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weir {

/// Global name of a vertex: any 64-bit integer. String ids are numbered in bytewise order at load.
using VertexId = std::int64_t;

/// Position of a vertex among the vertices one rank owns, ascending by shard, then by heat.
using Row = std::uint32_t;

/// Position of a published value in a rank's message array: own vertices and ghosts together.
using Slot = std::uint32_t;

/// Member of a context, 0 to size - 1: an MPI process, or a thread of this process.
using Rank = std::int32_t;

/// Number of a superstep, from 0.
using Superstep = std::int64_t;

/// Index of a shard, 0 to num_shards - 1; the same at any number of ranks.
using ShardIndex = std::uint32_t;

}  // namespace weir
