// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weir/engine/simulation/plan_simulation.hpp>

namespace weir::cli {

/// A plan to look at: the schedule of the first pipeline, ranks by time, and the cluster with the
/// stage of each device. One <svg> element that needs nothing else, with a title and a description
/// for those who do not see it. Equal plans give equal bytes.
std::string svg_of(const training::PlacedPlan& plan, const simulation::PlanSimulation& simulated);

/// The same in a page, with the seconds of an iteration by cause as a table.
std::string html_of(const training::PlacedPlan& plan, const simulation::PlanSimulation& simulated);

}  // namespace weir::cli
