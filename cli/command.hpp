// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weir/cli/job.hpp>
#include <weir/cli/option_set.hpp>

namespace weir::cli {

/// One subcommand: its options, and what it does on every rank.
class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  virtual void declare(OptionSet& options) = 0;
  /// Looks at the options together, once, before any rank. Throws Error{usage}.
  virtual void check() {}
  virtual const JobOptions& job_options() const { return job_; }
  /// Does all of it and returns the exit code: `run` on every rank, unless a command has none.
  virtual int execute(const World& world, const std::vector<std::string>& arguments) const {
    return run_on_ranks(world, job_options(), arguments, [this](Job& job) { return run(job); });
  }
  /// Runs on every rank and returns the exit code, the same on each. Collective.
  virtual int run(Job& /*job*/) const { return exit_done; }

 protected:
  JobOptions job_;
};

/// A line of the list of commands.
struct CommandEntry {
  std::string_view name;
  std::string_view arguments;
  std::string_view summary;
  std::unique_ptr<Command> (*make)();
};

const std::vector<CommandEntry>& all_commands();

// One source file each.
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_generate_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_info_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_simulate_command();
std::unique_ptr<Command> make_supervise_command();
std::unique_ptr<Command> make_ledger_command();
std::unique_ptr<Command> make_doctor_command();

}  // namespace weir::cli
