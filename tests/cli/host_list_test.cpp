// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/host_list.hpp>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir::test {

namespace {

/// The line without `host`, or "none". Files are `two`, `lines` and `places`.
std::string without(const std::string& host, const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> command;
  for (std::string word; stream >> word;) command.push_back(word);
  const auto read = [](const std::string& path) -> std::optional<std::string> {
    if (path == "two") return "a\nb\n";
    if (path == "lines") return "# hosts\n\na slots=4 max_slots=8\n  b slots=2 # old\nc\n";
    if (path == "places") return "a:4\nb:2\n";
    return std::nullopt;
  };
  const auto words = cli::without_host(command, host, read);
  if (!words) return "none";
  std::string text;
  for (const std::string& word : *words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(HostList, OfOpenMpi) {
  EXPECT_EQ(without("b", "mpirun --host a,b,c weir run"), "mpirun --host a,c weir run");
  EXPECT_EQ(without("b", "mpirun -H b:2,a:4 -n 4 weir run"), "mpirun -H a:4 -n 4 weir run");
  EXPECT_EQ(without("b", "mpirun --host=a,b weir run"), "mpirun --host=a weir run");
  EXPECT_EQ(without("a", "mpirun -host a,a,b,b weir run"), "mpirun -host b,b weir run");
  EXPECT_EQ(without("b", "mpirun --hostfile two weir run"), "mpirun --host a:* weir run");
  EXPECT_EQ(without("b", "mpirun --machinefile lines -v weir run"),
            "mpirun --host a:4,c:* -v weir run");
}

TEST(HostList, OfHydra) {
  EXPECT_EQ(without("b", "mpiexec -hosts a:1,b:2 -n 9 weir run"),
            "mpiexec -hosts a:1 -n 9 weir run");
  EXPECT_EQ(without("a", "mpiexec -f places -n 4 weir run"), "mpiexec -hosts b:2 -n 4 weir run");
}

TEST(HostList, OfSlurm) {
  EXPECT_EQ(without("b", "srun -n 4 weir run"), "srun --exclude=b -n 4 weir run");
  EXPECT_EQ(without("b", "/usr/bin/srun --exclude=a weir run"),
            "/usr/bin/srun --exclude=a,b weir run");
  EXPECT_EQ(without("b", "srun -x a weir run"), "srun -x a,b weir run");
  EXPECT_EQ(without("b", "srun -w a,b weir run"), "srun --exclude=b -w a weir run");
  EXPECT_EQ(without("b", "srun -w b weir run"), "none");
  EXPECT_EQ(without("n2", "env A=1 srun --nodelist=n[1-3] weir run"),
            "env A=1 srun --exclude=n2 --nodelist=n[1-3] weir run");
}

TEST(HostList, OpenMpiStartsNoMoreRanksThanThereAreSlots) {
  EXPECT_EQ(without("b", "mpirun -n 6 --host a:4,b:4 weir run"), "mpirun -n 4 --host a:4 weir run");
  EXPECT_EQ(without("b", "mpirun -np 3 --host a,b,c weir run"), "mpirun -np 2 --host a,c weir run");
  EXPECT_EQ(without("b", "mpirun -n 6 --oversubscribe --host a:4,b:4 weir run"),
            "mpirun -n 6 --oversubscribe --host a:4 weir run");
  EXPECT_EQ(without("b", "mpirun -n 6 --map-by core:OVERSUBSCRIBE --host a,b weir run"),
            "mpirun -n 6 --map-by core:OVERSUBSCRIBE --host a weir run");
  EXPECT_EQ(without("b", "mpirun -n 6 --host a:*,b:4 weir run"), "mpirun -n 6 --host a:* weir run");
}

TEST(HostList, NamesWithAndWithoutADomainAreOne) {
  EXPECT_EQ(without("b.site.org", "mpirun --host a,b weir run"), "mpirun --host a weir run");
  EXPECT_EQ(without("b", "mpirun --host a,b.site.org weir run"), "mpirun --host a weir run");
  EXPECT_EQ(without("b.other.org", "mpirun --host a,b.site.org weir run"), "none");
  EXPECT_EQ(without("10.0.0.1", "mpirun --host 10.0.0.2,10.0.0.1 weir run"),
            "mpirun --host 10.0.0.2 weir run");
  EXPECT_EQ(without("10", "mpirun --host 10.0.0.2,10.0.0.1 weir run"), "none");
}

TEST(HostList, NothingWithoutAnotherHostOrAList) {
  EXPECT_EQ(without("a", "mpirun -n 4 weir run"), "none");
  EXPECT_EQ(without("a", "mpirun --host a,a:3 weir run"), "none");
  EXPECT_EQ(without("c", "mpirun --host a,b weir run"), "none");
  EXPECT_EQ(without("a", "mpirun --hostfile missing weir run"), "none");
  EXPECT_EQ(without("a", "mpirun --host"), "none");
  EXPECT_EQ(without("a", "weir run pagerank graph"), "none");
}

TEST(HostList, WhatWeirIsTold) {
  EXPECT_EQ(without("b", "mpirun --host a,b build/weir-mpich run -f b -n 7 --host a,b"),
            "mpirun --host a build/weir-mpich run -f b -n 7 --host a,b");
  EXPECT_EQ(without("b", "mpirun -n 2 weir run --host a,b"), "none");
}

}  // namespace

}  // namespace weir::test
