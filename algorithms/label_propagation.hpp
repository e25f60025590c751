// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct LabelPropagationOptions {
  Superstep iterations = 10;
  RunOptions run{};
};

/// Community detection by synchronous label propagation ([Iosup16], after [Raghavan07]). A vertex
/// counts again only when a neighbour changed its label; labels of the others stay readable.
struct LabelPropagationProgram {
  using Value = VertexId;
  using Message = VertexId;
  static constexpr Edges along_edges = Edges::both;
  static constexpr bool sticky = true;

  Superstep iterations = 10;

  Value init(const VertexInfo& v) const { return v.id; }

  void master(NoMaster&, MasterHandle<LabelPropagationProgram>& master) const {
    if (master.superstep() > iterations) master.halt();
  }

  void compute(VertexHandle auto& v, const auto& inbox) const {
    v.vote_to_halt();
    bool has_changed = v.superstep() == 0;
    if (!inbox.empty()) {
      const VertexId label = most_frequent(inbox, v.in_degree() + v.out_degree());
      has_changed |= label != v.value();
      v.value() = label;
    }
    if (has_changed && v.superstep() < iterations) v.scatter();
  }

 private:
  /// A label and how often it was seen; never 0 times.
  struct Entry {
    VertexId label;
    std::uint64_t count;
  };

  /// The label that occurs most often, the smallest of several: counted in an open hash table.
  /// `num_arcs`: no fewer than there are labels.
  static VertexId most_frequent(const auto& inbox, std::uint64_t num_arcs) {
    std::array<Entry, 256> small;  // most lists fit and need no allocation; filled below
    std::vector<Entry> large;
    const std::uint64_t size = std::bit_ceil(num_arcs + num_arcs / 2 + 1);
    if (size > small.size()) large.resize(size);
    Entry* const table = size > small.size() ? large.data() : small.data();
    const std::uint64_t mask = size - 1;
    std::fill_n(small.begin(), size > small.size() ? 0 : size, Entry{});
    Entry best{};
    for (const VertexId label : inbox) {
      std::uint64_t at = static_cast<std::uint64_t>(label) * 0x9e3779b97f4a7c15U >> 32;
      while (table[at &= mask].count != 0 && table[at].label != label) ++at;
      Entry& entry = table[at];
      entry = {label, entry.count + 1};
      if (entry.count > best.count || (entry.count == best.count && label < best.label))
        best = entry;
    }
    return best.label;
  }
};

/// Label of each vertex after the given number of synchronous steps, in each of which a vertex
/// takes the label most frequent among its arcs of either direction. Collective. Error{usage} for a
/// negative number.
RunResult<VertexId> label_propagation(const Graph<NoValue>& graph,
                                      const LabelPropagationOptions& options = {});
RunResult<VertexId> label_propagation(const Graph<double>& graph,
                                      const LabelPropagationOptions& options = {});

extern const Algorithm label_propagation_algorithm;

}  // namespace weir
