// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/launcher.hpp>

#include <charconv>
#include <cstdlib>

namespace weir {

namespace {

/// Set by Open MPI, by MPICH's Hydra and Slurm's PMI, and by MVAPICH.
constexpr const char* size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                          "MV2_COMM_WORLD_SIZE"};
/// Set by every launcher that speaks PMIx; it does not say the size.
constexpr const char* pmix_rank = "PMIX_RANK";
constexpr const char* slurm_step_size = "SLURM_STEP_NUM_TASKS";

std::optional<int> positive_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  int number = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || rest != end || number < 1) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (!value) return std::nullopt;
  return value;
}

bool is_launched_by_mpi(const EnvironmentLookup& environment) {
  for (const char* const name : size_variables) {
    if (positive_number(environment(name))) return true;
  }
  return environment(pmix_rank).has_value();
}

int launcher_size(const EnvironmentLookup& environment) {
  for (const char* const name : size_variables) {
    if (const auto size = positive_number(environment(name))) return *size;
  }
  if (!environment(pmix_rank)) return 1;
  return positive_number(environment(slurm_step_size)).value_or(1);
}

std::string launch_warning(int launched_ranks, int world_size) {
  if (launched_ranks <= 1 || world_size != 1) return {};
  return "the launcher started " + std::to_string(launched_ranks) +
         " ranks, but MPI sees one: each would run the whole job alone; use the mpirun of the MPI "
         "that weir is built with";
}

}  // namespace weir
