// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <unistd.h>

#include <weir/engine/model/error.hpp>
#include <weir/io/graph_reader.hpp>

namespace weir::io::test {

/// A whole graph, edges and vertices sorted.
struct Loaded {
  GraphHeader header;
  std::vector<Edge<double>> edges;
  std::vector<NamedEdge<double>> named_edges;
  std::vector<VertexId> vertices;
  std::vector<std::string> names;
  Tally tally;

  double sum_of_weights() const {
    double sum = 0;
    for (const auto& edge : edges) sum += edge.value;
    return sum;
  }
};

template <class Reader, class Record>
void drain(Reader& reader, std::vector<Record>& all) {
  std::vector<Record> batch;
  while (reader.next(batch)) {
    EXPECT_LE(batch.size(), std::size_t{1} << 16);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  EXPECT_TRUE(batch.empty());
}

template <class Record>
void sort_edges(std::vector<Record>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Record& a, const Record& b) {
    return std::tie(a.source, a.target, a.value) < std::tie(b.source, b.target, b.value);
  });
}

/// Reads all parts and verifies the sum; `open(part)` makes the reader of a part.
template <class Open>
Loaded load_parts(const Open& open, int num_parts, bool by_name) {
  Loaded all;
  for (Part part{0, num_parts}; part.index < num_parts; ++part.index) {
    GraphReader reader = open(part);
    if (part.index == 0) all.header = reader.header();
    if (by_name) {
      drain(reader, all.named_edges);
      if (reader.header().has_vertices) drain(reader, all.names);
    } else {
      drain(reader, all.edges);
      if (reader.header().has_vertices) drain(reader, all.vertices);
    }
    all.tally += reader.tally();
    if (part.index + 1 == num_parts) reader.verify(all.tally);
  }
  sort_edges(all.edges);
  sort_edges(all.named_edges);
  std::sort(all.vertices.begin(), all.vertices.end());
  if (all.header.format == Format::gap) {  // each part lists 0 to its own largest
    all.vertices.erase(std::unique(all.vertices.begin(), all.vertices.end()), all.vertices.end());
  }
  std::sort(all.names.begin(), all.names.end());
  return all;
}

/// Loads in 1, 2, 3 and 7 parts, which must agree.
template <class Open>
Loaded load_any(const Open& open, bool by_name) {
  Loaded whole = load_parts(open, 1, by_name);
  for (const int num_parts : {2, 3, 7}) {
    const Loaded split = load_parts(open, num_parts, by_name);
    EXPECT_EQ(split.edges, whole.edges) << num_parts << " parts";
    EXPECT_EQ(split.named_edges, whole.named_edges) << num_parts << " parts";
    EXPECT_EQ(split.vertices, whole.vertices) << num_parts << " parts";
    EXPECT_EQ(split.names, whole.names) << num_parts << " parts";
    EXPECT_EQ(split.tally, whole.tally) << num_parts << " parts";
  }
  return whole;
}

inline Loaded load(const std::string& name, std::string_view text, GraphFileOptions options = {}) {
  return load_any([&](Part part) { return GraphReader::from_memory(name, text, options, part); },
                  options.string_ids);
}

inline Loaded load_files(const std::vector<std::string>& paths, GraphFileOptions options = {}) {
  return load_any([&](Part part) { return GraphReader(paths, options, part); }, options.string_ids);
}

/// "input: TEXT" of the Error that the action throws; "" if it throws none.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(name_of(error.code())) + ": " + error.what();
  }
  return {};
}

inline std::string error_in(const std::string& name, std::string_view text,
                            GraphFileOptions options = {}) {
  const auto open = [&](Part part) { return GraphReader::from_memory(name, text, options, part); };
  const bool by_name = options.string_ids;
  const std::string whole = error_of([&] { load_parts(open, 1, by_name); });
  const std::string split = error_of([&] { load_parts(open, 3, by_name); });
  EXPECT_EQ(whole.empty(), split.empty()) << whole << " | " << split;
  return whole;
}

using Edges = std::vector<Edge<double>>;

/// Edges with value 1.
inline Edges plain(std::initializer_list<std::pair<VertexId, VertexId>> pairs) {
  Edges edges;
  for (const auto& [source, target] : pairs) edges.push_back({source, target, 1});
  sort_edges(edges);
  return edges;
}

/// A folder that vanishes at the end of its test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return path_ + '/' + name; }

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }

  std::size_t num_files() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::string path_;
};

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Folder of public data files, or empty: $WEIR_TEST_DATA, else ../shared/data beside the project.
inline std::string data_folder() {
  const char* const named = std::getenv("WEIR_TEST_DATA");
  const std::filesystem::path root = std::filesystem::path(__FILE__).parent_path() / "../..";
  const std::filesystem::path folder = named != nullptr ? named : root / "../shared/data";
  return std::filesystem::exists(folder / "graphs") ? (folder / "graphs").string() + '/' : "";
}

}  // namespace weir::io::test

#define WEIR_NEED_DATA(folder)                                \
  const std::string folder = ::weir::io::test::data_folder(); \
  if (folder.empty()) GTEST_SKIP() << "no test data; set WEIR_TEST_DATA"
