// SPDX-License-Identifier: Apache-2.0
// What a supervisor sees of other processes of this host, by /proc.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace weir::cli {

/// Children of a process, their children and so on.
std::vector<pid_t> descendants_of(pid_t process);

/// Kills all descendants of this process, also those that come into being meanwhile, and waits for
/// them. Orphans are descendants only where this process is a subreaper. Gives up after some
/// seconds on processes that the kernel cannot end.
void kill_descendants();

/// Processes of this user whose environment holds `NAME=VALUE`.
std::vector<pid_t> processes_with(const std::string& variable);

/// Kills them all but this one, and waits until they are gone, some seconds at most. Returns the
/// files of shared memory of MPI that they mapped.
std::set<std::string> kill_all_with(const std::string& variable);

/// Files of shared memory that MPI made and that the process maps. They outlive the process where
/// it is killed.
std::set<std::string> mpi_segments_of(pid_t process);
/// Adds the segments of ranks that are gone, where the names of segments tell the job.
std::set<std::string> with_those_of_the_same_job(std::set<std::string> segments);
/// Removes those of them, and of the same jobs, that no process maps any more.
void remove_unused_segments(const std::set<std::string>& segments);

/// Where a process is: the stacks of its threads by gdb where that is installed and may attach,
/// else what /proc tells.
std::string stacks_of(pid_t process);

}  // namespace weir::cli
