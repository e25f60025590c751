// SPDX-License-Identifier: Apache-2.0
// weir check: compares a result to a reference.
#include <weir/cli/command.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/result_check.hpp>

namespace weir::cli {

namespace {

class CheckCommand final : public Command {
 public:
  void declare(OptionSet& options) override {
    options.argument("RESULT", result_, "a file of ID VALUE lines, in any order");
    options.argument("REFERENCE", reference_, "the same with the values expected");
    options.choice(
        "--rule", rule_,
        {{"exact", io::Rule::exact},
         {"epsilon", io::Rule::epsilon},
         {"equivalence", io::Rule::equivalence}},
        "when values are equal: alike as numbers, near, or alike up to renaming (default "
        "exact)");
    options.real("--epsilon", epsilon_, {0, 1e300},
                 "for epsilon: largest |found - expected| / |expected| (default 1e-4)");
    declare_job_options(options, job_);
    options.footer(
        "Prints one line. Exit codes: 0 equal, 1 different, 3 a file cannot be read.\n\n"
        "Examples:\n"
        "  weir check levels.txt example-BFS\n"
        "  weir check ranks.txt example-PR --rule epsilon --epsilon 1e-6\n"
        "  weir check components.txt example-WCC --rule equivalence\n");
  }

  void check() override {
    WEIR_EXPECT(!epsilon_ || rule_ == io::Rule::epsilon, usage,
                "--epsilon: found it with another rule; expected --rule epsilon");
  }

  int run(Job& job) const override {
    int code = exit_done;
    job.context.agree([&] {
      if (job.is_root()) code = compare();
    });
    const auto codes = all_gather(job.context, code);
    return codes.front();
  }

 private:
  int compare() const {
    constexpr double default_epsilon = 1e-4;  // of Graphalytics
    const io::Comparison comparison =
        io::compare_results(result_, reference_, rule_, epsilon_.value_or(default_epsilon));
    const std::string vertices = std::to_string(comparison.num_vertices) + " vertices";
    if (comparison.equal) {
      print("equal: " + vertices + '\n');
      return exit_done;
    }
    print("different: " + std::to_string(comparison.num_mismatches) + " of " + vertices +
          "; first: " + comparison.first_mismatch + '\n');
    return exit_failed;
  }

  std::string result_;
  std::string reference_;
  io::Rule rule_ = io::Rule::exact;
  std::optional<double> epsilon_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace weir::cli
