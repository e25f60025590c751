// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace weir {

/// The value of an environment variable, or nothing.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string&)>;

/// The environment of this process. For commands; the library decides nothing by it.
std::optional<std::string> process_environment(const std::string& name);

/// True when an MPI launcher (mpirun, mpiexec, srun with PMI) started this process.
bool is_launched_by_mpi(const EnvironmentLookup& environment = process_environment);

/// How many ranks the launcher says it started; 1 without a launcher or where it does not say.
int launcher_size(const EnvironmentLookup& environment = process_environment);

/// What to tell the user when the launcher started more ranks than MPI sees: each process then runs
/// the whole job alone, because the launcher belongs to another MPI. Empty when all is well.
std::string launch_warning(int launched_ranks, int world_size);

}  // namespace weir
