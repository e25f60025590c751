// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <weir/cli/console.hpp>

namespace weir::cli {

struct SuperviseOptions {
  std::vector<std::string> command;
  int max_restarts = 10;
  /// Seconds before the first restart; doubled for each that follows without progress.
  double backoff = 0.1;
  double longest_backoff = 60;
  /// Seconds without a heartbeat after which a rank may be taken for stopped; 0: never.
  double heartbeat = 10;
  /// Seconds in a run without a move, while another rank moves, after which a rank is taken for
  /// stuck; 0: never.
  double hang = 300;
  /// Deaths on a host after which it is left out of the command's list of hosts; 0: never.
  int drop_host = 0;
};

/// Starts the command, which starts weir, and starts it again until the job has ended by itself,
/// and returns the job's exit code; or gives up and returns 1. The job's stdout appears once, when
/// it has ended; stderr is this process's.
///
/// The process becomes the reaper of orphans and takes SIGINT, SIGTERM, SIGHUP and SIGUSR1: once
/// per process. Throws Error{usage | output} when the command cannot be started at all.
int supervise(const SuperviseOptions& options, Console& console);

}  // namespace weir::cli
