// SPDX-License-Identifier: Apache-2.0
// What all ready-made algorithms look like to a caller that chooses one at run time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/io/number_text.hpp>

namespace weir {

/// A graph whose edge values are a choice at run time: none, or float64.
using AnyGraph = std::variant<Graph<NoValue>, Graph<double>>;

/// What a user can ask of an algorithm; each reads what concerns it and documents it.
struct AlgorithmOptions {
  std::vector<VertexId> sources;          ///< bfs, sssp, betweenness; teleport set of pagerank
  std::optional<Superstep> iterations{};  ///< number, or cap where `tolerance` is given too
  std::optional<double> tolerance{};      ///< bound on the L1 change of pagerank
  double damping = 0.85;
  bool parents = false;  ///< bfs, sssp: the parent instead of the distance
  RunOptions run{};      ///< with the seed
};

/// Appends a vertex id to a text as its reader knows the vertex: in decimal, or by name.
using AppendId = std::function<void(VertexId, std::string&)>;

/// Values of any type as text, with what is said about the run.
struct AlgorithmResult {
  std::shared_ptr<const Vertices> vertices;
  /// Appends the value of an own row as text; every vertex id in it goes through the AppendId.
  std::function<void(Row, const AppendId&, std::string&)> append_value;
  std::uint64_t digest = 0;
  RunReport report;
  /// Present where the algorithm iterates towards a tolerance.
  std::optional<bool> has_converged;
  /// Totals worth saying, e.g. {"triangles", "45"}.
  std::vector<std::pair<std::string, std::string>> facts;
};

/// Which edge values an algorithm takes.
enum class EdgeValues { any, non_negative };

/// One ready-made algorithm.
struct Algorithm {
  std::string_view name;
  std::string_view summary;
  /// `sources` must not be empty.
  bool needs_sources = false;
  /// Runs on every rank. Collective.
  AlgorithmResult (*run)(const AnyGraph&, const AlgorithmOptions&) = nullptr;
  EdgeValues edge_values = EdgeValues::any;
};

/// All ready-made algorithms, one line each in programs.cpp.
std::span<const Algorithm> all_algorithms();
/// The one of this name, or null.
const Algorithm* find_algorithm(std::string_view name);

/// What values of the type VertexId are; `vertex_ids` are shown as names where there are names.
enum class Values { numbers, vertex_ids };

/// Makes the text form of values. Collective (the digest).
template <class V>
AlgorithmResult make_result(const VertexValues<V>& values, RunReport report,
                            Values kind = Values::numbers) {
  AlgorithmResult result;
  result.vertices = values.vertices();
  const auto shared = std::make_shared<const VertexValues<V>>(values);
  result.append_value = [shared, kind](Row row, const AppendId& append_id, std::string& text) {
    if constexpr (std::is_same_v<V, VertexId>) {
      if (kind == Values::vertex_ids) return append_id(shared->by_row(row), text);
    }
    io::append_number(text, shared->by_row(row));
  };
  result.digest = values.digest();
  result.report = std::move(report);
  return result;
}

/// Calls f(graph) with the typed graph.
template <class F>
AlgorithmResult with_graph(const AnyGraph& graph, const F& f) {
  return std::visit([&](const auto& typed) { return f(typed); }, graph);
}

/// Error{input} unless every id is a vertex of the graph. Collective; `role` begins its text.
template <class E>
void require_vertices(const Graph<E>& graph, std::span<const VertexId> ids, std::string_view role) {
  for (const VertexId id : ids) {
    const bool is_here = graph.vertices()->find(id).has_value();
    graph.context().expect(
        all_fold(graph.context(), Any{}, is_here), ErrorCode::input,
        std::string(role) + " vertex " + std::to_string(id) + " is not in the graph");
  }
}

}  // namespace weir
