// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <weir/engine/schedule/placement.hpp>
#include <weir/engine/training/placed_plan.hpp>

namespace weir::training {

/// The dimensions of a layout with several ranks, tensor first as ranks are numbered; one rank
/// alone is the tensor dimension. Their bytes are not set: plan_traffic() says who talks to whom.
std::vector<schedule::Dimension> grid_of(const Layout& layout);

/// Bytes that pairs of ranks exchange in an iteration, both ways together, each pair once:
/// - rings of tensor ranks, 2(t-1)/t of the activations for each all-reduce ([Shoeybi19]);
/// - rings of context ranks, all blocks of keys and values once forward, twice backward;
/// - activations and their gradients between ranks with neighbouring stages;
/// - expert ranks, each to each other, of which one stands for several that are as far away where
///   the group is in order; and rings of the ranks that hold the same experts;
/// - rings of gradients over data and context ranks.
/// What is recomputed is sent again. Layers of a stage are all of the model's mean kind.
std::vector<schedule::Traffic> plan_traffic(const PlacedPlan& plan);

}  // namespace weir::training
