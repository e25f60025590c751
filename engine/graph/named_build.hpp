// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weir/engine/graph/build.hpp>
#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/vertex_names.hpp>
#include <weir/engine/model/record_stream.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

namespace detail {

/// The different names one rank read, each with a number of this rank's own.
class NameTable {
 public:
  static constexpr std::uint32_t most_names = 0xfffffffe;

  /// Number of the name, in order of first mention. `is_listed`: the vertex list has it.
  std::uint32_t add(std::string_view name, bool is_listed);

  std::size_t size() const { return names_.size(); }
  const std::string& name(std::uint32_t number) const { return *names_[number]; }
  bool is_listed(std::uint32_t number) const { return is_listed_[number]; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> names_;  // keys of the map, which stay in place
  std::vector<bool> is_listed_;
};

/// The names of the whole graph, numbered from 0 in bytewise order.
struct NumberedNames {
  static constexpr VertexId dropped = -1;

  VertexId first_id = 0;           ///< Of the run of names this rank keeps.
  std::vector<std::string> names;  ///< Ascending.
  std::vector<VertexId> ids;       ///< By number of the name in this rank's table, or `dropped`.
};

/// Numbers the names of all ranks. `has_list`: names that no rank listed are unknown. Collective.
/// Cost: memory linear in this rank's names and its share of all.
NumberedNames number_names(Context& context, const NameTable& table, bool has_list,
                           UnknownVertices unknown);

/// Brings runs of names to the ranks that own their vertices. Collective.
std::shared_ptr<const VertexNames> bring_names_to_owners(Context& context, const ShardMap& shards,
                                                         const NumberedNames& numbered);

}  // namespace detail

/// Collects one rank's share of edges between named vertices, then builds the graph with the other
/// ranks, as GraphBuilder does. Ids number the names of the whole graph in bytewise order;
/// `Graph::names` gives them back.
template <class E>
class NamedGraphBuilder {
 public:
  NamedGraphBuilder(Context& context, BuildOptions options)
      : context_(&context), options_(std::move(options)) {}

  /// The graph has a vertex list; end points outside it are unknown.
  void declare_vertex_list() { has_vertex_list_ = true; }
  /// Both may be called from several threads.
  void add_vertices(std::span<const std::string> names) {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : names) table_.add(name, true);
  }
  void add_edges(std::span<const NamedEdge<E>> edges);

  /// Builds the graph. Collective. Throws Error{input} for unknown end points.
  Graph<E> finish();

 private:
  Graph<E> build();
  struct NumberedEdge {
    std::uint32_t source;
    std::uint32_t target;
    [[no_unique_address]] E value;
  };

  Context* context_;
  BuildOptions options_;
  bool has_vertex_list_ = false;
  std::mutex mutex_;  // of what follows
  detail::NameTable table_;
  std::deque<std::vector<NumberedEdge>> edges_;  // in batches, so that memory goes as they are used
};

extern template class NamedGraphBuilder<NoValue>;
extern template class NamedGraphBuilder<double>;

/// Builds a graph from each rank's source of named edges, which may also be a source of names.
/// Collective.
template <class E, class S>
requires Source<S, NamedEdge<E>> Graph<E> build_named_graph(Context& context, S source,
                                                            BuildOptions options = {}) {
  NamedGraphBuilder<E> builder(context, std::move(options));
  context.agree([&] {
    if constexpr (Source<S, std::string>) {
      for (std::vector<std::string> batch; source.next(batch);) builder.add_vertices(batch);
    }
    for (std::vector<NamedEdge<E>> batch; source.next(batch);) builder.add_edges(batch);
  });
  return builder.finish();
}

}  // namespace weir
