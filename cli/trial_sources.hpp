// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <weir/algorithms/algorithm.hpp>

namespace weir::cli {

/// A vertex to start a trial from.
struct TrialSource {
  std::string name;  ///< As the user knows it.
  VertexId id = 0;
};

/// The positions that the GAP suite's SourcePicker draws for a graph of so many vertices
/// ([Beamer15], src/benchmark.h): mt19937_64 of its fixed seed, its 32-bit draw without bias.
class GapDraw {
 public:
  /// `num_vertices` is at least 1; above 2^32, which GAP does not reach, 64 bits are drawn.
  explicit GapDraw(std::uint64_t num_vertices);
  std::uint64_t operator()();

 private:
  std::mt19937_64 random_;
  std::uint64_t num_vertices_;
  std::uint64_t mask_;
  std::uint64_t cutoff_;  // draws from here on are rejected; 0: none is
};

/// Sources of `count` trials: vertices of at least one out-arc, drawn as GAP draws them from the
/// ascending list of ids. Where ids are 0 to n-1 they are GAP's own sources. A graph without arcs
/// gives its first vertices drawn; one without vertices gives none. Collective.
std::vector<TrialSource> draw_sources(const AnyGraph& graph, int count);

}  // namespace weir::cli
