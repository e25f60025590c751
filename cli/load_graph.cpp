// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/load_graph.hpp>

#include <chrono>
#include <cstdio>
#include <type_traits>
#include <utility>

#include <weir/cli/available_memory.hpp>
#include <weir/engine/graph/named_build.hpp>
#include <weir/engine/graph/reading.hpp>
#include <weir/engine/graph/stored_build.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/io/formats.hpp>
#include <weir/io/generator.hpp>

namespace weir::cli {

namespace {

constexpr std::int64_t most_shards = std::int64_t{1} << 20;

template <class E, class Reader>
Graph<E> read_graph(Context& context, RankReading<Reader>& reading, const GraphOptions& options,
                    const BuildOptions& build) {
  if constexpr (std::is_same_v<Reader, io::GraphReader>) {
    if (options.files.string_ids) {
      NamedGraphBuilder<E> builder(context, build);
      reading.template read_into<std::string, NamedEdge<E>>(builder, build.progress);
      return builder.finish();
    }
  }
  if (auto graph = build_stored<E>(context, reading, build)) return *std::move(graph);
  GraphBuilder<E> builder(context, build);
  reading.template read_into<VertexId, Edge<E>>(builder, build.progress);
  return builder.finish();
}

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / (1 << 30));
  return text;
}

/// Throws Error{input} where the promised vertices, without any edge, would not fit; before
/// anything is allocated for them. Collective.
void expect_room(Context& context, const io::GraphHeader& header) {
  constexpr double bytes_per_vertex = 48;  // of a graph that is built; building it takes more
  if (!header.num_vertices) return;
  const double share = static_cast<double>(context.ranks_on_host()) / context.size();
  const double needed = static_cast<double>(*header.num_vertices) * bytes_per_vertex * share;
  context.agree([&] {
    const auto available = available_memory_bytes();
    WEIR_EXPECT(!available || needed <= static_cast<double>(*available), input,
                "found " + std::to_string(*header.num_vertices) +
                    " vertices, which take at least " + gibibytes(needed) +
                    " on this host; expected a graph that fits in the " +
                    gibibytes(static_cast<double>(*available)) + " it has");
  });
}

template <class Reader>
LoadedGraph load_with(Job& job, RankReading<Reader>& reading, const GraphOptions& options,
                      const HeaderCheck& check) {
  const io::GraphHeader& header = reading.header();
  if (check) check(header);
  expect_room(job.context, header);
  BuildOptions build = options.build;
  build.is_directed = options.is_directed.value_or(header.directed.value_or(true));
  build.progress = [&job](std::string_view phase, std::uint64_t num_edges) {
    if (phase == "read") {
      job.throw_if_cancelled();  // all ranks agree on how the reading went
      if (job.is_root()) job.console.progress("reading: " + std::to_string(num_edges) + " edges");
      return;
    }
    if (job.is_root()) {
      job.console.progress("building: " + std::string(phase) + " " + std::to_string(num_edges) +
                           " edges");
    }
    if (!job.cancel.is_cancelled()) return;
    const Error error(ErrorCode::cancelled, "cancelled while loading");
    job.context.fail(error);  // the others are in the middle of an exchange
    throw error;
  };
  if (header.has_weights && !options.files.weighted) {
    job.warn("the edge values of the input are ignored; --weighted uses them");
  }
  AnyGraph graph = [&]() -> AnyGraph {
    if (options.files.weighted) return read_graph<double>(job.context, reading, options, build);
    return read_graph<NoValue>(job.context, reading, options, build);
  }();
  if (job.is_root()) job.console.end_progress();
  return {std::move(graph), header};
}

/// The vertex that the builder refused because no vertex list has it. The builder no longer knows
/// lines, and does not see files.
std::optional<std::string> unlisted_vertex(const Error& error, const GraphOptions& options) {
  constexpr std::string_view before = "found an edge at vertex ";
  constexpr std::string_view after = "; expected only vertices of the vertex list";
  std::string_view text = error.text();
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  for (const std::string& path : options.paths) {
    if (io::Input::is_pipe(path)) return std::nullopt;  // cannot be read again
  }
  text.remove_prefix(before.size());
  text.remove_suffix(after.size());
  if (options.files.string_ids) text = text.substr(1, text.size() - 2);  // in quotes
  return std::string(text);
}

/// Reads the edges once more and throws Error{input} at the line of the first that ends at the
/// vertex; returns if the format has no lines. Collective.
void find_edge_at(Job& job, const GraphOptions& options, const std::string& vertex) {
  io::GraphFileOptions files = options.files;
  files.unlisted_vertex = vertex;
  job.context.agree([&] {
    io::GraphReader reader(options.paths, files, {job.context.rank(), job.context.size()});
    const auto drain = [&](auto batch) {
      while (reader.next(batch)) job.throw_if_cancelled();
    };
    if (files.string_ids) return drain(std::vector<NamedEdge<NoValue>>{});
    drain(std::vector<Edge<NoValue>>{});
  });
}

}  // namespace

bool GraphOptions::is_generated() const {
  return paths.size() == 1 && io::is_generator_spec(paths.front());
}

std::vector<std::pair<std::string, io::Format>> format_words() {
  std::vector<std::pair<std::string, io::Format>> words{{"auto", io::Format::automatic}};
  for (const io::FormatEntry& entry : io::formats()) {
    words.emplace_back(std::string(entry.name), entry.format);
  }
  return words;
}

void declare_reading_options(OptionSet& options, GraphOptions& graph) {
  options.group("Reading");
  options.choice("--format", graph.files.format, format_words(),
                 "format of the files (default auto: by content and name)");
  options.flag("--header", graph.files.skip_header, "line 1 of an edge file is not data");
  options.choice("--ids", graph.files.string_ids, {{"integer", false}, {"string", true}},
                 "what names a vertex (default integer)");
  options.flag("--weighted", graph.files.weighted,
               "read and use edge values; without it each edge counts 1");
  options.whole_number("--vertices", graph.files.num_vertices, {0, INT64_MAX - 1},
                       "the vertices are 0 to N-1, with or without edges");
  const auto direct = [&graph](bool is_directed) {
    return [&graph, is_directed] {
      WEIR_EXPECT(!graph.is_directed || *graph.is_directed == is_directed, usage,
                  "--directed: found --undirected too; expected one of them");
      graph.is_directed = is_directed;
    };
  };
  options.flag("--directed", "an edge leads from its first vertex to its second", direct(true));
  options.flag("--undirected",
               "an edge leads both ways (default: what the input says, else directed)",
               direct(false));
}

void declare_building_options(OptionSet& options, GraphOptions& graph) {
  options.choice("--repeats", graph.build.repeats,
                 {{"keep", Repeats::keep}, {"merge", Repeats::merge}},
                 "repeated edges: keep all, or merge to the one of smallest value (default keep)");
  options.choice("--loops", graph.build.loops, {{"keep", Loops::keep}, {"drop", Loops::drop}},
                 "edges from a vertex to itself (default keep)");
  options.choice("--unknown", graph.build.unknown_vertices,
                 {{"refuse", UnknownVertices::refuse},
                  {"add", UnknownVertices::add},
                  {"drop", UnknownVertices::drop}},
                 "edges at vertices that the vertex list lacks: an error, add the vertex, or drop "
                 "the edge (default refuse)");
  options.whole_number("--shards", graph.build.num_shards, {1, most_shards},
                       "number of shards (default: by the size of the graph); results of inexact "
                       "sums depend on it in their last bits");
}

void check_graph_options(const GraphOptions& graph) {
  WEIR_EXPECT(!graph.files.string_ids || !graph.files.num_vertices, usage,
              "--vertices: found --ids string too; expected integer ids");
  for (const std::string& path : graph.paths) {
    WEIR_EXPECT(!path.empty(), usage, "GRAPH: found an empty name; expected a file");
  }
  if (!graph.is_generated()) {
    for (const std::string& path : graph.paths) {
      WEIR_EXPECT(!io::is_generator_spec(path), usage,
                  "GRAPH: found a generator among other inputs; expected it alone");
    }
    return;
  }
  WEIR_EXPECT(!graph.files.string_ids, usage,
              "--ids: found string for a generated graph; expected integer");
  WEIR_EXPECT(!graph.files.num_vertices, usage,
              "--vertices: found it for a generated graph; expected the generator's own count");
}

LoadedGraph load_graph(Job& job, const GraphOptions& options, const HeaderCheck& check) {
  Context& context = job.context;
  const auto start = std::chrono::steady_clock::now();
  const auto timed = [&](LoadedGraph loaded) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    loaded.seconds = seconds.count();
    return loaded;
  };
  if (options.is_generated()) {
    RankReading<io::Generator> reading(
        context, [&](io::Part part) { return io::Generator(options.paths.front(), part); });
    return timed(load_with(job, reading, options, check));
  }
  try {
    RankReading<io::GraphReader> reading(context, [&](io::Part part) {
      return io::GraphReader(options.paths, options.files, part);
    });
    return timed(load_with(job, reading, options, check));
  } catch (const Error& error) {
    context.fail(error);  // does nothing if all ranks threw it together
    const auto vertex = unlisted_vertex(error, options);
    if (!vertex || context.failed_by()) throw;
    find_edge_at(job, options, *vertex);
    context.throw_agreed(error);
  }
}

}  // namespace weir::cli
