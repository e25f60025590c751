// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/simulated_plan_text.hpp>

#include <weir/cli/option_set.hpp>
#include <weir/cli/plan_text.hpp>
#include <weir/engine/schedule/snapshot_policy.hpp>
#include <weir/engine/simulation/interrupted_job.hpp>
#include <weir/engine/training/plan_file.hpp>

namespace weir::cli {

namespace {

using simulation::InterruptedJob;
using simulation::JobTime;
using simulation::PlanSimulation;
using simulation::Straggler;
using training::PlacedPlan;

constexpr std::int64_t most_ranks = std::int64_t{1} << 20;

std::string simulate_job(const PlanQuestion& question, double iteration_seconds) {
  constexpr double seconds_per_hour = 3600;
  InterruptedJob job;
  job.num_iterations = *question.num_iterations;
  job.iteration_seconds = iteration_seconds;
  job.snapshot_seconds = question.snapshot_stall;
  job.restart_seconds = question.restart;
  job.failures = question.failures;
  job.mean_seconds_between_failures = question.mtbf.value_or(0);
  job.seed = question.seed;
  const schedule::SnapshotCosts costs{question.snapshot_stall, question.mtbf.value_or(0),
                                      question.restart};
  if (question.snapshot_every) {
    job.snapshot_every = *question.snapshot_every;
  } else if (question.mtbf) {
    job.snapshot_every = static_cast<std::int64_t>(
        schedule::supersteps_between_snapshots(costs, {iteration_seconds, 0, 1}));
  }
  const JobTime time = simulation::run(job);

  std::string text = "\njob      " + fixed(time.total(), 1) + " s, " +
                     fixed(time.total() / seconds_per_hour, 2) + " h, for " +
                     std::to_string(job.num_iterations) + " iterations; " +
                     std::to_string(time.num_failures) + " failures, " +
                     std::to_string(time.num_snapshots) + " snapshots";
  text += job.snapshot_every > 0
              ? ", one after every " + std::to_string(job.snapshot_every) + " iterations\n"
              : ", which --snapshot-every or --mtbf would ask for\n";
  text += "waste    " + fixed(100 * (time.total() / time.work - 1), 3) + " % of the work";
  if (question.mtbf && job.snapshot_every > 0) {
    const double interval = static_cast<double>(job.snapshot_every) * iteration_seconds;
    text += "; expected " + fixed(100 * schedule::expected_waste(costs, interval), 3) +
            " %, to first order " + fixed(100 * schedule::first_order_waste(costs, interval), 3) +
            " %";
  }
  text += "\n\n";
  std::vector<std::vector<std::string>> rows = {{"part", "seconds", "share_%"}};
  const auto add = [&](const char* name, double seconds) {
    rows.push_back({name, fixed(seconds, 1), fixed(100 * seconds / time.total(), 3)});
  };
  add("work", time.work);
  add("snapshots", time.snapshots);
  add("lost", time.lost);
  add("restarts", time.restarts);
  add("total", time.total());
  return text + aligned(rows);
}

}  // namespace

simulation::Straggler parse_straggler(const std::string& item) {
  const auto equals = item.find('=');
  if (equals == std::string::npos) refuse_value("--slow", item, "HOST=FACTOR or rank:R=FACTOR");
  Straggler straggler;
  straggler.factor = parse_real("--slow", item.substr(equals + 1), 1e-3, 1e6);
  std::string who = item.substr(0, equals);
  const auto takes = [&](std::string_view end) {
    if (!who.ends_with(end)) return false;
    who.resize(who.size() - end.size());
    return true;
  };
  if (takes(".forward")) {
    straggler.is_slow_in_backward = false;
  } else if (takes(".backward")) {
    straggler.is_slow_in_forward = false;
  }
  if (who.starts_with("rank:")) {
    straggler.of = Straggler::Of::rank;
    who = who.substr(5);
  }
  straggler.number = static_cast<std::size_t>(parse_whole_number("--slow", who, 0, most_ranks - 1));
  return straggler;
}

std::string simulate_plan(const PlanQuestion& question) {
  const PlacedPlan plan = training::read_plan(question.path);
  const PlanSimulation simulated = simulation::simulate(plan, question.stragglers);
  const std::vector<training::NamedPart> closed = parts_of(plan.plan.time);
  const double closed_total = plan.plan.time.total();
  const auto peak = [&](double seconds) {
    return fixed(100 * model_flops_utilisation(plan.model, plan.layout(), seconds,
                                               plan.machine.peak_flops),
                 2) +
           " % of the peak";
  };

  std::string text = "plan     " + plan.model.name + " on " + plan.cluster.name() + ": " +
                     describe(plan.layout()) + '\n';
  text += "time     " + fixed(simulated.seconds, 4) + " s per iteration of " +
          std::to_string(plan.layout().global_batch) + " samples, " + peak(simulated.seconds) +
          '\n';
  const double undisturbed = simulated.seconds - simulated.parts.back().value;
  if (!question.stragglers.empty()) {
    text +=
        "without  " + fixed(undisturbed, 4) + " s without stragglers, " + peak(undisturbed) + '\n';
  }
  text += "closed   " + fixed(closed_total, 4) + " s by the closed form, " + peak(closed_total) +
          "; events say " + (undisturbed < closed_total ? "" : "+") +
          fixed(100 * (undisturbed / closed_total - 1), 2) + " %\n";
  text += "events   " + std::to_string(simulated.num_events) + " in " +
          std::to_string(simulated.num_pipelines) + " of " + std::to_string(plan.layout().data) +
          " pipelines, one of each kind\n\n";

  std::vector<std::vector<std::string>> rows = {{"part", "seconds", "share_%", "closed_form"}};
  for (std::size_t i = 0; i < simulated.parts.size(); ++i) {
    const double value = simulated.parts[i].value;
    const double expected = i < closed.size() ? closed[i].value : 0;
    if (value == 0 && expected == 0) continue;
    rows.push_back({simulated.parts[i].name, fixed(value, 4),
                    fixed(100 * value / simulated.seconds, 2), fixed(expected, 4)});
  }
  rows.push_back({"total", fixed(simulated.seconds, 4), "100.00", fixed(closed_total, 4)});
  text += aligned(rows);
  return question.is_of_job() ? text + simulate_job(question, simulated.seconds) : text;
}

}  // namespace weir::cli
