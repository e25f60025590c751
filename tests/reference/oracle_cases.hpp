// SPDX-License-Identifier: Apache-2.0
// What the tests of the oracles share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/reference/reference.hpp>

namespace weir::reference {

using Ids = std::vector<VertexId>;
using Doubles = std::vector<double>;
using Counts = std::vector<std::int64_t>;

constexpr BuildOptions directed{Direction::directed};
constexpr BuildOptions undirected{Direction::undirected};
constexpr BuildOptions undirected_simple{Direction::undirected, Repeats::merge, Loops::drop};

inline SerialGraph graph_of(std::initializer_list<Edge<double>> edges,
                            BuildOptions options = directed, const Ids& vertices = {}) {
  return serial_graph(vertices, std::vector<Edge<double>>(edges), options);
}

inline std::string text_of(double x) {
  std::ostringstream text;
  text.precision(17);
  text << x;
  return text.str();
}

/// Equal within `epsilon` relative; infinities must agree. Names the first vertex that differs.
inline testing::AssertionResult near(const SerialGraph& graph, const Doubles& found,
                                     const Doubles& expected, double epsilon) {
  if (found.size() != expected.size()) return testing::AssertionFailure() << "other sizes";
  for (std::size_t v = 0; v < found.size(); ++v) {
    if (found[v] == expected[v]) continue;
    if (std::abs(found[v] - expected[v]) <= epsilon * std::abs(expected[v])) continue;
    return testing::AssertionFailure() << "vertex " << graph.ids[v] << ": " << text_of(found[v])
                                       << ", expected " << text_of(expected[v]);
  }
  return testing::AssertionSuccess();
}

template <class T>
T sum_of(const std::vector<T>& values) {
  return std::accumulate(values.begin(), values.end(), T{});
}

inline double mean_of(const Doubles& values) {
  return sum_of(values) / static_cast<double>(values.size());
}

/// Fixed point of PageRank.
inline Doubles pagerank_limit(const SerialGraph& graph, PagerankOptions options = {}) {
  options.iterations = 1000;
  options.tolerance = 1e-15;
  return pagerank(graph, options).ranks;
}

inline std::size_t num_labels(const Ids& labels) {
  Ids sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  return static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
}

/// The same partition under other labels: both directions of the pairing are functions.
inline bool equivalent(const Ids& a, const Ids& b) {
  std::map<VertexId, VertexId> to_b, to_a;
  for (std::size_t v = 0; v < a.size(); ++v) {
    if (to_b.emplace(a[v], b[v]).first->second != b[v]) return false;
    if (to_a.emplace(b[v], a[v]).first->second != a[v]) return false;
  }
  return a.size() == b.size();
}

}  // namespace weir::reference
