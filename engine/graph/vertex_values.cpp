// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/vertex_values.hpp>

#include <xxhash.h>

namespace weir::detail {

std::uint64_t hash_entry(VertexId id, std::span<const std::byte> value) {
  return XXH3_64bits_withSeed(value.data(), value.size(), static_cast<std::uint64_t>(id));
}

}  // namespace weir::detail
