// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <weir/engine/model/ids.hpp>

namespace weir {

/// Smallest and largest of some ids, and how many were seen.
struct IdRange {
  VertexId least = std::numeric_limits<VertexId>::max();
  VertexId greatest = std::numeric_limits<VertexId>::min();
  std::uint64_t num_seen = 0;

  void see(VertexId id) {
    least = std::min(least, id);
    greatest = std::max(greatest, id);
    ++num_seen;
  }
  void see(const IdRange& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
    num_seen += other.num_seen;
  }
  /// Difference of the greatest and the least; of some ids.
  std::uint64_t span() const {
    return static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
  }
  std::size_t offset(VertexId id) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(id) -
                                    static_cast<std::uint64_t>(least));
  }
  VertexId at(std::size_t offset) const {
    return static_cast<VertexId>(static_cast<std::uint64_t>(least) + offset);
  }
  /// An array over the range is no larger than a list of what was seen.
  bool is_dense() const { return num_seen > 0 && span() / 4 < num_seen; }
};

}  // namespace weir
