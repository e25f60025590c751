// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/triangle_count.hpp>

namespace weir {

std::int64_t num_common(std::span<const VertexId> a, std::span<const VertexId> b) {
  if (a.size() > b.size()) std::swap(a, b);
  std::int64_t count = 0;
  auto at = b.begin();
  if (b.size() / 16 > a.size()) {  // looking up beats walking through
    for (const VertexId id : a) {
      at = std::lower_bound(at, b.end(), id);
      if (at == b.end()) break;
      if (*at == id) ++count;
    }
    return count;
  }
  for (const VertexId id : a) {
    while (at != b.end() && *at < id) ++at;
    if (at == b.end()) break;
    if (*at == id) ++count;
  }
  return count;
}

namespace {

template <class E>
RunResult<std::int64_t> count(const Graph<E>& graph, const TriangleCountOptions& options) {
  auto [values, report] = run(graph, NeighbourhoodProgram{}, options.run);
  return {values.transform([](const auto& value) { return value.num_joined; }), std::move(report)};
}

}  // namespace

RunResult<std::int64_t> triangle_count(const Graph<NoValue>& graph,
                                       const TriangleCountOptions& options) {
  return count(graph, options);
}
RunResult<std::int64_t> triangle_count(const Graph<double>& graph,
                                       const TriangleCountOptions& options) {
  return count(graph, options);
}

std::uint64_t num_triangles(const VertexValues<std::int64_t>& counts) {
  std::uint64_t num_corners = 0;
  counts.for_each([&](VertexId, std::int64_t at_vertex) {
    num_corners += static_cast<std::uint64_t>(at_vertex);
  });
  return all_fold(counts.context(), Sum<std::uint64_t>{}, num_corners) / 3;
}

constinit const Algorithm triangle_count_algorithm{
    "triangles", "triangles at each vertex, and in all", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [counts, report] = triangle_count(typed, {options.run});
        AlgorithmResult result = make_result(counts, std::move(report));
        result.facts.emplace_back("triangles", std::to_string(num_triangles(counts)));
        return result;
      });
    }};

}  // namespace weir
