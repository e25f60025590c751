// SPDX-License-Identifier: Apache-2.0
// weir simulate: what training takes, by the models of engine/training and event by event, and what
// stragglers and failures cost, by the simulator of engine/simulation.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <type_traits>

#include <weir/cli/command.hpp>
#include <weir/cli/simulated_plan_text.hpp>
#include <weir/cli/simulated_text.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/simulation/straggler_validation.hpp>
#include <weir/engine/training/validation.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

/// What can be simulated, and the options that belong to it.
struct Subject {
  std::string name;
  std::vector<std::string> options;
};

const std::vector<Subject>& all_subjects() {
  static const std::vector<Subject> subjects = {
      {"validate", {"--fit", "--data"}},
      {"sort-2004", {"--killed", "--kill-at", "--runs", "--seed", "--json"}},
      {"snapshots",
       {"--stall", "--mtbf", "--nodes", "--restart", "--superstep", "--failures", "--seed",
        "--json"}},
  };
  return subjects;
}

/// A plan has no name of its own: it is a file.
const Subject& plan_subject() {
  static const Subject plan = {"PLAN",
                               {"--slow", "--iterations", "--fail", "--mtbf", "--snapshot-every",
                                "--stall", "--restart", "--seed"}};
  return plan;
}

bool is_file_name(const std::string& text) {
  return text.find_first_of("./") != std::string::npos || std::filesystem::exists(text);
}

class SimulateCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  void check() override;
  int run(Job& job) const override;

 private:
  /// An option of some subjects: `take` reads its value.
  void option(OptionSet& options, const std::string& name, const std::string& type,
              const std::string& help, std::function<void(const std::string&)> take);
  bool is_given(const std::string& name) const {
    return std::find(given_.begin(), given_.end(), name) != given_.end();
  }
  SimulatedText simulate() const;

  std::string what_;
  std::vector<std::string> given_;  ///< Options of subjects, as found.
  std::string fit_folder_;
  std::string data_folder_;
  simulation::SortOptions sort_;
  SnapshotQuestion snapshots_;
  PlanQuestion plan_;
  std::optional<std::uint64_t> num_nodes_;
  std::string json_;
};

void SimulateCommand::option(OptionSet& options, const std::string& name, const std::string& type,
                             const std::string& help,
                             std::function<void(const std::string&)> take) {
  options.value(name, type, help, [this, name, take = std::move(take)](const std::string& found) {
    given_.push_back(name);
    take(found);
  });
}

void SimulateCommand::declare(OptionSet& options) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  constexpr double century = 100.0 * 365 * 24 * 3600;
  const auto any_time = [this, &options](const std::string& name, double least, double longest,
                                         const std::string& help, auto take) {
    option(options, name, "TIME", help, [name, least, longest, take](const std::string& found) {
      take(parse_time(name, found, least, longest));
    });
  };
  const auto time = [&any_time](const std::string& name, double& target, double least,
                                double longest, const std::string& help) {
    any_time(name, least, longest, help, [&target](double seconds) { target = seconds; });
  };
  const auto count = [this, &options](const std::string& name, auto& target, std::int64_t least,
                                      std::int64_t largest, const std::string& help) {
    option(options, name, "N", help, [&target, name, least, largest](const std::string& found) {
      const std::int64_t number = parse_whole_number(name, found, least, largest);
      target = static_cast<std::remove_reference_t<decltype(target)>>(number);
    });
  };

  options.argument(
      "WHAT", what_,
      "a plan that weir plan MODEL --json wrote; validate: predict what training "
      "took; sort-2004: a published sort with slow and killed workers; snapshots: what "
      "an interval between snapshots costs");
  options.group("A plan");
  option(options, "--slow", "HOST=FACTOR,...",
         "hosts, or rank:R, whose work takes FACTOR times as long; HOST.forward: forward passes "
         "alone",
         [this](const std::string& found) {
           for (const std::string& item : split_at_commas("--slow", found)) {
             plan_.stragglers.push_back(parse_straggler(item));
           }
         });
  option(options, "--iterations", "N", "the whole job, of N iterations, with its failures",
         [this](const std::string& found) {
           plan_.num_iterations = parse_whole_number("--iterations", found, 1, 100'000'000);
         });
  option(options, "--fail", "TIME,...", "when the job fails", [this](const std::string& found) {
    for (const std::string& item : split_at_commas("--fail", found)) {
      plan_.failures.push_back(parse_time("--fail", item, 0, 1e12));
    }
  });
  option(options, "--snapshot-every", "N|auto",
         "iterations from one snapshot to the next (default auto: by --stall and --mtbf)",
         [this](const std::string& found) {
           if (found == "auto") return;
           plan_.snapshot_every = parse_whole_number("--snapshot-every", found, 1, 100'000'000);
         });
  options.group("validate");
  option(options, "--fit", "DIR", "measured runs that constants are fitted to",
         [this](const std::string& found) { fit_folder_ = found; });
  option(options, "--data", "DIR", "measured runs to predict (default: those of --fit)",
         [this](const std::string& found) { data_folder_ = found; });
  options.group("sort-2004");
  count("--killed", sort_.num_killed, 1, 1746, "workers killed, of 1746 (default 200)");
  time("--kill-at", sort_.kill_seconds, 0, 1e4, "when they are killed (default 240s)");
  count("--runs", sort_.num_runs, 1, 10000, "runs of each row, which is their median (default 25)");
  options.group("snapshots");
  option(options, "--nodes", "N", "nodes of the job (default 1)", [this](const std::string& found) {
    num_nodes_ = static_cast<std::uint64_t>(parse_whole_number("--nodes", found, 1, 1 << 24));
  });
  option(options, "--superstep", "TIME", "mean superstep: says how many lie between snapshots",
         [this](const std::string& found) {
           snapshots_.superstep_seconds = parse_time("--superstep", found, 1e-9, century);
         });
  count("--failures", snapshots_.num_failures, 1, most,
        "failures simulated for each interval (default 200000)");
  options.group("A plan and snapshots");
  any_time(
      "--stall", 1e-6, century, "that a snapshot adds to the job (default 1s; snapshots: 0.2s)",
      [this](double seconds) { snapshots_.costs.stall_seconds = plan_.snapshot_stall = seconds; });
  any_time("--mtbf", 1e-3, century,
           "mean time between random failures of the job (snapshots: default 24h over --nodes)",
           [this](double seconds) {
             snapshots_.costs.mtbf_seconds = seconds;
             plan_.mtbf = seconds;
           });
  any_time("--restart", 0, century,
           "from a failure until the job computes again (default 300s; snapshots: 30s)",
           [this](double seconds) { snapshots_.costs.restart_seconds = plan_.restart = seconds; });
  options.group("All but validate");
  option(options, "--seed", "N", "of all random numbers (default 1)",
         [this](const std::string& found) {
           const std::int64_t seed = parse_whole_number("--seed", found, 0, std::int64_t{1} << 62);
           sort_.seed = snapshots_.seed = plan_.seed = static_cast<std::uint64_t>(seed);
         });
  option(options, "--json", "FILE",
         "sort-2004 and snapshots: write the result; - for standard output, without the table",
         [this](const std::string& found) { json_ = found; });
  declare_job_options(options, job_);
  options.footer(
      "A plan is simulated event by event: seconds of an iteration by cause, beside those of the\n"
      "closed form, and where --slow, --fail or --mtbf disturb it, what that costs\n"
      "(docs/planning.md).\n"
      "validate: DIR holds vtrain/multi_nodes_measured.csv, vtrain/single_node_measured.csv and\n"
      "sailor/; figures of papers are built in. See docs/training.md, docs/simulation.md.\n"
      "Exit codes: 0 done, all that was predicted met; 1 something missed; 3 a file cannot be\n"
      "read.\n\n"
      "Examples:\n"
      "  weir simulate plan.json --slow 17=1.1\n"
      "  weir simulate plan.json --iterations 100000 --mtbf 6h --stall 2s\n"
      "  weir simulate validate --fit measured --data measured\n"
      "  weir simulate sort-2004 --json sort.json\n"
      "  weir simulate snapshots --stall 0.2s --mtbf 6h --restart 30s --superstep 1.5s\n");
}

void SimulateCommand::check() {
  std::vector<std::string> names;
  const Subject* subject = nullptr;
  for (const Subject& each : all_subjects()) {
    names.push_back(each.name);
    if (each.name == what_) subject = &each;
  }
  if (subject == nullptr && is_file_name(what_)) {
    subject = &plan_subject();
    plan_.path = what_;
  }
  if (subject == nullptr) {
    throw Error(ErrorCode::usage, "WHAT: found \"" + what_ +
                                      "\"; expected a plan, validate, sort-2004 or snapshots" +
                                      suggestion(what_, names));
  }
  for (const std::string& name : given_) {
    const auto& own = subject->options;
    WEIR_EXPECT(std::find(own.begin(), own.end(), name) != own.end(), usage,
                name + ": not an option of weir simulate " + subject->name);
  }
  if (subject == &plan_subject() && !plan_.is_of_job()) {
    for (const char* const name :
         {"--fail", "--mtbf", "--snapshot-every", "--stall", "--restart", "--seed"}) {
      WEIR_EXPECT(!is_given(name), usage,
                  std::string("--iterations: found nothing beside ") + name +
                      "; expected the iterations of the job that fails");
    }
  }
  if (what_ == "validate") {
    WEIR_EXPECT(!fit_folder_.empty(), usage, "--fit: found nothing; expected a folder");
    if (data_folder_.empty()) data_folder_ = fit_folder_;
  }
  if (num_nodes_) {
    WEIR_EXPECT(!is_given("--mtbf"), usage,
                "--nodes: found beside --mtbf, which it would give; expected one of them");
    snapshots_.costs.mtbf_seconds = schedule::default_mtbf_seconds(*num_nodes_);
  }
}

SimulatedText SimulateCommand::simulate() const {
  if (what_ == "sort-2004") return simulate_sort(sort_);
  if (what_ == "snapshots") return simulate_snapshot_intervals(snapshots_);
  if (!plan_.path.empty()) return {simulate_plan(plan_), {}, true};
  training::Validation validation = training::validate(fit_folder_, data_folder_);
  simulation::validate_stragglers(validation);
  return {training::to_text(validation), {}, validation.is_met()};
}

int SimulateCommand::run(Job& job) const {
  int code = exit_done;
  job.context.agree([&] {
    if (!job.is_root()) return;
    const SimulatedText simulated = simulate();
    if (!simulated.is_met) code = exit_failed;
    const bool prints_json = is_standard_output(json_);
    if (!json_.empty() && !prints_json) {
      io::OutputFile file(json_);
      file.write(simulated.json);
      file.commit();
    }
    print(prints_json ? simulated.json : simulated.text);
  });
  return all_gather(job.context, code).front();
}

}  // namespace

std::unique_ptr<Command> make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace weir::cli
