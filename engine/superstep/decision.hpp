// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <weir/engine/model/edges.hpp>
#include <weir/engine/model/vertex_program.hpp>
#include <weir/engine/superstep/summary.hpp>

namespace weir {

/// What the master decided about the next superstep.
struct Decision {
  bool is_halted = false;
  bool wakes_all = false;
  std::size_t phase = 0;
};

/// What all ranks know after a superstep: the folded summary and the folded aggregates.
template <class P>
struct Agreed {
  Summary summary;
  typename AggregatorsOf<P>::Values aggregated = AggregatorsOf<P>::identity();
  MasterOf<P> master{};
};

}  // namespace weir
