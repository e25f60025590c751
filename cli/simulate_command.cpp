// SPDX-License-Identifier: Apache-2.0
// weir simulate: what training takes, by the models of engine/training, and event by event.
#include <optional>

#include <weir/cli/command.hpp>
#include <weir/cli/simulated_plan_text.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/training/validation.hpp>

namespace weir::cli {

namespace {

class SimulateCommand final : public Command {
 public:
  void declare(OptionSet& options) override {
    constexpr std::int64_t most = 100'000'000;
    options.argument("PLAN|validate", what_,
                     "a plan that weir plan MODEL --json wrote; validate: predict what was "
                     "measured, and compare");
    options.group("A PLAN");
    options.value("--slow", "HOST=FACTOR,...",
                  "hosts, or rank:R, whose work takes FACTOR times as long; HOST.forward: forward "
                  "passes alone",
                  [this](const std::string& text) {
                    for (const std::string& item : split_at_commas("--slow", text)) {
                      plan_.stragglers.push_back(parse_straggler(item));
                    }
                  });
    options.whole_number("--iterations", plan_.num_iterations, {1, most},
                         "the whole job, of N iterations, with its failures");
    options.value("--fail", "SECONDS,...", "when the job fails", [this](const std::string& text) {
      for (const std::string& item : split_at_commas("--fail", text)) {
        plan_.failures.push_back(parse_real("--fail", item, 0, 1e12));
      }
    });
    options.real("--mtbf", plan_.mtbf, {1e-3, 1e9},
                 "mean seconds between random failures of the whole job");
    options.whole_number("--seed", seed_, {0, std::int64_t{1} << 53},
                         "of random failures (default 1)");
    options.value("--snapshot-every", "N|auto",
                  "iterations from one snapshot to the next (default auto: by --stall and --mtbf)",
                  [this](const std::string& text) {
                    if (text == "auto") return;
                    plan_.snapshot_every = parse_whole_number("--snapshot-every", text, 1, most);
                  });
    options.real("--stall", stall_, {1e-6, 1e6},
                 "seconds by which a snapshot holds the job up (default 1)");
    options.real("--restart", restart_, {0, 1e9},
                 "seconds from a failure until the job goes on (default 300)");
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
        "  weir simulate plan.json --iterations 100000 --mtbf 21600 --stall 2\n"
        "  weir simulate validate --fit measured --data measured\n");
  }

  void check() override {
    const bool has_job_options = !plan_.failures.empty() || plan_.mtbf || seed_ ||
                                 plan_.snapshot_every || stall_ || restart_;
    if (what_ == "validate") {
      WEIR_EXPECT(plan_.stragglers.empty() && !plan_.is_of_job() && !has_job_options, usage,
                  "validate: found an option of plans; expected it with a plan");
      WEIR_EXPECT(!fit_folder_.empty(), usage, "--fit: found nothing; expected a folder");
      if (data_folder_.empty()) data_folder_ = fit_folder_;
      return;
    }
    WEIR_EXPECT(fit_folder_.empty() && data_folder_.empty(), usage,
                what_ + ": found a plan with --fit or --data; expected validate with them");
    WEIR_EXPECT(plan_.is_of_job() || !has_job_options, usage,
                "--iterations: found nothing; expected the iterations of the job that fails");
    plan_.path = what_;
    plan_.seed = static_cast<std::uint64_t>(seed_.value_or(1));
    plan_.snapshot_stall = stall_.value_or(plan_.snapshot_stall);
    plan_.restart = restart_.value_or(plan_.restart);
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
      print(simulate_plan(plan_));
    });
    return all_gather(job.context, code).front();
  }

 private:
  std::string what_;
  std::string fit_folder_;
  std::string data_folder_;
  PlanQuestion plan_;
  std::optional<std::int64_t> seed_;
  std::optional<double> stall_;
  std::optional<double> restart_;
};

}  // namespace

std::unique_ptr<Command> make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace weir::cli
