// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <weir/io/graph_reader.hpp>
#include <weir/io/lines.hpp>

namespace weir::io {

/// A batch and what is made of it fit into a core's cache.
constexpr std::size_t batch_records = std::size_t{1} << 13;

class WeirFile;

/// The opened files of one reading, and how to read them.
struct FileSet {
  std::vector<Input> edges;
  std::vector<Input> vertices;  ///< The .v files of a Graphalytics graph.
  std::map<std::string, std::string> properties;
  GraphFileOptions options;
  Part part;
};

/// One file format: what GraphReader asks of it. Invariant: all of `header_` that the files say is
/// filled in by the constructor.
class FormatReader {
 public:
  explicit FormatReader(FileSet files);
  virtual ~FormatReader() = default;
  FormatReader(const FormatReader&) = delete;
  FormatReader& operator=(const FormatReader&) = delete;

  const GraphHeader& header() const { return header_; }
  const Tally& tally() const { return tally_; }

  /// Replace the batch with this part's next records; false at the end.
  virtual bool next_edges(std::vector<Edge<double>>& batch) = 0;
  virtual bool next_edges(std::vector<Edge<NoValue>>& batch);
  virtual bool next_vertices(std::vector<VertexId>& batch);

  /// The same with names; a format of integer ids leaves them as they are: decimal numbers.
  virtual bool next_edges(std::vector<NamedEdge<double>>& batch);
  virtual bool next_vertices(std::vector<std::string>& batch);

  virtual void verify(const Tally& total) const;

  /// The whole input as sorted lists, if it is stored so and read with no option that changes it.
  virtual WeirFile* sorted_lists() { return nullptr; }

 protected:
  /// Says that the vertices are first, first + 1, ...; `--vertices` overrides it.
  void set_vertices(VertexId first, std::uint64_t count);

  /// Lists the vertices 0 to `largest`, whatever other parts list.
  void list_up_to(VertexId largest);

  /// The file of a format that takes one only.
  const Input& only_file() const;

  /// Throws unless the id is in the range that `--vertices` declared.
  void expect_declared(const Lines& lines, VertexId id) const;
  void expect_declared(const Input& input, VertexId id) const;

  /// Reads an integer id, or throws; names the options that may help.
  VertexId read_id(const Lines& lines, std::string_view token) const;

  /// Reads an id from 1 to the number of vertices that the header promised, or throws.
  VertexId read_counted_id(const Lines& lines, std::string_view token) const;

  /// Reads a count from 0, or throws.
  static std::uint64_t read_count(const Lines& lines, std::string_view token,
                                  std::string_view expected);

  /// Throws if the number of entries is not what the header promised.
  void verify_num_entries(const Tally& total, std::uint64_t promised) const;

  /// Throws if the vertex is the one that the options say is not in the list.
  void expect_listed(const Lines& lines, std::string_view vertex) const;

  /// Reads a finite edge value, or throws. An empty token is a missing value.
  double read_weight(const Lines& lines, std::string_view token) const;

  /// Throws if values are asked for and the input has none.
  void expect_weights() const;

  FileSet files_;
  GraphHeader header_;
  Tally tally_;

 private:
  VertexId next_vertex_ = 0;
  VertexId end_vertex_ = 0;
  VertexId num_counted_ = 0;  ///< Ids are 1 to this, in the formats that count from 1.
  std::vector<Edge<double>> valued_edges_;
  std::vector<VertexId> unnamed_vertices_;
};

/// Keeps one of the two entries under which an undirected edge is listed, the one at its smaller
/// end point, and takes the fingerprints that show whether every entry has its twin. A loop is
/// listed twice at its vertex; the first entry is kept.
class EdgeOnce {
 public:
  /// True if the entry is the one to keep. Rows must come one after the other.
  bool keep(VertexId row, VertexId neighbor, double weight, Tally& tally);

 private:
  VertexId loop_row_ = 0;
  bool is_loop_open_ = false;
};

/// Throws Error{input} unless every edge was listed at both ends, alike.
void verify_listed_twice(const Input& input, std::uint64_t num_edges, const Tally& total);

}  // namespace weir::io
