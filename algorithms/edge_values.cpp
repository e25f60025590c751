// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/edge_values.hpp>

#include <cmath>
#include <string>

#include <weir/engine/runtime/context.hpp>
#include <weir/io/number_text.hpp>

namespace weir {

namespace {

/// The fault of an edge value, or null.
const char* fault_of(double value) {
  if (!std::isfinite(value)) return "a weight that is not finite";
  return value < 0 ? "a negative weight" : nullptr;
}

}  // namespace

void require_non_negative(const Graph<double>& graph, std::string_view algorithm) {
  const Side<double>& side = graph.side_for(Edges::out);
  const Vertices& vertices = *graph.vertices();
  graph.context().agree([&] {
    for (const Row row : vertices.rows_by_id()) {
      for (std::uint64_t i = side.first(row); i < side.last(row); ++i) {
        const char* const fault = fault_of(side.values[i]);
        if (fault == nullptr) continue;
        std::string text = std::string(algorithm) + ": found " + fault + ", ";
        io::append_number(text, side.values[i]);
        text += ", on the edge from vertex " + std::to_string(side.slots.ids[side.neighbours[i]]) +
                " to vertex " + std::to_string(vertices.id(row)) +
                "; expected weights of 0 or more";
        throw Error(ErrorCode::input, text);
      }
    }
  });
}

}  // namespace weir
