// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/graph/build.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/tests/reference/random_graph.hpp>

/// What tests of graphs and supersteps share: ranks in this process, graphs from edge lists, and
/// graphs as text that is equal at any number of ranks.
namespace weir::cases {

inline constexpr Rank rank_counts[] = {1, 2, 3, 4, 7};

/// What body(context) returned on each rank. Waits end after half a minute.
template <class F>
auto on_ranks(Rank ranks, int threads, const F& body) {
  using Result = decltype(body(std::declval<Context&>()));
  std::vector<std::optional<Result>> results(static_cast<std::size_t>(ranks));
  const ContextOptions options{.threads = threads, .deadline = std::chrono::seconds(30)};
  run_in_process(ranks, options, [&](Context& context) {
    results[static_cast<std::size_t>(context.rank())].emplace(body(context));
  });
  std::vector<Result> all;
  for (auto& result : results) all.push_back(std::move(result.value()));
  return all;
}
template <class F>
auto on_ranks(Rank ranks, const F& body) {
  return on_ranks(ranks, 1, body);
}

/// A graph as a test writes it down.
template <class E>
struct Input {
  std::vector<Edge<E>> edges;
  std::vector<VertexId> vertices{};  ///< isolated ones
  BuildOptions options{};
  bool has_vertex_list = false;
};

inline Input<double> input_of(const reference::RandomGraph& graph) {
  return {graph.edges, graph.vertices, {.is_directed = graph.directed}};
}

/// Edge i and vertex i of the input on rank i mod R. Collective.
template <class E>
Graph<E> build(Context& context, const Input<E>& input) {
  GraphBuilder<E> builder(context, input.options);
  if (input.has_vertex_list) builder.declare_vertex_list();
  const auto mine = [&](std::size_t i) {
    return static_cast<Rank>(i % static_cast<std::size_t>(context.size())) == context.rank();
  };
  std::vector<Edge<E>> edges;
  std::vector<VertexId> vertices;
  for (std::size_t i = 0; i < input.edges.size(); ++i)
    if (mine(i)) edges.push_back(input.edges[i]);
  for (std::size_t i = 0; i < input.vertices.size(); ++i)
    if (mine(i)) vertices.push_back(input.vertices[i]);
  builder.add_vertices(vertices);
  builder.add_edges(std::move(edges));
  return builder.finish();
}

/// Numbers to the bit.
template <class T>
std::string text_of(const T& value) {
  std::ostringstream text;
  if constexpr (std::is_floating_point_v<T>) {
    text << std::hexfloat << value;
  } else if constexpr (std::is_same_v<T, NoValue>) {
    text << "-";
  } else if constexpr (std::is_same_v<T, std::string>) {
    text << value;
  } else if constexpr (requires { text << value; }) {
    text << +value;
  } else {
    for (const auto& each : value) text << text_of(each) << ",";
  }
  return text.str();
}

/// The texts of all ranks one after the other, on every rank. Collective.
inline std::string gather_text(Context& context, const std::string& own) {
  std::string all;
  for (const char c : all_concatenate(context, std::span<const char>(own))) all += c;
  return all;
}

template <class E>
void write_list(std::ostream& out, const Side<E>& side, std::uint64_t begin, std::uint64_t end) {
  out << " [";
  for (std::uint64_t i = begin; i < end; ++i)
    out << side.slots.ids[side.neighbours[i]] << ":" << text_of(side.values[i]) << " ";
  out << "]";
}

/// Shards, rows, degrees and neighbour lists of the whole graph. Collective.
template <class E>
std::string describe(const Graph<E>& graph) {
  const Vertices& own = *graph.vertices();
  const Side<E>& in = graph.side_for(Edges::out);
  const Side<E>& out_side = graph.side_for(Edges::in);
  const Side<E>& both = graph.side_for(Edges::both);
  std::ostringstream out;
  for (ShardIndex s = own.shards().begin; s < own.shards().end; ++s) {
    out << "shard " << s << "\n";
    for (Row row = own.first_row(s); row < own.first_row(s + 1); ++row) {
      out << "  " << own.id(row) << " in " << own.in_degree(row) << " out " << own.out_degree(row);
      write_list(out, in, in.first(row), in.last(row));
      write_list(out, out_side, out_side.first(row), out_side.last(row));
      write_list(out, both, both.first(row), both.split(row));
      write_list(out, both, both.split(row), both.last(row));
      out << "\n";
    }
  }
  std::ostringstream head;
  head << graph.num_vertices() << " vertices, " << graph.num_edges() << " edges, "
       << graph.num_arcs() << " arcs, " << graph.shards().num_shards() << " shards\n";
  return head.str() + gather_text(graph.context(), out.str());
}

}  // namespace weir::cases
