// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weir/io/graph_reader.hpp>

namespace weir::io {

/// The files that the paths of a reading stand for.
struct GraphPaths {
  std::vector<std::string> edges;
  std::vector<std::string> vertices;              ///< .v files.
  std::map<std::string, std::string> properties;  ///< Of the .properties file beside them.
  bool is_graphalytics = false;
};

/// Finds the files of a Graphalytics graph given as `x.v x.e`, `x.e`, `x.properties` or, if there
/// is no file of that name, `x`. A lone `x.e` has no list of vertices. Throws Error{input}.
GraphPaths find_graph(const std::vector<std::string>& paths, Format format);

/// Reads `KEY = VALUE` lines; `graph.NAME.` is cut off the keys. Throws Error{input}.
std::map<std::string, std::string> read_properties(const std::string& path);
std::map<std::string, std::string> parse_properties(const Input& input);

}  // namespace weir::io
