// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/ids.hpp>
#include <weir/tests/reference/serial_graph.hpp>

/// A reader of Graphalytics text and of reference outputs for tests; independent of weir's io.
namespace weir::reference {

/// The folder of shared test data: WEIR_TEST_DATA of the environment, else `../shared/data` beside
/// the source root; nothing where there is none.
inline std::optional<std::filesystem::path> data_folder() {
#ifdef WEIR_SOURCE_DIR
  const std::filesystem::path root = WEIR_SOURCE_DIR;
#else
  const auto root = std::filesystem::weakly_canonical(__FILE__).parent_path() / ".." / "..";
#endif
  const char* chosen = std::getenv("WEIR_TEST_DATA");
  const auto folder = chosen != nullptr ? std::filesystem::path(chosen)
                                        : (root / ".." / "shared" / "data").lexically_normal();
  if (!std::filesystem::is_directory(folder / "graphs")) return std::nullopt;
  return folder;
}

/// The words of each line that is neither blank nor a comment (#); blanks, tabs and CR separate.
inline std::vector<std::vector<std::string>> read_words(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    if (!words.empty() && words[0][0] != '#') lines.push_back(std::move(words));
  }
  return lines;
}

/// The first column.
inline std::vector<VertexId> read_vertices(const std::filesystem::path& file) {
  std::vector<VertexId> vertices;
  for (const auto& words : read_words(file)) vertices.push_back(std::stoll(words.at(0)));
  return vertices;
}

/// Source, target and, where there is a third column, the weight; else weight 1.
inline std::vector<Edge<double>> read_edges(const std::filesystem::path& file) {
  std::vector<Edge<double>> edges;
  for (const auto& words : read_words(file)) {
    const double weight = words.size() > 2 ? std::stod(words[2]) : 1.0;
    edges.push_back({std::stoll(words.at(0)), std::stoll(words.at(1)), weight});
  }
  return edges;
}

/// Values of a reference output by vertex id; "infinity" is read for doubles.
template <class T>
std::map<VertexId, T> read_value_map(const std::filesystem::path& file) {
  std::map<VertexId, T> values;
  for (const auto& words : read_words(file)) {
    if constexpr (std::is_floating_point_v<T>) {
      values[std::stoll(words.at(0))] = std::stod(words.at(1));
    } else {
      values[std::stoll(words.at(0))] = std::stoll(words.at(1));
    }
  }
  return values;
}

/// Values of a reference output, one per vertex of the graph. Throws std::out_of_range when the
/// file has not exactly the graph's vertices.
template <class T>
std::vector<T> read_values(const SerialGraph& graph, const std::filesystem::path& file) {
  const auto by_id = read_value_map<T>(file);
  if (by_id.size() != graph.size()) {
    throw std::out_of_range(file.string() + " has " + std::to_string(by_id.size()) + " vertices");
  }
  std::vector<T> values;
  for (const VertexId id : graph.ids) values.push_back(by_id.at(id));
  return values;
}

/// `key = value` lines of a Graphalytics .properties file, keys without "graph.NAME.".
inline std::map<std::string, std::string> read_properties(const std::filesystem::path& file) {
  const std::string prefix = "graph." + file.stem().string() + ".";
  std::map<std::string, std::string> properties;
  for (const auto& words : read_words(file)) {
    if (words.size() < 3 || words[1] != "=" || !words[0].starts_with(prefix)) continue;
    properties[words[0].substr(prefix.size())] = words[2];
  }
  return properties;
}

/// `NAME.v` and `NAME.e`.
inline SerialGraph read_graph(const std::filesystem::path& stem, BuildOptions options) {
  return serial_graph(read_vertices(stem.string() + ".v"), read_edges(stem.string() + ".e"),
                      options);
}

}  // namespace weir::reference
