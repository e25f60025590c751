// SPDX-License-Identifier: Apache-2.0
// weir simulate snapshots: what an interval between snapshots costs, by formula and by simulation.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <weir/cli/plan_text.hpp>
#include <weir/cli/simulated_text.hpp>
#include <weir/engine/simulation/snapshot_simulation.hpp>

namespace weir::cli {

namespace {

/// An interval, and the share of time that it loses.
struct Interval {
  std::string name;  ///< Of a formula, or nothing.
  double seconds = 0;
  double first_order_waste = 0;
  double exact_waste = 0;
  double simulated_waste = 0;
};

Interval interval_of(const SnapshotQuestion& question, std::string name, double seconds) {
  const auto run =
      simulation::simulate_snapshots(question.costs, seconds, question.num_failures, question.seed);
  return {std::move(name), seconds, schedule::first_order_waste(question.costs, seconds),
          schedule::expected_waste(question.costs, seconds), run.waste()};
}

/// The formulas' intervals, and the refined one times powers of the root of two; the lowest first.
std::vector<Interval> intervals_of(const SnapshotQuestion& question) {
  const double refined = schedule::refined_daly_interval(question.costs);
  std::vector<Interval> intervals = {
      interval_of(question, "Young", schedule::young_interval(question.costs))};
  const double daly = schedule::daly_interval(question.costs);
  if (daly > 0) intervals.push_back(interval_of(question, "Daly", daly));
  for (int power = -6; power <= 6; ++power) {
    intervals.push_back(
        interval_of(question, power == 0 ? "Daly, refined" : "", refined * std::exp2(power / 2.0)));
  }
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](const Interval& a, const Interval& b) { return a.seconds < b.seconds; });
  return intervals;
}

bool is_of_formula(const Interval& interval) { return !interval.name.empty(); }

const Interval& least_of(const std::vector<Interval>& intervals) {
  return *std::min_element(
      intervals.begin(), intervals.end(),
      [](const Interval& a, const Interval& b) { return a.simulated_waste < b.simulated_waste; });
}

std::string percent(double share) {
  return std::isfinite(share) ? fixed(100 * share, 3) + "%" : "all";
}

}  // namespace

SimulatedText simulate_snapshot_intervals(const SnapshotQuestion& question) {
  using Json = nlohmann::ordered_json;
  const schedule::SnapshotCosts& costs = question.costs;
  const std::vector<Interval> intervals = intervals_of(question);
  const double refined = schedule::refined_daly_interval(costs);
  const bool is_met = is_of_formula(least_of(intervals));

  std::vector<std::vector<std::string>> table = {
      {"interval_s", "of_refined", "first_order", "exact", "simulated", "by"}};
  Json rows = Json::array();
  for (const Interval& interval : intervals) {
    const double factor = interval.seconds / refined;
    table.push_back({fixed(interval.seconds, 3), fixed(factor, 3),
                     percent(interval.first_order_waste), percent(interval.exact_waste),
                     percent(interval.simulated_waste), interval.name});
    // Infinite waste is null.
    rows.push_back({{"by", interval.name},
                    {"interval_seconds", interval.seconds},
                    {"first_order_waste", interval.first_order_waste},
                    {"exact_waste", interval.exact_waste},
                    {"simulated_waste", interval.simulated_waste}});
  }

  SimulatedText simulated;
  simulated.text = "stall " + fixed(costs.stall_seconds, 3) + " s, a failure every " +
                   fixed(costs.mtbf_seconds, 0) + " s, restart " + fixed(costs.restart_seconds, 3) +
                   " s, " + std::to_string(question.num_failures) + " failures simulated\n\n" +
                   aligned(table) + "\nwaste: time lost per time of work\n";
  Json json = {{"simulation", "snapshots"},          {"seed", question.seed},
               {"failures", question.num_failures},  {"stall_seconds", costs.stall_seconds},
               {"mtbf_seconds", costs.mtbf_seconds}, {"restart_seconds", costs.restart_seconds},
               {"refined_interval_seconds", refined}};
  if (question.superstep_seconds) {
    const auto count = schedule::supersteps_between_snapshots(
        costs, {.superstep_seconds = *question.superstep_seconds});
    simulated.text += "a snapshot after every " + std::to_string(count) +
                      (count == 1 ? " superstep\n" : " supersteps\n");
    json["supersteps_between_snapshots"] = count;
  }
  simulated.text += std::string("simulated waste is least at an interval of a formula: ") +
                    (is_met ? "yes" : "MISSED") + '\n';
  json["rows"] = std::move(rows);
  json["met"] = is_met;
  simulated.json = json.dump(2) + '\n';
  simulated.is_met = is_met;
  return simulated;
}

}  // namespace weir::cli
