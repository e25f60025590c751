// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/load_graph.hpp>

#include <chrono>
#include <cstdio>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/cli/available_memory.hpp>
#include <weir/engine/graph/named_build.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/formats.hpp>
#include <weir/io/generator.hpp>

namespace weir::cli {

namespace {

constexpr std::int64_t most_shards = std::int64_t{1} << 20;

/// What of a header travels as it lies in memory.
struct PlainHeader {
  io::Format format;
  std::optional<bool> directed;
  bool has_weights;
  bool has_vertices;
  std::optional<std::uint64_t> num_vertices;
  std::optional<std::uint64_t> num_edges;
};

/// One rank's value on every rank. Collective.
template <class T>
std::vector<T> from_root(Context& context, std::span<const T> own) {
  return all_concatenate(context, context.is_root() ? own : std::span<const T>{});
}

/// Reads one rank's part of the input into a builder.
template <class Builder, class Vertex, class EdgeRecord, class Reader>
void read_part(Job& job, Reader& reader, Builder& builder, bool has_vertices) {
  if (has_vertices) {
    for (std::vector<Vertex> batch; reader.next(batch);) {
      job.throw_if_cancelled();
      builder.add_vertices(batch);
    }
  }
  std::uint64_t num_edges = 0;
  for (std::vector<EdgeRecord> batch; reader.next(batch); batch = {}) {
    job.throw_if_cancelled();
    num_edges += batch.size();
    if (job.is_root()) job.console.progress("reading: " + std::to_string(num_edges) + " edges");
    builder.add_edges(std::move(batch));
  }
}

/// Checks what the input promised of itself against what all parts found. Collective.
void verify(Context& context, const io::GraphReader& reader) {
  io::Tally total;
  for (const io::Tally& part : all_gather(context, reader.tally())) total += part;
  context.agree([&] {
    if (context.is_root()) reader.verify(total);
  });
}
void verify(Context&, const io::Generator&) {}

template <class E, class Vertex, class EdgeRecord, class Builder, class Reader>
Graph<E> read_graph(Job& job, Reader& reader, Builder builder, bool has_vertices) {
  if (has_vertices) builder.declare_vertex_list();
  job.context.agree(
      [&] { read_part<Builder, Vertex, EdgeRecord>(job, reader, builder, has_vertices); });
  verify(job.context, reader);
  return builder.finish();
}

template <class E, class Reader>
Graph<E> read_graph_of(Job& job, Reader& reader, const GraphOptions& options, bool has_vertices,
                       const BuildOptions& build) {
  if constexpr (std::is_same_v<Reader, io::GraphReader>) {
    if (options.files.string_ids) {
      return read_graph<E, std::string, NamedEdge<E>>(
          job, reader, NamedGraphBuilder<E>(job.context, build), has_vertices);
    }
  }
  return read_graph<E, VertexId, Edge<E>>(job, reader, GraphBuilder<E>(job.context, build),
                                          has_vertices);
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
LoadedGraph load_with(Job& job, Reader& reader, const GraphOptions& options,
                      const HeaderCheck& check) {
  const io::GraphHeader header = share_header(job.context, reader.header());
  if (check) check(header);
  expect_room(job.context, header);
  BuildOptions build = options.build;
  build.is_directed = options.is_directed.value_or(header.directed.value_or(true));
  build.progress = [&job](std::string_view phase, std::uint64_t num_edges) {
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
    if (options.files.weighted) {
      return read_graph_of<double>(job, reader, options, header.has_vertices, build);
    }
    return read_graph_of<NoValue>(job, reader, options, header.has_vertices, build);
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

io::GraphHeader share_header(Context& context, const io::GraphHeader& own) {
  using Property = std::pair<std::string, std::string>;
  const PlainHeader plain{own.format,       own.directed,     own.has_weights,
                          own.has_vertices, own.num_vertices, own.num_edges};
  const std::vector<Property> own_properties(own.properties.begin(), own.properties.end());
  const auto headers = from_root(context, std::span<const PlainHeader>(&plain, 1));
  const auto properties = from_root(context, std::span<const Property>(own_properties));
  const PlainHeader& root = headers.front();
  return {root.format,
          root.directed,
          root.has_weights,
          root.has_vertices,
          root.num_vertices,
          root.num_edges,
          {properties.begin(), properties.end()}};
}

LoadedGraph load_graph(Job& job, const GraphOptions& options, const HeaderCheck& check) {
  Context& context = job.context;
  const auto start = std::chrono::steady_clock::now();
  const auto timed = [&](LoadedGraph loaded) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    loaded.seconds = seconds.count();
    return loaded;
  };
  const io::Part part{context.rank(), context.size()};
  if (options.is_generated()) {
    std::optional<io::Generator> generator;
    context.agree([&] { generator.emplace(options.paths.front(), part); });
    return timed(load_with(job, *generator, options, check));
  }
  std::optional<io::GraphReader> reader;
  context.agree([&] { reader.emplace(options.paths, options.files, part); });
  try {
    return timed(load_with(job, *reader, options, check));
  } catch (const Error& error) {
    context.fail(error);  // does nothing if all ranks threw it together
    const auto vertex = unlisted_vertex(error, options);
    if (!vertex || context.failed_by()) throw;
    reader.reset();
    find_edge_at(job, options, *vertex);
    context.throw_agreed(error);
  }
}

}  // namespace weir::cli
