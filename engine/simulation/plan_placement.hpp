// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/engine/training/placed_plan.hpp>

namespace weir::simulation {

/// The plan with its ranks where a simulated iteration takes least, and the scores of all that was
/// tried: every order of the layout's dimensions, Scotch's mapping, the best of these refined by
/// swaps. Of equal times the placement with the fewest bytes times hops, then the first order. So
/// none is slower than the best order, nor than ranks on devices of their own number.
training::PlacedPlan placed_best(training::PlacedPlan plan);

}  // namespace weir::simulation
