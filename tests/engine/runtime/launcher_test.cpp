// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/launcher.hpp>

#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace weir {
namespace {

EnvironmentLookup environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Launcher, IsKnownByItsVariables) {
  EXPECT_FALSE(is_launched_by_mpi(environment_of({})));
  EXPECT_EQ(launcher_size(environment_of({})), 1);
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    EXPECT_TRUE(is_launched_by_mpi(environment_of({{name, "3"}})));
    EXPECT_EQ(launcher_size(environment_of({{name, "3"}})), 3);
    EXPECT_EQ(launcher_size(environment_of({{name, "three"}})), 1);
    EXPECT_EQ(launcher_size(environment_of({{name, ""}})), 1);
  }
  EXPECT_TRUE(is_launched_by_mpi(environment_of({{"PMIX_RANK", "0"}})));
  EXPECT_EQ(launcher_size(environment_of({{"PMIX_RANK", "0"}})), 1);
  EXPECT_EQ(launcher_size(environment_of({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}})), 8);
}

TEST(Launcher, OfAnotherMpiIsWarnedOf) {  // D80
  EXPECT_EQ(launch_warning(1, 1), "");
  EXPECT_EQ(launch_warning(4, 4), "");
  EXPECT_NE(launch_warning(2, 1).find("started 2 ranks, but MPI sees one"), std::string::npos);
}

}  // namespace
}  // namespace weir
