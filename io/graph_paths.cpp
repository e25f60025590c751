// SPDX-License-Identifier: Apache-2.0
#include <weir/io/graph_paths.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/formats.hpp>
#include <weir/io/number_text.hpp>

#include <filesystem>
#include <system_error>

namespace weir::io {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

/// The file of that name, plain or compressed; empty if there is none.
std::string found(const std::string& path) {
  for (const char* suffix : {"", ".gz", ".zst"}) {
    if (exists(path + suffix)) return path + suffix;
  }
  return {};
}

std::string stem_of(const std::string& path) {
  const std::string_view plain = without_compression(path);
  return std::string(plain.substr(0, plain.size() - extension_of(path).size()));
}

/// A file of the graph: `STEM.EXTENSION` if it is there, else the one that the properties name.
std::string file_of(const std::string& stem, const char* extension,
                    const std::map<std::string, std::string>& properties, const char* key) {
  std::string path = found(stem + extension);
  if (!path.empty()) return path;
  const auto named = properties.find(key);
  if (named == properties.end()) return stem + extension;  // opening it will say what is wrong
  return (std::filesystem::path(stem).parent_path() / named->second).string();
}

std::string_view key_of(std::string_view key, std::string_view graph_name) {
  constexpr std::string_view prefix = "graph.";
  if (!key.starts_with(prefix)) return {};
  key.remove_prefix(prefix.size());
  if (!graph_name.empty() && key.starts_with(graph_name) &&
      key.substr(graph_name.size()).starts_with('.')) {
    return key.substr(graph_name.size() + 1);
  }
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(dot + 1);
}

}  // namespace

std::map<std::string, std::string> parse_properties(const Input& input) {
  std::map<std::string, std::string> properties;
  const std::string name = std::filesystem::path(stem_of(input.name())).filename().string();
  Lines lines(input);
  while (lines.next()) {
    const std::string_view line = trimmed(lines.text());
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) lines.fail(shown(line), "KEY = VALUE");
    const std::string_view key = key_of(trimmed(line.substr(0, equals)), name);
    const std::string value(trimmed(line.substr(equals + 1)));
    if (key.empty()) continue;
    if (key == "directed" && value != "true" && value != "false") {
      lines.fail(shown(value), "true or false");
    }
    properties[std::string(key)] = value;
  }
  return properties;
}

std::map<std::string, std::string> read_properties(const std::string& path) {
  return parse_properties(Input::open(path, 0, Part{}));
}

GraphPaths find_graph(const std::vector<std::string>& paths, Format format) {
  GraphPaths graph;
  std::string properties_path;
  const bool may_be_graphalytics = format == Format::automatic || format == Format::graphalytics;
  for (const std::string& path : paths) {
    const std::string_view extension = extension_of(path);
    const bool is_prefix = path != "-" && may_be_graphalytics && !exists(path) &&
                           !found(path + ".v").empty() && !found(path + ".e").empty();
    if (!may_be_graphalytics) {
      graph.edges.push_back(path);
    } else if (extension == ".properties" || is_prefix) {
      graph.is_graphalytics = true;
      const std::string stem = is_prefix ? path : stem_of(path);
      if (!is_prefix || exists(stem + ".properties")) {
        properties_path = stem + ".properties";
        graph.properties = read_properties(properties_path);
      }
      graph.edges.push_back(file_of(stem, ".e", graph.properties, "edge-file"));
      graph.vertices.push_back(file_of(stem, ".v", graph.properties, "vertex-file"));
    } else if (extension == ".v") {
      graph.is_graphalytics = true;
      graph.vertices.push_back(path);
    } else {
      graph.is_graphalytics |= extension == ".e";
      graph.edges.push_back(path);
    }
    const std::string beside = stem_of(path) + ".properties";
    if (graph.is_graphalytics && properties_path.empty() && exists(beside)) {
      properties_path = beside;
      graph.properties = read_properties(beside);
    }
  }
  WEIR_EXPECT(!graph.edges.empty(), input,
              (paths.empty() ? std::string("no files") : paths.front()) +
                  ": found no edges; expected a file of edges (.e) too");
  return graph;
}

}  // namespace weir::io
