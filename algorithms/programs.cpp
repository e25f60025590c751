// SPDX-License-Identifier: Apache-2.0
// The list of ready-made algorithms: one include and one line each.
#include <algorithm>
#include <array>

#include <weir/algorithms/algorithm.hpp>
#include <weir/algorithms/pagerank.hpp>

namespace weir {

std::span<const Algorithm> all_algorithms() {
  static const std::array algorithms = {
      pagerank_algorithm,
  };
  return algorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto all = all_algorithms();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace weir
