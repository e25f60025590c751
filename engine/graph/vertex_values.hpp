// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/engine/graph/pages.hpp>
#include <weir/engine/graph/vertex_names.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir {

/// A type whose bytes say what it holds: numbers, bitwise types without padding or floats inside,
/// and what travels by `serialize`. Other values are digested after `transform`.
template <class V>
concept Digestible =
    std::is_arithmetic_v<V> || !Bitwise<V> || std::has_unique_object_representations_v<V>;

namespace detail {

/// Keeps a vector<bool> from packing bits, which threads could not write side by side.
template <class T>
struct Cell {
  T value;
};

/// What travels for a T: a vector of it has an array behind it.
template <class T>
using Wire = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// 64-bit hash of one (id, value) pair; a NaN of any kind hashes alike.
std::uint64_t hash_entry(VertexId id, std::span<const std::byte> value);

template <class V>
std::uint64_t hash_value(VertexId id, const V& value) {
  const auto bytes_of = [](const auto& plain) { return std::as_bytes(std::span(&plain, 1)); };
  if constexpr (std::is_floating_point_v<V>) {
    const V canonical = std::isnan(value) ? std::numeric_limits<V>::quiet_NaN() : value;
    return hash_entry(id, bytes_of(canonical));
  } else if constexpr (std::is_arithmetic_v<V>) {
    return hash_entry(id, bytes_of(value));
  } else {
    Bytes bytes;
    encode(std::span<const V>(&value, 1), bytes);
    return hash_entry(id, bytes);
  }
}

}  // namespace detail

/// One vertex and its value.
template <class V>
struct VertexValue {
  VertexId id = 0;
  V value{};
};

/// A value per vertex, each rank holding those of its own vertices. Outlives the graph.
template <class V>
class VertexValues {
 public:
  VertexValues(Context& context, std::shared_ptr<const Vertices> vertices,
               std::shared_ptr<const VertexNames> names, PlainVector<detail::Cell<V>> cells)
      : context_(&context),
        vertices_(std::move(vertices)),
        names_(std::move(names)),
        cells_(std::move(cells)) {}

  /// Number of own vertices.
  std::size_t size() const { return cells_.size(); }
  /// Value of a vertex if this rank owns it.
  const V* find(VertexId id) const {
    const auto row = vertices_->find(id);
    return row ? &cells_[*row].value : nullptr;
  }
  /// Value of an own vertex; Error{usage} for any other.
  const V& at(VertexId id) const {
    const V* value = find(id);
    WEIR_EXPECT(value != nullptr, usage, "vertex " + std::to_string(id) + " is not on this rank");
    return *value;
  }
  /// Calls visit(id, value) for every own vertex, ids ascending. The ranks' ids ascend too.
  template <class F>
  void for_each(F&& visit) const {
    for (const Row row : vertices_->rows_by_id()) visit(vertices_->id(row), cells_[row].value);
  }
  /// All vertices of the graph, ids ascending, on every rank. Collective.
  std::vector<VertexValue<V>> gather() const {
    std::vector<VertexId> ids;
    std::vector<detail::Wire<V>> values;
    for_each([&](VertexId id, const V& value) {
      ids.push_back(id);
      values.push_back(value);
    });
    ids = all_concatenate(*context_, std::span<const VertexId>(ids));
    values = all_concatenate(*context_, std::span<const detail::Wire<V>>(values));
    std::vector<VertexValue<V>> all;
    for (std::size_t i = 0; i < ids.size(); ++i) all.push_back({ids[i], static_cast<V>(values[i])});
    return all;
  }
  /// 64-bit digest of all (id, value bits); the sum of one hash per vertex. Collective.
  std::uint64_t digest() const requires Digestible<V> {
    std::uint64_t sum = 0;
    for_each([&](VertexId id, const V& value) { sum += detail::hash_value(id, value); });
    return all_fold(*context_, Sum<std::uint64_t>{}, sum);
  }

  Context& context() const { return *context_; }
  const std::shared_ptr<const Vertices>& vertices() const { return vertices_; }
  /// Names of own vertices when ids are strings; else empty.
  const std::shared_ptr<const VertexNames>& names() const { return names_; }
  /// By row of `vertices()`.
  const V& by_row(Row row) const { return cells_[row].value; }

  /// The same vertices with f(value) each.
  template <class F>
  auto transform(F&& f) const {
    using U = std::remove_cvref_t<decltype(f(std::declval<const V&>()))>;
    PlainVector<detail::Cell<U>> cells(cells_.size());
    for (std::size_t row = 0; row < cells.size(); ++row) cells[row].value = f(cells_[row].value);
    return VertexValues<U>(*context_, vertices_, names_, std::move(cells));
  }

 private:
  Context* context_;
  std::shared_ptr<const Vertices> vertices_;
  std::shared_ptr<const VertexNames> names_;
  PlainVector<detail::Cell<V>> cells_;  // by row
};

}  // namespace weir
