// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/reading.hpp>

#include <span>
#include <string>
#include <utility>

namespace weir {

namespace {

/// What of a header travels as it lies in memory.
struct PlainHeader {
  io::Format format;
  std::optional<bool> directed;
  bool has_weights;
  bool has_vertices;
  std::optional<std::uint64_t> num_vertices;
  std::optional<std::uint64_t> num_edges;
};

/// One rank's value on every rank. Collective.
template <class T>
std::vector<T> from_root(Context& context, std::span<const T> own) {
  return all_concatenate(context, context.is_root() ? own : std::span<const T>{});
}

}  // namespace

io::GraphHeader share_header(Context& context, const io::GraphHeader& own) {
  using Property = std::pair<std::string, std::string>;
  const PlainHeader plain{own.format,       own.directed,     own.has_weights,
                          own.has_vertices, own.num_vertices, own.num_edges};
  const std::vector<Property> own_properties(own.properties.begin(), own.properties.end());
  const auto headers = from_root(context, std::span<const PlainHeader>(&plain, 1));
  const auto properties = from_root(context, std::span<const Property>(own_properties));
  const PlainHeader& root = headers.front();
  return {root.format,
          root.directed,
          root.has_weights,
          root.has_vertices,
          root.num_vertices,
          root.num_edges,
          {properties.begin(), properties.end()}};
}

}  // namespace weir
