// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/load.hpp>

#include <weir/engine/graph/reading.hpp>
#include <weir/engine/graph/stored_build.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/value_reader.hpp>

namespace weir {

namespace {

io::Part part_of(const Context& context) { return {context.rank(), context.size()}; }

}  // namespace

template <class E>
Graph<E> load_graph(Context& context, std::vector<std::string> paths, LoadOptions options) {
  options.file.weighted = !std::is_same_v<E, NoValue>;
  RankReading<io::GraphReader> reading(
      context, [&](io::Part part) { return io::GraphReader(paths, options.file, part); });
  options.build.is_directed =
      options.is_directed.value_or(reading.header().directed.value_or(true));
  if (auto graph = build_stored<E>(context, reading, options.build)) return *std::move(graph);
  GraphBuilder<E> builder(context, options.build);
  reading.read_into<VertexId, Edge<E>>(builder, options.build.progress);
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
  PlainVector<detail::Cell<double>> cells(graph.vertices()->size(), {missing});
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
