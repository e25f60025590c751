// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weir/engine/model/ids.hpp>

namespace weir {

/// The edge value of an unweighted graph; takes no space.
struct NoValue {
  friend bool operator==(NoValue, NoValue) = default;
};

/// One edge as it is read: `source` to `target`, or both ways in an undirected graph.
template <class E>
struct Edge {
  VertexId source = 0;
  VertexId target = 0;
  [[no_unique_address]] E value{};

  friend bool operator==(const Edge&, const Edge&) = default;
};

/// One edge whose end points are named by strings.
template <class E>
struct NamedEdge {
  std::string source;
  std::string target;
  [[no_unique_address]] E value{};

  friend bool operator==(const NamedEdge&, const NamedEdge&) = default;
};

/// One direction of an edge as a program sees it: a message travels from `source` to `target`.
template <class E>
struct Arc {
  VertexId source = 0;
  VertexId target = 0;
  [[no_unique_address]] E value{};
};

/// An arc that carries a number.
template <class A>
concept WeightedArc = requires(const A& arc) {
  double{arc.value + 0};
}
|| requires(const A& arc) { static_cast<double>(arc.value); };

}  // namespace weir
