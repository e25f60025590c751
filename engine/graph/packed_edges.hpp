// SPDX-License-Identifier: Apache-2.0
// Batches of edges in as few bytes as they need, in memory and on the way to another rank.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <weir/engine/graph/id_range.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/model/edge.hpp>

namespace weir {

namespace detail {

/// How values are stored: numbers as the narrowest type that holds all of them to the bit, other
/// values as they are. Each form holds what the one before holds.
enum class ValueForm : std::uint8_t { none, u8, u16, f32, whole };

/// Calls body(T{}) with the type of that form.
template <class E, class F>
void with_value_type(ValueForm form, const F& body) {
  if constexpr (std::is_same_v<E, double>) {
    switch (form) {
      case ValueForm::u8: return body(std::uint8_t{});
      case ValueForm::u16: return body(std::uint16_t{});
      case ValueForm::f32: return body(float{});
      default: break;
    }
  }
  body(E{});
}

template <class E>
std::size_t bytes_of_value(ValueForm form) {
  if constexpr (std::is_same_v<E, NoValue>) return 0;
  std::size_t bytes = 0;
  with_value_type<E>(form, [&](auto stored) { bytes = sizeof(stored); });
  return bytes;
}

template <class T>
bool holds(double value) {
  constexpr double most{std::numeric_limits<T>::max()};
  constexpr double least{std::numeric_limits<T>::lowest()};
  return value >= least && value <= most &&
         std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<T>(value))) ==
             std::bit_cast<std::uint64_t>(value);
}

inline bool holds(ValueForm form, double value) {
  switch (form) {
    case ValueForm::none: return false;
    case ValueForm::u8: return holds<std::uint8_t>(value);
    case ValueForm::u16: return holds<std::uint16_t>(value);
    case ValueForm::f32: return holds<float>(value);
    case ValueForm::whole: break;
  }
  return true;
}

}  // namespace detail

/// What a packed batch begins with. Then come the pairs of end points as offsets from `base`, 4 or
/// 8 bytes each, then the values.
struct PackedHeader {
  VertexId base = 0;
  std::uint32_t num_edges = 0;
  std::uint8_t id_bytes = 4;
  detail::ValueForm values = detail::ValueForm::none;
  std::uint16_t zero = 0;

  /// Bytes of the whole batch; a multiple of 8.
  template <class E>
  std::size_t num_bytes() const {
    const std::size_t each = 2 * std::size_t{id_bytes} + detail::bytes_of_value<E>(values);
    return (sizeof(PackedHeader) + num_edges * each + 7) / 8 * 8;
  }
};

/// What packing the edges needs to know of all of them.
struct PackingPlan {
  PackedHeader header;
  IdRange range;  ///< Of the end points.
};

template <class E>
PackingPlan plan_packing(std::span<const Edge<E>> edges) {
  using detail::ValueForm;
  PackingPlan plan;
  PackedHeader& header = plan.header;
  header.num_edges = static_cast<std::uint32_t>(edges.size());
  if (edges.empty()) return plan;
  for (const Edge<E>& edge : edges) {
    plan.range.see(edge.source);
    plan.range.see(edge.target);
  }
  header.base = plan.range.least;
  header.id_bytes = plan.range.span() <= 0xffffffff ? 4 : 8;
  if constexpr (std::is_same_v<E, double>) {
    auto form = ValueForm::u8;
    for (const Edge<E>& edge : edges) {
      while (!detail::holds(form, edge.value)) {
        form = static_cast<ValueForm>(static_cast<std::uint8_t>(form) + 1);
      }
    }
    header.values = form;
  } else if constexpr (!std::is_same_v<E, NoValue>) {
    header.values = ValueForm::whole;
  }
  return plan;
}

/// Writes the batch to `out`, which has room for `header.template num_bytes<E>()`.
template <class E>
void pack(const PackedHeader& header, std::span<const Edge<E>> edges, std::byte* out) {
  std::memcpy(out, &header, sizeof header);
  out += sizeof header;
  const auto write_ids = [&](auto width) {
    using Offset = decltype(width);
    for (const Edge<E>& edge : edges) {
      const auto base = static_cast<std::uint64_t>(header.base);
      const Offset pair[] = {static_cast<Offset>(static_cast<std::uint64_t>(edge.source) - base),
                             static_cast<Offset>(static_cast<std::uint64_t>(edge.target) - base)};
      std::memcpy(out, pair, sizeof pair);
      out += sizeof pair;
    }
  };
  header.id_bytes == 4 ? write_ids(std::uint32_t{}) : write_ids(std::uint64_t{});
  if constexpr (!std::is_same_v<E, NoValue>) {
    detail::with_value_type<E>(header.values, [&](auto stored) {
      for (const Edge<E>& edge : edges) {
        stored = static_cast<decltype(stored)>(edge.value);
        std::memcpy(out, &stored, sizeof stored);
        out += sizeof stored;
      }
    });
  }
}

/// A batch as it lies in memory: pairs of offsets from `base`, and values of a type that holds
/// them.
template <class E, class Offset, class Stored>
class PackedEdges {
 public:
  PackedEdges(const PackedHeader& header, const std::byte* ids)
      : base_(static_cast<std::uint64_t>(header.base)),
        size_(header.num_edges),
        ids_(ids),
        values_(ids + size_ * 2 * sizeof(Offset)) {}

  std::size_t size() const { return size_; }
  Edge<E> operator[](std::size_t i) const {
    Offset pair[2];
    std::memcpy(pair, ids_ + i * sizeof pair, sizeof pair);
    Edge<E> edge{
        static_cast<VertexId>(base_ + pair[0]), static_cast<VertexId>(base_ + pair[1]), {}};
    if constexpr (!std::is_same_v<E, NoValue>) {
      Stored stored;
      std::memcpy(&stored, values_ + i * sizeof stored, sizeof stored);
      edge.value = static_cast<E>(stored);
    }
    return edge;
  }

 private:
  std::uint64_t base_;
  std::size_t size_;
  const std::byte* ids_;
  const std::byte* values_;
};

/// Calls body(edges) with the PackedEdges that `bytes` begins with, and takes them off their front.
template <class E, class F>
void with_packed(std::span<const std::byte>& bytes, const F& body) {
  PackedHeader header;
  WEIR_EXPECT(bytes.size() >= sizeof header, internal, "a batch of edges is cut off");
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t num_bytes = header.template num_bytes<E>();
  WEIR_EXPECT(bytes.size() >= num_bytes, internal, "a batch of edges is cut off");
  const std::byte* const ids = bytes.data() + sizeof header;
  bytes = bytes.subspan(num_bytes);
  detail::with_value_type<E>(header.values, [&](auto stored) {
    using Stored = decltype(stored);
    if (header.id_bytes == 4) {
      body(PackedEdges<E, std::uint32_t, Stored>(header, ids));
    } else {
      body(PackedEdges<E, std::uint64_t, Stored>(header, ids));
    }
  });
}

/// Replaces `edges` with the first batch of `bytes`, and takes it off their front.
template <class E>
void unpack(std::span<const std::byte>& bytes, std::vector<Edge<E>>& edges) {
  with_packed<E>(bytes, [&](const auto& packed) {
    edges.resize(packed.size());
    for (std::size_t i = 0; i < packed.size(); ++i) edges[i] = packed[i];
  });
}

}  // namespace weir
