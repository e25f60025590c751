// SPDX-License-Identifier: Apache-2.0
// Runs one job at every number of ranks and threads and in every direction, and asks for equal
// bits.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/graph/build.hpp>
#include <weir/engine/superstep/run.hpp>
#include <weir/tests/reference/reference.hpp>

namespace weir::test {

/// Input of a test, as the engine and the oracles read it.
struct TestGraph {
  std::string name;
  std::vector<VertexId> vertices;  ///< may lack end points of edges
  std::vector<Edge<double>> edges;
  bool is_directed = true;
  Repeats repeats = Repeats::keep;
  Loops loops = Loops::keep;
  std::optional<std::uint32_t> num_shards{};
};

/// The same vertices and edges the other way to read them.
inline TestGraph as_directed(TestGraph graph) {
  graph.is_directed = true;
  return graph;
}
inline TestGraph as_undirected(TestGraph graph) {
  graph.is_directed = false;
  return graph;
}

/// Unweighted edges by their end points, e.g. {{1, 2}, {2, 3}}.
inline std::vector<Edge<double>> edges_of(
    std::initializer_list<std::pair<VertexId, VertexId>> ends) {
  std::vector<Edge<double>> edges;
  for (const auto& [source, target] : ends) edges.push_back({source, target, 1.0});
  return edges;
}

/// What the oracles read.
inline reference::SerialGraph serial(const TestGraph& graph) {
  reference::BuildOptions options;
  options.direction =
      graph.is_directed ? reference::Direction::directed : reference::Direction::undirected;
  if (graph.repeats == Repeats::merge) options.repeats = reference::Repeats::merge;
  if (graph.loops == Loops::drop) options.loops = reference::Loops::drop;
  return reference::serial_graph(graph.vertices, graph.edges, options);
}

/// This rank's slice of the records.
template <class T>
std::vector<T> slice(const Context& context, const std::vector<T>& records) {
  const auto rank = static_cast<std::size_t>(context.rank());
  const auto size = static_cast<std::size_t>(context.size());
  const auto at = [&](std::size_t r) {
    return records.begin() + static_cast<std::ptrdiff_t>(records.size() * r / size);
  };
  return {at(rank), at(rank + 1)};
}

/// The engine's graph, edges and vertices dealt to the ranks by slices. Collective.
template <class E>
Graph<E> engine_graph(Context& context, const TestGraph& graph) {
  BuildOptions options;
  options.is_directed = graph.is_directed;
  options.repeats = graph.repeats;
  options.loops = graph.loops;
  options.num_shards = graph.num_shards;
  options.unknown_vertices = UnknownVertices::add;
  GraphBuilder<E> builder(context, options);
  builder.declare_vertex_list();
  builder.add_vertices(slice(context, graph.vertices));
  std::vector<Edge<E>> edges;
  for (const Edge<double>& edge : slice(context, graph.edges)) {
    if constexpr (std::is_same_v<E, NoValue>) {
      edges.push_back({edge.source, edge.target, {}});
    } else {
      edges.push_back({edge.source, edge.target, static_cast<E>(edge.value)});
    }
  }
  builder.add_edges(std::move(edges));
  return builder.finish();
}

/// Where a job runs.
struct Cell {
  Rank ranks = 1;
  int threads = 1;
  Direction direction = Direction::automatic;
  schedule::StragglerRule speculation = schedule::StragglerRule::progress_rate;
};

inline std::string text_of(const Cell& cell) {
  const char* direction = cell.direction == Direction::push   ? "push"
                          : cell.direction == Direction::pull ? "pull"
                                                              : "automatic";
  return std::to_string(cell.ranks) + " ranks, " + std::to_string(cell.threads) + " threads, " +
         direction + ", speculation " + std::string(schedule::name_of(cell.speculation));
}

/// 1, 2, 3, 4 and 7 ranks, each with 1 and 2 threads, pushing, pulling and by choice; some with
/// every shard computed by another rank, too.
inline std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const Rank ranks : {1, 2, 3, 4, 7}) {
    for (const int threads : {1, 2}) {
      for (const auto direction : {Direction::automatic, Direction::push, Direction::pull})
        cells.push_back({ranks, threads, direction});
      if (ranks > 1 && ranks + threads <= 5)
        cells.push_back({ranks, threads, Direction::automatic, schedule::StragglerRule::forced});
    }
  }
  return cells;
}

/// For large graphs: every number of ranks, every direction and both numbers of threads, but not
/// every combination.
inline std::vector<Cell> few_cells() {
  return {{1, 1, Direction::automatic},
          {1, 2, Direction::pull},
          {2, 1, Direction::push},
          {3, 2, Direction::automatic},
          {4, 1, Direction::pull},
          {7, 1, Direction::automatic},
          {3, 2, Direction::automatic, schedule::StragglerRule::forced}};
}

/// What a job gave in every cell.
template <class V>
struct MatrixResult {
  std::vector<VertexId> ids;  ///< ascending
  std::vector<V> values;
  std::uint64_t digest = 0;
  RunReport report;  ///< of the first cell; empty where the job returns values alone
};

namespace detail {

template <class V>
bool same_bits(const V& a, const V& b) {
  if constexpr (std::is_floating_point_v<V>) {
    return std::memcmp(&a, &b, sizeof(V)) == 0;
  } else {
    return a == b;
  }
}

template <class V>
VertexValues<V> values_of(VertexValues<V> values, RunReport&) {
  return values;
}
template <class V>
VertexValues<V> values_of(RunResult<V> result, RunReport& report) {
  report = std::move(result.report);
  return std::move(result.values);
}

template <class V>
void expect_same(const MatrixResult<V>& found, const MatrixResult<V>& first) {
  EXPECT_EQ(found.digest, first.digest);
  if (found.report.is_synchronous && first.report.is_synchronous) {
    EXPECT_EQ(found.report.num_supersteps, first.report.num_supersteps);
    EXPECT_EQ(found.report.num_messages, first.report.num_messages);
  }
  EXPECT_EQ(found.report.num_dropped, first.report.num_dropped);
  EXPECT_EQ(found.report.ending, first.report.ending);
  ASSERT_EQ(found.ids, first.ids);
  for (std::size_t v = 0; v < first.ids.size(); ++v) {
    ASSERT_TRUE(same_bits(found.values[v], first.values[v])) << "vertex " << first.ids[v];
  }
}

}  // namespace detail

/// Options of a context that turn a hang into an error.
inline ContextOptions watched(int threads) {
  ContextOptions options;
  options.threads = threads;
  options.deadline = std::chrono::seconds(120);
  return options;
}

/// V of a job(graph, run_options) that returns VertexValues<V> or RunResult<V>.
template <class E, class Job>
using JobValue =
    std::remove_cvref_t<decltype(detail::values_of(
                                     std::declval<const Job&>()(std::declval<const Graph<E>&>(),
                                                                std::declval<const RunOptions&>()),
                                     std::declval<RunReport&>())
                                     .by_row(0))>;

/// Runs a job on a loaded graph; every rank gets the whole result. Collective.
template <class E, class Job>
MatrixResult<JobValue<E, Job>> run_cell(const Graph<E>& loaded, const Job& job, const Cell& cell) {
  RunOptions options;
  options.direction = cell.direction;
  options.speculation.rule = cell.speculation;
  MatrixResult<JobValue<E, Job>> result;
  const auto values = detail::values_of(job(loaded, options), result.report);
  if constexpr (Digestible<JobValue<E, Job>>) result.digest = values.digest();
  for (auto& [id, value] : values.gather()) {
    result.ids.push_back(id);
    result.values.push_back(std::move(value));
  }
  return result;
}

/// Runs job(graph, run_options), which returns VertexValues<V> or RunResult<V>, in every cell. All
/// cells must give the same bits, digests and counts; returns what the first gave, ids ascending.
/// Cells with equal ranks and threads that follow each other share one loaded graph.
template <class E, class Job>
auto run_matrix(const TestGraph& graph, const Job& job,
                const std::vector<Cell>& cells = all_cells()) {
  SCOPED_TRACE("graph " + graph.name);
  std::vector<MatrixResult<JobValue<E, Job>>> results(cells.size());
  const auto run_cells = [&](std::size_t begin, std::size_t end) {
    run_in_process(cells[begin].ranks, watched(cells[begin].threads), [&](Context& context) {
      const Graph<E> loaded = engine_graph<E>(context, graph);
      for (std::size_t i = begin; i < end; ++i) {
        auto own = run_cell<E>(loaded, job, cells[i]);
        if (context.is_root()) results[i] = std::move(own);
      }
    });
  };
  for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
    while (end < cells.size() && cells[end].ranks == cells[begin].ranks &&
           cells[end].threads == cells[begin].threads)
      ++end;
    run_cells(begin, end);
  }
  for (std::size_t i = 1; i < cells.size(); ++i) {
    SCOPED_TRACE(text_of(cells[i]) + " against " + text_of(cells[0]));
    detail::expect_same(results[i], results[0]);
  }
  return std::move(results[0]);
}

/// Runs job(graph, run_options) on 1, 2 and 4 ranks and expects Error{code} whose text holds `part`
/// on every one of them.
template <class E, class Job>
void expect_error(const TestGraph& graph, ErrorCode code, const std::string& part, const Job& job) {
  SCOPED_TRACE("graph " + graph.name);
  for (const Rank ranks : {1, 2, 4}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    std::vector<std::string> texts(static_cast<std::size_t>(ranks));
    run_in_process(ranks, watched(1), [&](Context& context) {
      const Graph<E> loaded = engine_graph<E>(context, graph);
      try {
        job(loaded, RunOptions{});
        ADD_FAILURE() << "rank " << context.rank() << " got a result";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        texts[static_cast<std::size_t>(context.rank())] = error.what();
      }
    });
    for (const std::string& text : texts) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
      EXPECT_EQ(text, texts[0]);
    }
  }
}

/// Equal to what an oracle says, vertex by vertex; `epsilon` relative, 0 asks for equal values.
template <class V>
void expect_values(const MatrixResult<V>& found, const reference::SerialGraph& graph,
                   const std::vector<V>& expected, double epsilon = 0) {
  ASSERT_EQ(found.ids, graph.ids);
  ASSERT_EQ(found.values.size(), expected.size());
  for (std::size_t v = 0; v < expected.size(); ++v) {
    if constexpr (std::is_floating_point_v<V>) {
      if (found.values[v] == expected[v]) continue;
      ASSERT_NEAR(found.values[v], expected[v], epsilon * std::abs(expected[v]))
          << "vertex " << found.ids[v];
    } else {
      ASSERT_EQ(found.values[v], expected[v]) << "vertex " << found.ids[v];
    }
  }
}

/// Small graphs typed in by hand: what breaks engines. Weights are multiples of 1/4.
inline std::vector<TestGraph> typed_graphs() {
  const std::vector<Edge<double>> path = {{1, 2, 0.5}, {2, 3, 1}, {3, 4, 0},   {4, 5, 2.25},
                                          {5, 6, 1},   {6, 7, 3}, {7, 8, 0.25}};
  const std::vector<Edge<double>> loops = {{1, 1, 1}, {1, 2, 2},     {2, 2, 0.5}, {2, 2, 0.25},
                                           {2, 3, 1}, {3, 1, 0.125}, {4, 4, 1}};
  const std::vector<Edge<double>> repeats = {{1, 2, 2}, {1, 2, 0.5},  {2, 1, 1},
                                             {2, 3, 1}, {2, 3, 1},    {3, 2, 4},
                                             {3, 4, 1}, {1, 3, 0.75}, {1, 3, 0.75}};
  const std::vector<Edge<double>> two_parts = {{10, 11, 1}, {11, 12, 1}, {12, 10, 1}, {-5, -4, 2},
                                               {-4, -3, 2}, {-3, -5, 2}, {-3, -2, 0}};
  std::vector<Edge<double>> star_out, star_in, complete;
  for (VertexId leaf = 1; leaf <= 40; ++leaf) {
    star_out.push_back({0, leaf, static_cast<double>(leaf % 5)});
    star_in.push_back({leaf, 0, static_cast<double>(leaf % 3)});
  }
  for (VertexId a = 0; a < 6; ++a) {
    for (VertexId b = a + 1; b < 6; ++b) complete.push_back({a, b, static_cast<double>(a + b)});
  }
  std::vector<TestGraph> graphs;
  const auto add = [&](const char* name, std::vector<VertexId> vertices,
                       const std::vector<Edge<double>>& edges) {
    graphs.push_back({std::string(name) + ", directed", vertices, edges, true});
    graphs.push_back({std::string(name) + ", undirected", std::move(vertices), edges, false});
  };
  add("empty", {}, {});
  add("one vertex", {7}, {});
  add("one loop", {7}, {{7, 7, 1}});
  add("no edges", {5, 3, 9, -1}, {});
  add("two vertices", {}, {{2, 1, 1.5}});  // fewer than ranks
  add("path", {}, path);
  add("star from the hub", {}, star_out);
  add("star to the hub", {}, star_in);
  add("loops", {}, loops);
  add("repeats", {}, repeats);
  add("two components", {}, two_parts);
  add("isolated vertices", {100, 1, 50, 3, -100}, {{1, 3, 1}, {3, 50, 0.5}});
  add("complete", {}, complete);
  graphs.push_back({"repeats merged", {}, repeats, true, Repeats::merge, Loops::keep});
  graphs.push_back({"repeats merged, undirected", {}, repeats, false, Repeats::merge, Loops::keep});
  graphs.push_back({"loops dropped", {4}, loops, true, Repeats::keep, Loops::drop});
  graphs.push_back({"one shard", {}, repeats, true, Repeats::keep, Loops::keep, 1});
  graphs.push_back(
      {"more shards than vertices", {}, two_parts, false, Repeats::keep, Loops::keep, 64});
  return graphs;
}

/// The random graphs of seeds first to last, each directed and undirected.
inline std::vector<TestGraph> random_graphs(std::uint64_t first, std::uint64_t last) {
  std::vector<TestGraph> graphs;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const reference::RandomGraph random = reference::random_graph(seed);
    const std::string name = "random " + std::to_string(seed);
    graphs.push_back({name + ", directed", random.vertices, random.edges, true});
    graphs.push_back({name + ", undirected", random.vertices, random.edges, false});
  }
  return graphs;
}

/// Typed and random graphs.
inline std::vector<TestGraph> small_graphs() {
  std::vector<TestGraph> graphs = typed_graphs();
  for (TestGraph& graph : random_graphs(1, 10)) graphs.push_back(std::move(graph));
  return graphs;
}

/// Up to `count` vertices of a graph, spread over its ids; none where it has none.
inline std::vector<VertexId> some_vertices(const reference::SerialGraph& graph, std::size_t count) {
  std::vector<VertexId> chosen;
  for (std::size_t i = 0; i < count && i < graph.size(); ++i)
    chosen.push_back(graph.ids[i * graph.size() / count]);
  return chosen;
}

/// A graph of the shared data: NAME.v and NAME.e.
inline TestGraph data_graph(const std::filesystem::path& stem, bool is_directed) {
  return {stem.filename().string(), reference::read_vertices(stem.string() + ".v"),
          reference::read_edges(stem.string() + ".e"), is_directed};
}

}  // namespace weir::test
