// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/cli/job.hpp>
#include <weir/engine/graph/build.hpp>
#include <weir/io/graph_reader.hpp>

namespace weir::cli {

/// Which graph, and how to read it.
struct GraphOptions {
  std::vector<std::string> paths;  ///< Files, or one generator spec.
  io::GraphFileOptions files{};
  BuildOptions build{};
  std::optional<bool> is_directed{};

  bool is_generated() const;
};

/// A graph in memory, and what its input said about it.
struct LoadedGraph {
  AnyGraph graph;
  io::GraphHeader header;
  double seconds = 0;
};

/// Options of reading: --format, --header, --ids, --weighted, --vertices, --directed, --undirected.
void declare_reading_options(OptionSet& options, GraphOptions& graph);
/// Options of building: --repeats, --loops, --unknown, --shards.
void declare_building_options(OptionSet& options, GraphOptions& graph);
/// Faults of the options together. Throws Error{usage}.
void check_graph_options(const GraphOptions& graph);

/// The names of the formats, for help texts.
std::vector<std::pair<std::string, io::Format>> format_words();

/// Looks at what the input says before its edges are read. The same on every rank; may throw.
using HeaderCheck = std::function<void(const io::GraphHeader&)>;

/// Reads and builds the graph. Collective. Throws Error{input} for what is wrong with it.
LoadedGraph load_graph(Job& job, const GraphOptions& options, const HeaderCheck& check = {});

}  // namespace weir::cli
