// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
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
      const VertexId label = most_frequent(inbox);
      has_changed |= label != v.value();
      v.value() = label;
    }
    if (has_changed && v.superstep() < iterations) v.scatter();
  }

 private:
  /// The label that occurs most often, the smallest of several.
  static VertexId most_frequent(const auto& inbox) {
    std::array<std::byte, 2048> stack;  // most lists fit and need no allocation
    std::pmr::monotonic_buffer_resource memory(stack.data(), stack.size());
    std::pmr::vector<VertexId> labels(&memory);
    labels.reserve(stack.size() / sizeof(VertexId) / 2);
    for (const VertexId label : inbox) labels.push_back(label);
    std::sort(labels.begin(), labels.end());
    VertexId best = labels.front();
    std::uint64_t best_count = 0;
    for (auto first = labels.begin(); first != labels.end();) {
      const auto last = std::find_if(first, labels.end(), [&](VertexId x) { return x != *first; });
      const auto count = static_cast<std::uint64_t>(last - first);
      if (count > best_count) {
        best = *first;
        best_count = count;
      }
      first = last;
    }
    return best;
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
