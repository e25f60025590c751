// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/sort_2004.hpp>

#include <algorithm>
#include <cmath>

#include <weir/engine/model/check.hpp>

namespace weir::simulation {

namespace {

using schedule::StragglerOptions;
using schedule::StragglerRule;

// As published.
constexpr std::uint32_t num_workers = 1746;
constexpr std::uint32_t num_map_tasks = 15000;
constexpr std::uint32_t num_reduce_tasks = 4000;
constexpr double start_up = 60;
constexpr double late = 960;
constexpr double paper_normal = 891;
constexpr double paper_without_backup = 1283;
constexpr double paper_killed = 933;
constexpr std::uint32_t paper_num_killed = 200;

// Fitted, by hand, to the run without backup tasks and to the times at which things happen in it.
constexpr double map_task = 15;
constexpr double reduce_task = 245;
constexpr double spread = 0.1;
constexpr double shuffle_share = 0.4;
constexpr Slowness slow_reduce{0.004, 1.5, 3.3};

constexpr double tolerance = 0.05;

std::vector<SortConstant> constants(const SortOptions& options) {
  return {
      {"workers", "", num_workers, "the paper", false},
      {"map tasks", "", num_map_tasks, "the paper", false},
      {"reduce tasks", "", num_reduce_tasks, "the paper", false},
      {"start-up", "s", start_up, "the paper: about a minute", false},
      {"time of the kills", "s", options.kill_seconds, "the paper: several minutes in", false},
      {"map task", "s", map_task, "all map tasks end by 200 s", true},
      {"reduce task", "s", reduce_task, "all but 5 reduce tasks end by 960 s", true},
      {"spread of task times", "", spread, "the first reduce tasks end near 300 s", true},
      {"share of shuffling", "", shuffle_share, "the first reduce tasks end near 300 s", true},
      {"share of slow reduces", "", slow_reduce.share, "5 reduce tasks end after 960 s", true},
      {"least slowdown", "", slow_reduce.least, "5 reduce tasks end after 960 s", true},
      {"most slowdown", "", slow_reduce.most, "1,283 s without backup tasks", true},
  };
}

StragglerOptions with(StragglerRule rule, double begin_share = 1) {
  StragglerOptions straggler;
  straggler.rule = rule;
  straggler.begin_share = begin_share;
  return straggler;
}

std::vector<SortRow> empty_rows(const SortOptions& options) {
  const auto row = [](std::string label, StragglerOptions straggler, bool has_failures,
                      std::optional<double> paper = {}, bool is_fitted = false) {
    SortRow made;
    made.label = std::move(label);
    made.straggler = straggler;
    made.has_failures = has_failures;
    made.paper_seconds = paper;
    made.is_fitted = is_fitted;
    return made;
  };
  const std::string killed = std::to_string(options.num_killed) + " workers killed";
  const bool is_as_published = options.num_killed == paper_num_killed;
  return {
      row("no backup tasks", with(StragglerRule::off), false, paper_without_backup, true),
      row("normal", with(StragglerRule::mapreduce_2004), false, paper_normal),
      row("normal, last 10 %", with(StragglerRule::mapreduce_2004, 0.1), false),
      row("normal, last 2 %", with(StragglerRule::mapreduce_2004, 0.02), false),
      row("normal", with(StragglerRule::progress_rate), false),
      row("normal", with(StragglerRule::forced), false),
      row(killed, with(StragglerRule::off), true),
      row(killed, with(StragglerRule::mapreduce_2004), true,
          is_as_published ? std::optional(paper_killed) : std::nullopt),
      row(killed, with(StragglerRule::progress_rate), true),
      row(killed, with(StragglerRule::forced), true),
  };
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void fill(SortRow& row, const SortOptions& options) {
  std::vector<TaskOutcome> outcomes;
  for (std::uint32_t i = 0; i < options.num_runs; ++i) {
    const auto job = sort_job_2004(options, row.has_failures, row.straggler, options.seed + i);
    outcomes.push_back(simulate(job));
  }
  const auto median_of = [&](auto value_of) {
    std::vector<double> values;
    for (const TaskOutcome& outcome : outcomes) values.push_back(value_of(outcome));
    return median(std::move(values));
  };
  const auto [least, most] =
      std::minmax_element(outcomes.begin(), outcomes.end(),
                          [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  row.least_seconds = least->seconds;
  row.most_seconds = most->seconds;
  row.seconds = median_of([](const TaskOutcome& run) { return run.seconds; });
  row.wasted_share =
      median_of([](const TaskOutcome& run) { return run.wasted_seconds / run.useful_seconds; });
  row.num_clones =
      median_of([](const TaskOutcome& run) { return static_cast<double>(run.num_clones); });
  row.num_clones_won =
      median_of([](const TaskOutcome& run) { return static_cast<double>(run.num_clones_won); });
  row.num_late = median_of([](const TaskOutcome& run) {
    const std::vector<double>& ends = run.end_seconds[1];
    return static_cast<double>(
        std::count_if(ends.begin(), ends.end(), [](double end) { return end > late; }));
  });
  row.last_map_seconds = median_of([](const TaskOutcome& run) {
    return *std::max_element(run.end_seconds[0].begin(), run.end_seconds[0].end());
  });
  row.first_reduce_seconds = median_of([](const TaskOutcome& run) {
    return *std::min_element(run.end_seconds[1].begin(), run.end_seconds[1].end());
  });
}

}  // namespace

bool SortReport::is_met() const {
  return std::all_of(rows.begin(), rows.end(), [](const SortRow& row) {
    return row.is_fitted || std::abs(row.error()) <= tolerance;
  });
}

TaskJob sort_job_2004(const SortOptions& options, bool has_failures,
                      const StragglerOptions& straggler, std::uint64_t seed) {
  Stage map;
  map.name = "map";
  map.num_tasks = num_map_tasks;
  map.task_seconds = map_task;
  map.spread = spread;
  map.output_dies_with_worker = true;
  Stage reduce;
  reduce.name = "reduce";
  reduce.num_tasks = num_reduce_tasks;
  reduce.task_seconds = reduce_task;
  reduce.spread = spread;
  reduce.early_share = shuffle_share;
  reduce.slowness = slow_reduce;

  TaskJob job;
  job.num_workers = num_workers;
  job.start_seconds = start_up;
  job.stages = {map, reduce};
  job.straggler = straggler;
  job.seed = seed;
  for (std::uint32_t k = 0; has_failures && k < options.num_killed; ++k) {
    // "The cluster scheduler immediately restarted new worker processes on these machines."
    job.failures.push_back({options.kill_seconds, k * num_workers / options.num_killed, 0});
  }
  return job;
}

SortReport simulate_sort_2004(const SortOptions& options) {
  WEIR_EXPECT(options.num_runs > 0 && options.num_killed <= num_workers, usage,
              "sort-2004: expected a run at least, and at most 1746 killed workers");
  WEIR_EXPECT(std::isfinite(options.kill_seconds) && options.kill_seconds >= 0, usage,
              "sort-2004: expected workers to be killed at a time, 0 or more");
  SortReport report{constants(options), empty_rows(options)};
  for (SortRow& row : report.rows) fill(row, options);
  return report;
}

}  // namespace weir::simulation
