// SPDX-License-Identifier: Apache-2.0
// Files to a graph in one call; `build_graph` is the way for any other source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/engine/graph/build.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/io/graph_reader.hpp>

namespace weir {

/// How files become a graph.
struct LoadOptions {
  io::GraphFileOptions file{};
  /// Direction of the edges; absent: what the file says, else directed.
  std::optional<bool> is_directed{};
  /// Its `is_directed` is set from the above.
  BuildOptions build{};
};

/// Reads a graph with integer ids from files that all ranks can open, each rank its share. `E` is
/// NoValue, or double to read edge values. Collective. Throws Error{input}.
template <class E>
Graph<E> load_graph(Context& context, std::vector<std::string> paths, LoadOptions options = {});

/// Reads values as `ID VALUE` lines for the vertices of a graph; those without a line get
/// `missing`. Collective. Error{input} for an id that is no vertex.
template <class E>
VertexValues<double> load_values(const Graph<E>& graph, const std::string& path,
                                 double missing = 0);

extern template Graph<NoValue> load_graph(Context&, std::vector<std::string>, LoadOptions);
extern template Graph<double> load_graph(Context&, std::vector<std::string>, LoadOptions);
extern template VertexValues<double> load_values(const Graph<NoValue>&, const std::string&, double);
extern template VertexValues<double> load_values(const Graph<double>&, const std::string&, double);

}  // namespace weir
