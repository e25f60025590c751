// SPDX-License-Identifier: Apache-2.0
#include <weir/io/graph_reader.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/formats.hpp>
#include <weir/io/graph_paths.hpp>

#include <utility>

namespace weir::io {
namespace {

/// What a part sees of a pipe that another part reads.
class AbsentReader : public FormatReader {
 public:
  using FormatReader::FormatReader;
  bool next_edges(std::vector<Edge<double>>& batch) override {
    batch.clear();
    return false;
  }
  bool next_vertices(std::vector<VertexId>& batch) override {
    batch.clear();
    return false;
  }
  using FormatReader::next_edges;
  using FormatReader::next_vertices;
};

std::unique_ptr<FormatReader> open_format(FileSet files) {
  const GraphFileOptions& options = files.options;
  WEIR_EXPECT(files.part.count > 0 && files.part.index >= 0 && files.part.index < files.part.count,
              usage, "part: the index must be below the count");
  WEIR_EXPECT(!options.string_ids || !options.num_vertices, usage,
              "num_vertices: vertices named by strings are not a range of numbers");
  const Input& first = files.edges.front();
  if (first.is_absent()) return std::make_unique<AbsentReader>(std::move(files));
  if (first.is_pipe()) files.part = {};  // all of it is this part's
  Format format = options.format;
  if (format == Format::automatic) {
    format = files.vertices.empty() ? format_of(first, options) : Format::graphalytics;
  }
  const FormatEntry& entry = entry_of(format);
  const std::string_view extension = extension_of(first.name());
  const bool is_serialized = format == Format::gap && (extension == ".sg" || extension == ".wsg");
  if (entry.is_text && !is_serialized) {
    for (const Input& input : files.edges) expect_text(input);
    for (const Input& input : files.vertices) expect_text(input);
  }
  return entry.read(std::move(files));
}

std::vector<Input> open_all(const std::vector<std::string>& paths, Part part) {
  std::vector<Input> inputs;
  for (const std::string& path : paths) {
    inputs.push_back(Input::open(path, static_cast<int>(inputs.size()), part));
  }
  return inputs;
}

FileSet open_files(const std::vector<std::string>& paths, GraphFileOptions options, Part part) {
  WEIR_EXPECT(!paths.empty(), usage, "paths: a graph needs at least one file");
  WEIR_EXPECT(part.count > 0, usage, "part: the count must be positive");
  GraphPaths graph = find_graph(paths, options.format);
  if (graph.is_graphalytics) options.format = Format::graphalytics;
  if (graph.edges.size() + graph.vertices.size() > 1) {
    for (const auto* some : {&graph.edges, &graph.vertices}) {
      for (const std::string& path : *some) {
        WEIR_EXPECT(!Input::is_pipe(path), input,
                    path + ": found a pipe beside other files; expected it alone");
      }
    }
  }
  return {open_all(graph.edges, part), open_all(graph.vertices, part), std::move(graph.properties),
          std::move(options), part};
}

void drop_value(NamedEdge<double>& edge, std::vector<NamedEdge<NoValue>>& batch) {
  batch.push_back({std::move(edge.source), std::move(edge.target), {}});
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  num_entries += other.num_entries;
  num_rows += other.num_rows;
  first_halves += other.first_halves;
  second_halves += other.second_halves;
  return *this;
}

GraphReader::GraphReader(std::vector<std::string> paths, GraphFileOptions options, Part part)
    : GraphReader(open_format(open_files(paths, std::move(options), part))) {}

GraphReader::GraphReader(std::unique_ptr<FormatReader> reader) : reader_(std::move(reader)) {}
GraphReader::GraphReader(GraphReader&&) noexcept = default;
GraphReader& GraphReader::operator=(GraphReader&&) noexcept = default;
GraphReader::~GraphReader() = default;

GraphReader GraphReader::from_memory(std::string name, std::string_view bytes,
                                     GraphFileOptions options, Part part) {
  FileSet files;
  files.edges.push_back(Input::from_memory(std::move(name), bytes));
  files.options = std::move(options);
  files.part = part;
  return GraphReader(open_format(std::move(files)));
}

WeirFile* GraphReader::sorted_lists() { return reader_->sorted_lists(); }
const GraphHeader& GraphReader::header() const { return reader_->header(); }

bool GraphReader::next(std::vector<Edge<double>>& batch) { return reader_->next_edges(batch); }

bool GraphReader::next(std::vector<NamedEdge<double>>& batch) { return reader_->next_edges(batch); }

bool GraphReader::next(std::vector<Edge<NoValue>>& batch) { return reader_->next_edges(batch); }

bool GraphReader::next(std::vector<NamedEdge<NoValue>>& batch) {
  batch.clear();
  reader_->next_edges(named_edges_);
  for (NamedEdge<double>& edge : named_edges_) drop_value(edge, batch);
  return !batch.empty();
}

bool GraphReader::next(std::vector<VertexId>& batch) { return reader_->next_vertices(batch); }
bool GraphReader::next(std::vector<std::string>& batch) { return reader_->next_vertices(batch); }

Tally GraphReader::tally() const { return reader_->tally(); }
void GraphReader::verify(const Tally& total) const { reader_->verify(total); }

}  // namespace weir::io
