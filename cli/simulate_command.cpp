// SPDX-License-Identifier: Apache-2.0
// weir simulate: what training takes, by the models of engine/training.
#include <weir/cli/command.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/training/validation.hpp>

namespace weir::cli {

namespace {

class SimulateCommand final : public Command {
 public:
  void declare(OptionSet& options) override {
    options.argument("WHAT", what_, "validate: predict what was measured, and compare");
    options.text("--fit", "DIR", fit_folder_, "measured runs that constants are fitted to");
    options.text("--data", "DIR", data_folder_,
                 "measured runs to predict (default: those of --fit)");
    declare_job_options(options, job_);
    options.footer(
        "DIR holds vtrain/multi_nodes_measured.csv, vtrain/single_node_measured.csv and sailor/;\n"
        "figures of papers are built in. Prints the fitted constants, one line per row, and the\n"
        "goals (docs/training.md). Exit codes: 0 all goals met, 1 one missed, 3 a file cannot be\n"
        "read.\n\n"
        "Example: weir simulate validate --fit measured --data measured\n");
  }

  void check() override {
    WEIR_EXPECT(what_ == "validate", usage, "WHAT: found \"" + what_ + "\"; expected validate");
    WEIR_EXPECT(!fit_folder_.empty(), usage, "--fit: found nothing; expected a folder");
    if (data_folder_.empty()) data_folder_ = fit_folder_;
  }

  int run(Job& job) const override {
    int code = exit_done;
    job.context.agree([&] {
      if (!job.is_root()) return;
      const training::Validation validation = training::validate(fit_folder_, data_folder_);
      print(training::to_text(validation));
      if (!validation.is_met()) code = exit_failed;
    });
    return all_gather(job.context, code).front();
  }

 private:
  std::string what_;
  std::string fit_folder_;
  std::string data_folder_;
};

}  // namespace

std::unique_ptr<Command> make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace weir::cli
