// SPDX-License-Identifier: Apache-2.0
// weir simulate: what training takes, by the models of engine/training, and event by event.
#include <optional>

#include <weir/cli/command.hpp>
#include <weir/cli/plan_text.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/simulation/interrupted_job.hpp>
#include <weir/engine/simulation/plan_simulation.hpp>
#include <weir/engine/training/validation.hpp>

namespace weir::cli {

namespace {

using simulation::InterruptedJob;
using simulation::JobTime;
using simulation::PlanSimulation;
using simulation::Straggler;
using training::PlacedPlan;

constexpr std::int64_t most_ranks = std::int64_t{1} << 20;

/// `17=1.1`, `rank:5=2`, `17.forward=1.1`, `rank:5.backward=2`.
Straggler parse_straggler(const std::string& item) {
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

class SimulateCommand final : public Command {
 public:
  void declare(OptionSet& options) override {
    options.argument("PLAN|validate", what_,
                     "a plan that weir plan MODEL --json wrote; validate: predict what was "
                     "measured, and compare");
    options.group("A PLAN");
    options.value("--slow", "HOST=FACTOR,...",
                  "hosts, or rank:R, whose work takes FACTOR times as long; HOST.forward: forward "
                  "passes alone",
                  [this](const std::string& text) {
                    for (const std::string& item : split_at_commas("--slow", text)) {
                      stragglers_.push_back(parse_straggler(item));
                    }
                  });
    options.whole_number("--iterations", num_iterations_, {1, std::int64_t{1} << 40},
                         "the whole job, of N iterations, with its failures");
    options.value("--fail", "SECONDS,...", "when the job fails", [this](const std::string& text) {
      for (const std::string& item : split_at_commas("--fail", text)) {
        failures_.push_back(parse_real("--fail", item, 0, 1e12));
      }
    });
    options.real("--mtbf", mtbf_hours_, {1e-6, 1e9},
                 "mean hours between random failures of the whole job");
    options.whole_number("--seed", seed_, {0, std::int64_t{1} << 53},
                         "of random failures (default 1)");
    options.value("--snapshot-every", "N|auto", "iterations; auto: by Daly's rule (default auto)",
                  [this](const std::string& text) {
                    if (text == "auto") return;
                    snapshot_every_ =
                        parse_whole_number("--snapshot-every", text, 1, std::int64_t{1} << 40);
                  });
    options.real("--snapshot-seconds", snapshot_seconds_, {0, 1e6},
                 "by which a snapshot holds the job up (default 1)");
    options.real("--restart-seconds", restart_seconds_, {0, 1e9},
                 "from a failure until the job goes on (default 300)");
    options.group("validate");
    options.text("--fit", "DIR", fit_folder_, "measured runs that constants are fitted to");
    options.text("--data", "DIR", data_folder_,
                 "measured runs to predict (default: those of --fit)");
    declare_job_options(options, job_);
    options.footer(
        "A PLAN is simulated event by event: seconds of an iteration by cause, beside those of "
        "the\n"
        "closed form, and where --slow, --fail or --mtbf disturb it, what that costs\n"
        "(docs/planning.md).\n\n"
        "validate: DIR holds vtrain/multi_nodes_measured.csv, vtrain/single_node_measured.csv and\n"
        "sailor/; figures of papers are built in. Prints the fitted constants, one line per row, "
        "and\n"
        "the goals (docs/training.md).\n\n"
        "Exit codes: 0 done, all goals met; 1 one missed; 3 a file cannot be read.\n\n"
        "Examples:\n"
        "  weir simulate plan.json --slow 17=1.1\n"
        "  weir simulate plan.json --iterations 100000 --mtbf 6 --snapshot-seconds 2\n"
        "  weir simulate validate --fit measured --data measured\n");
  }

  void check() override {
    const bool has_plan_options = !stragglers_.empty() || num_iterations_ || !failures_.empty() ||
                                  mtbf_hours_ || seed_ || snapshot_every_ || snapshot_seconds_ ||
                                  restart_seconds_;
    if (what_ == "validate") {
      WEIR_EXPECT(!has_plan_options, usage,
                  "validate: found an option of plans; expected it with a plan");
      WEIR_EXPECT(!fit_folder_.empty(), usage, "--fit: found nothing; expected a folder");
      if (data_folder_.empty()) data_folder_ = fit_folder_;
      return;
    }
    WEIR_EXPECT(fit_folder_.empty() && data_folder_.empty(), usage,
                what_ + ": found a plan with --fit or --data; expected validate with them");
    const bool has_job_options = !failures_.empty() || mtbf_hours_ || seed_ || snapshot_every_ ||
                                 snapshot_seconds_ || restart_seconds_;
    WEIR_EXPECT(num_iterations_ || !has_job_options, usage,
                "--iterations: found nothing; expected the iterations of the job that fails");
  }

  int run(Job& job) const override {
    int code = exit_done;
    job.context.agree([&] {
      if (!job.is_root()) return;
      if (what_ == "validate") {
        const training::Validation validation = training::validate(fit_folder_, data_folder_);
        print(training::to_text(validation));
        if (!validation.is_met()) code = exit_failed;
        return;
      }
      print(simulate_plan());
    });
    return all_gather(job.context, code).front();
  }

 private:
  std::string simulate_plan() const;
  std::string simulate_job(double iteration_seconds) const;

  std::string what_;
  std::string fit_folder_;
  std::string data_folder_;
  std::vector<Straggler> stragglers_;
  std::optional<std::int64_t> num_iterations_;
  std::vector<double> failures_;
  std::optional<double> mtbf_hours_;
  std::optional<std::int64_t> seed_;
  std::optional<std::int64_t> snapshot_every_;
  std::optional<double> snapshot_seconds_;
  std::optional<double> restart_seconds_;
};

std::string SimulateCommand::simulate_plan() const {
  const PlacedPlan plan = training::read_plan(what_);
  const PlanSimulation simulated = simulation::simulate(plan, stragglers_);
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
  if (!stragglers_.empty()) {
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
  return num_iterations_ ? text + simulate_job(simulated.seconds) : text;
}

std::string SimulateCommand::simulate_job(double iteration_seconds) const {
  constexpr double seconds_per_hour = 3600;
  InterruptedJob job;
  job.num_iterations = *num_iterations_;
  job.iteration_seconds = iteration_seconds;
  job.snapshot_seconds = snapshot_seconds_.value_or(1);
  job.restart_seconds = restart_seconds_.value_or(300);
  job.failures = failures_;
  job.mean_seconds_between_failures = mtbf_hours_.value_or(0) * seconds_per_hour;
  job.seed = static_cast<std::uint64_t>(seed_.value_or(1));
  if (snapshot_every_) {
    job.snapshot_every = *snapshot_every_;
  } else if (mtbf_hours_) {
    job.snapshot_every = simulation::snapshot_interval(job);
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
  text += "waste    " + fixed(100 * (time.total() / time.work - 1), 3) +
          " % of the work; expected by C/T + T/(2 M) + R/M: " +
          fixed(100 * simulation::expected_waste(job), 3) + " %\n\n";
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

std::unique_ptr<Command> make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace weir::cli
