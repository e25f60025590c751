// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <weir/cli/descriptor.hpp>
#include <weir/cli/supervised.hpp>

namespace weir::cli {

/// One process of the command that is supervised: mpirun, or weir itself. What it and all below it
/// write to stdout is held.
class Launch {
 public:
  /// Starts the command for the `number`-th time, 0 at first, in a process group of its own. Throws
  /// Error{usage | output} when it cannot be started.
  Launch(const std::vector<std::string>& command, const JobFolder& folder, int number);
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  /// Readable once it has ended.
  int handle() const { return handle_.get(); }
  /// Also takes the status of orphans of the job that ended.
  bool has_ended();
  /// As waitpid tells it; once it has ended.
  int status() const { return status_.value_or(0); }
  void signal(int number) const;
  /// Kills its process group, and waits for it.
  void kill();
  /// Copies what was held to this process's stdout. Throws Error{output}.
  void release_stdout() const;

 private:
  [[noreturn]] void become(const std::vector<std::string>& command, const JobFolder& folder,
                           int number, int failure) const;

  Descriptor stdout_;
  pid_t process_ = -1;
  Descriptor handle_;
  std::optional<int> status_;
};

/// A handle of a process, readable once it has ended; -1 when there is none.
int open_process(pid_t process);

}  // namespace weir::cli
