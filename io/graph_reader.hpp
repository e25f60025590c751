// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/record_stream.hpp>
#include <weir/io/input.hpp>

namespace weir::io {

/// The file formats weir reads and writes; docs/formats.md describes each.
enum class Format {
  automatic,
  edges,
  csv,
  graphalytics,
  matrix_market,
  metis,
  dimacs,
  gap,
  adjacency,
  weir
};

/// The word that names a format on the command line, e.g. "mtx".
std::string_view name_of(Format format);

/// The format of that name; empty if there is none.
std::optional<Format> format_named(std::string_view name);

/// True if files of the format say which vertices exist, also those without edges.
bool holds_vertices(Format format);

/// How graph files are to be read.
struct GraphFileOptions {
  Format format = Format::automatic;
  bool skip_header = false;                     ///< Line 1 of each edge file is not data.
  bool string_ids = false;                      ///< Vertices are named by strings.
  bool weighted = false;                        ///< Edge values are read; otherwise ignored.
  bool non_negative = false;                    ///< Edge values below 0 in text are refused.
  std::optional<std::uint64_t> num_vertices{};  ///< All ids are in [0, N), and all N exist.
  /// No vertex of the list; refused where an edge is read that ends there. Empty: none.
  std::string unlisted_vertex{};
};

/// What is known of a graph before its edges are read.
struct GraphHeader {
  Format format = Format::automatic;
  std::optional<bool> directed;                   ///< What the input says; empty: it does not say.
  bool has_weights = false;                       ///< Edge values are present in the input.
  bool has_vertices = false;                      ///< The reader yields a list of vertices.
  std::optional<std::uint64_t> num_vertices;      ///< Promised by the input.
  std::optional<std::uint64_t> num_edges;         ///< Promised by the input.
  std::map<std::string, std::string> properties;  ///< Of a Graphalytics graph, e.g.
                                                  ///< "bfs.source-vertex" to "1".
};

/// Counts of what one part has read; all of them add up over the parts.
struct Tally {
  std::uint64_t num_entries = 0;    ///< Entries as the header of the format counts them.
  std::uint64_t num_rows = 0;       ///< Vertex lines.
  std::uint64_t first_halves = 0;   ///< Fingerprint of edges seen from their smaller end point.
  std::uint64_t second_halves = 0;  ///< The same from the larger end point.

  Tally& operator+=(const Tally& other);
  friend bool operator==(const Tally&, const Tally&) = default;
};

class FormatReader;
class WeirFile;

/// Reads one part of a graph from files of any format.
///
/// Each of the `part.count` parts reads its share of the bytes of every file; together they yield
/// every edge once and every vertex at least once, whatever the number of parts. A compressed file
/// is read whole by part (number of the file) % count, a pipe or `-` by part 0 alone: `header()` is
/// then known to part 0 only. Edges and vertices may be read in either order. After all parts were
/// read to the end, `verify` checks the sum of their tallies against what the input promised.
///
/// Every fault of the input is an Error{input} with a text like
/// `FILE:LINE: found "alice"; expected an integer id`.
class GraphReader {
 public:
  /// Opens the files and tells their format.
  GraphReader(std::vector<std::string> paths, GraphFileOptions options = {}, Part part = {});

  /// Reads one file held in memory, which must outlive the reader; the name serves as a path.
  static GraphReader from_memory(std::string name, std::string_view bytes,
                                 GraphFileOptions options = {}, Part part = {});

  GraphReader(GraphReader&&) noexcept;
  GraphReader& operator=(GraphReader&&) noexcept;
  ~GraphReader();

  const GraphHeader& header() const;

  /// Replaces the batch with this part's next edges, at most 2^13; false, with an empty batch, at
  /// the end. In an unweighted reading the value is 1.
  bool next(std::vector<Edge<NoValue>>& batch);
  bool next(std::vector<Edge<double>>& batch);

  /// The same with the names of the vertices; integer formats name them in decimal.
  bool next(std::vector<NamedEdge<NoValue>>& batch);
  bool next(std::vector<NamedEdge<double>>& batch);

  /// The same for the list of vertices, if `header().has_vertices`. A file may list one twice.
  bool next(std::vector<VertexId>& batch);
  bool next(std::vector<std::string>& batch);

  /// The counts of this part so far.
  Tally tally() const;

  /// Throws Error{input} if the whole input breaks a promise it made: other numbers of entries than
  /// its header says, or an undirected edge listed at one end only.
  void verify(const Tally& total) const;

  /// The whole input, whatever the part, as the lists that a rank alone would make of it, if it is
  /// a .weir file read with integer ids and no `num_vertices`; else null. Lives as long as this.
  WeirFile* sorted_lists();

 private:
  explicit GraphReader(std::unique_ptr<FormatReader> reader);

  std::unique_ptr<FormatReader> reader_;
  std::vector<NamedEdge<double>> named_edges_;
};

}  // namespace weir::io
