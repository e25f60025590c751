// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weir/engine/superstep/block.hpp>

namespace weir {

/// The neighbours of every own vertex of a block along Edges::both as *simple* means them: over
/// arcs of either direction, each once, the vertex itself left out (docs/semantics.md, part 9).
///
/// Where the lists of the block are that already, they are read as they are. Outlived by the block.
class Neighbourhoods {
 public:
  Neighbourhoods() = default;
  explicit Neighbourhoods(const Block& block);

  /// Ascending.
  std::span<const Slot> of(Row row) const {
    if (offsets_.empty()) return block_->neighbours(row);
    return std::span(neighbours_).subspan(offsets_[row], size(row));
  }
  /// For each neighbour, 1 when arcs lead both ways and 0 otherwise; empty for an undirected graph,
  /// where they always do.
  std::span<const std::uint8_t> mutual(Row row) const {
    if (mutual_.empty()) return {};
    return std::span(mutual_).subspan(offsets_[row], size(row));
  }

 private:
  std::size_t size(Row row) const { return offsets_[row + std::size_t{1}] - offsets_[row]; }
  bool are_lists_simple() const;
  void make_lists();

  const Block* block_ = nullptr;
  std::vector<std::uint64_t> offsets_;  // empty: the lists of the block are simple
  std::vector<Slot> neighbours_;
  std::vector<std::uint8_t> mutual_;
};

}  // namespace weir
