// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/block.hpp>

namespace weir {

namespace {

/// Rows and arcs of a run: long enough to hide what handing it to a thread costs.
constexpr std::uint64_t work_of_run = 1 << 14;

}  // namespace

Block::Block(Context& context, const Vertices& vertices, const Topology& topology, bool is_directed)
    : context_(&context), vertices_(&vertices), topology_(topology), is_directed_(is_directed) {
  cuts_.push_back(0);
  std::uint64_t work = 0;
  for (Row row = 0; row < num_rows(); ++row) {
    work += 1 + neighbours(row).size();
    if (work < work_of_run) continue;
    cuts_.push_back(row + 1);
    work = 0;
  }
  if (work > 0) cuts_.push_back(num_rows());
}

}  // namespace weir
