// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <weir/engine/model/edge.hpp>
#include <weir/io/graph_reader.hpp>

namespace weir::io {

class EdgeSequence;

/// True if the text begins with the name of a generator and a colon, e.g. `rmat:scale=20`.
bool is_generator_spec(std::string_view text);

/// Makes one part of a synthetic graph, described by a text such as
///
///     rmat:scale=20,edge_factor=16,seed=1[,a=.57,b=.19,c=.19]
///     uniform:vertices=N,edges=M,seed=S
///     lognormal:vertices=N,mu=4,sigma=1.3,seed=S
///     grid:ROWSxCOLUMNS   path:N   star:N   tree:N
///
/// each with `weights=W` for edge values 1 to W. Edge i is a pure function of the text and i, so
/// that the graph is the same at any number of parts, and bit for bit on any machine. Loops and
/// repeated edges of the random kinds are kept. Vertices are 0 to N - 1. docs/formats.md says more.
class Generator {
 public:
  /// Throws Error{usage} that names the key at fault.
  explicit Generator(std::string_view spec, Part part = {});
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  GraphHeader header() const;

  /// As the functions of GraphReader.
  bool next(std::vector<Edge<NoValue>>& batch);
  bool next(std::vector<Edge<double>>& batch);
  bool next(std::vector<VertexId>& batch);

 private:
  std::unique_ptr<EdgeSequence> sequence_;
  std::vector<Edge<double>> edges_;
  std::uint64_t vertex_ = 0, end_vertex_ = 0;
};

}  // namespace weir::io
