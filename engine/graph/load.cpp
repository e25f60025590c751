// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/load.hpp>

#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/value_reader.hpp>

namespace weir {

namespace {

io::Part part_of(const Context& context) { return {context.rank(), context.size()}; }

/// What rank 0 knows of the header; a pipe is read there alone.
struct SharedHeader {
  bool is_directed_known;
  bool is_directed;
  bool has_vertices;
};

}  // namespace

template <class E>
Graph<E> load_graph(Context& context, std::vector<std::string> paths, LoadOptions options) {
  std::optional<io::GraphReader> reader;
  options.file.weighted = !std::is_same_v<E, NoValue>;
  context.agree([&] { reader.emplace(std::move(paths), options.file, part_of(context)); });
  const io::GraphHeader& own = reader->header();
  const SharedHeader header =
      all_gather(context, SharedHeader{own.directed.has_value(), own.directed.value_or(true),
                                       own.has_vertices})
          .front();
  options.build.is_directed = options.is_directed.value_or(header.is_directed);

  GraphBuilder<E> builder(context, options.build);
  if (header.has_vertices) builder.declare_vertex_list();
  context.agree([&] {
    if (header.has_vertices) {
      for (std::vector<VertexId> batch; reader->next(batch);) builder.add_vertices(batch);
    }
    std::uint64_t num_edges = 0;
    for (std::vector<Edge<E>> batch; reader->next(batch); batch = {}) {
      num_edges += batch.size();
      if (options.build.progress) options.build.progress("read", num_edges);
      builder.add_edges(std::move(batch));
    }
  });
  io::Tally total;
  for (const io::Tally& tally : all_gather(context, reader->tally())) total += tally;
  context.agree([&] { reader->verify(total); });
  return builder.finish();
}

template <class E>
VertexValues<double> load_values(const Graph<E>& graph, const std::string& path, double missing) {
  Context& context = graph.context();
  using Entry = std::pair<VertexId, double>;
  std::vector<std::vector<Entry>> outgoing(static_cast<std::size_t>(context.size()));
  context.agree([&] {
    io::ValueReader reader(path, part_of(context));
    for (std::vector<Entry> batch; reader.next(batch);) {
      for (const Entry& entry : batch)
        outgoing[static_cast<std::size_t>(graph.shards().owner_of(entry.first))].push_back(entry);
    }
  });
  const auto incoming = exchange(context, std::move(outgoing));
  std::vector<detail::Cell<double>> cells(graph.vertices()->size(), {missing});
  context.agree([&] {
    for (const auto& entries : incoming) {
      for (const auto& [id, value] : entries) {
        const auto row = graph.vertices()->find(id);
        WEIR_EXPECT(row.has_value(), input,
                    path + ": found a value for " + std::to_string(id) +
                        "; expected a vertex of the graph");
        cells[*row].value = value;
      }
    }
  });
  return VertexValues<double>(context, graph.vertices(), graph.names(), std::move(cells));
}

template Graph<NoValue> load_graph(Context&, std::vector<std::string>, LoadOptions);
template Graph<double> load_graph(Context&, std::vector<std::string>, LoadOptions);
template VertexValues<double> load_values(const Graph<NoValue>&, const std::string&, double);
template VertexValues<double> load_values(const Graph<double>&, const std::string&, double);

}  // namespace weir
