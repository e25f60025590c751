// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weir/cli/console.hpp>
#include <weir/cli/injection.hpp>
#include <weir/cli/job_watch.hpp>
#include <weir/cli/option_set.hpp>
#include <weir/cli/world.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/options.hpp>

namespace weir::cli {

/// What scripts may rely on; docs/semantics.md, part 8.
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_input = 3,
  exit_again = 75  ///< suspended: the same command with --resume goes on
};

ExitCode exit_code_of(ErrorCode code);

/// Options of every command that runs on ranks.
struct JobOptions {
  std::optional<Rank> ranks{};
  int threads = 0;
  double deadline_seconds = 600;
  bool quiet = false;
  Verbosity verbosity = Verbosity::information;
  bool suspends = false;  ///< SIGTERM and SIGUSR1 ask for a snapshot first
  Injection injection{};
};

void declare_job_options(OptionSet& options, JobOptions& job);

/// What a command works with on one rank.
struct Job {
  Context& context;
  Console& console;
  const World& world;
  CancelToken cancel;
  CancelToken stop;  ///< after a snapshot
  std::vector<std::string> command_line;
  const JobWatch& watch;

  bool is_root() const { return context.is_root(); }
  /// Says something once.
  void say(std::string_view text) const {
    if (is_root()) console.say(text);
  }
  void warn(std::string_view text) const {
    if (is_root()) console.warn(text);
  }
  /// Throws Error{cancelled} when a signal came; for the inside of `agree`.
  void throw_if_cancelled() const;
};

/// Runs `body` on the processes of the MPI job, or on `ranks` threads of this process, and returns
/// the exit code. An error is said once, by one rank.
int run_on_ranks(const World& world, const JobOptions& options,
                 const std::vector<std::string>& command_line,
                 const std::function<int(Job&)>& body);

}  // namespace weir::cli
