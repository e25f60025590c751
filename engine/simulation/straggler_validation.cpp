// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/straggler_validation.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <weir/engine/simulation/plan_simulation.hpp>
#include <weir/engine/training/published_runs.hpp>

namespace weir::simulation {

namespace {

namespace published = training::published;

training::PlacedPlan plan_of(const training::CalibratedRun& run) {
  training::ParallelPlanRequest request;
  request.model = run.model;
  request.machine = run.machine;
  request.software = run.software;
  training::ParallelPlans found;
  found.best = {{run.layout, predict(run.model, run.layout, run.machine, run.software), {}}};
  const std::int64_t num_nodes = run.layout.num_devices() / run.machine.devices_per_node;
  return place_in_order(request, found,
                        schedule::parse_cluster("a100-8x" + std::to_string(num_nodes)));
}

/// Points of utilisation that one slow host of each stage costs. A host is a stage of one pipeline.
std::vector<double> points_of_stages(const training::PlacedPlan& plan, bool is_slow_in_backward) {
  std::vector<double> points;
  for (std::size_t stage = 0; stage < plan.schedule.num_ranks(); ++stage) {
    const PlanSimulation slowed =
        simulate(plan, {{Straggler::Of::host, stage, published::megascale_straggler_factor, true,
                         is_slow_in_backward}});
    const auto utilisation = [&](double seconds) {
      return 100 *
             model_flops_utilisation(plan.model, plan.layout(), seconds, plan.machine.peak_flops);
    };
    points.push_back(utilisation(slowed.seconds - slowed.parts.back().value) -
                     utilisation(slowed.seconds));
  }
  return points;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void validate_stragglers(training::Validation& validation) {
  const std::string oracle = "Jiang24, stragglers";
  const training::PlacedPlan plan = plan_of(training::largest_megascale_run());
  const std::vector<double> forward = points_of_stages(plan, false);
  const std::vector<double> both = points_of_stages(plan, true);
  const double least = *std::min_element(forward.begin(), forward.end());
  const double most = *std::max_element(forward.begin(), forward.end());
  const auto add = [&](const char* label, double points) {
    validation.rows.push_back(
        {oracle, label, "%", published::megascale_straggler_points, points, false});
  };
  add("1 host slow forward, mean of its 8 stages", mean(forward));
  add("1 host slow forward, stage where it costs least", least);
  add("1 host slow forward, last stage", forward.back());
  add("1 host slow in all passes, mean of its 8 stages", mean(both));
  validation.goals.push_back({oracle, "least points of 1 host slow forward, by stage", least,
                              published::megascale_straggler_points});
  validation.goals.push_back({oracle, "most points of 1 host slow forward, by stage", most,
                              published::megascale_straggler_points, true});
}

}  // namespace weir::simulation
