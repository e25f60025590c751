// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/threads.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

namespace weir {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like the kernel's control groups.
class Cgroups : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("weir_cgroups_" + std::to_string(getpid()) + "_" + test->name());
    fs::create_directories(folder_);
    paths_ = {folder_ / "membership", folder_ / "root"};
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text << "\n";
  }

  std::optional<int> quota() const { return cgroup_quota(paths_); }

  fs::path folder_;
  CgroupPaths paths_;
};

TEST_F(Cgroups, NoneIsNoQuota) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(Cgroups, VersionTwo) {
  write("membership", "0::/job/step");
  EXPECT_EQ(quota(), std::nullopt);
  write("root/job/step/cpu.max", "max 100000");
  EXPECT_EQ(quota(), std::nullopt);
  write("root/job/step/cpu.max", "250000 100000");
  EXPECT_EQ(quota(), 3);  // rounded up
  write("root/job/cpu.max", "200000 100000");
  EXPECT_EQ(quota(), 2);  // the group around it is tighter
  write("root/job/cpu.max", "50000 100000");
  EXPECT_EQ(quota(), 1);
  write("root/job/cpu.max", "max");
  EXPECT_EQ(quota(), 3);
}

TEST_F(Cgroups, VersionTwoSeenFromInsideAContainer) {
  write("membership", "0::/");
  write("root/cpu.max", "200000 100000");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Cgroups, VersionOne) {
  write("membership", "5:memory:/job\n4:cpu,cpuacct:/job");
  write("root/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  write("root/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), std::nullopt);
  write("root/cpu,cpuacct/job/cpu.cfs_quota_us", "400000");
  write("root/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 4);
}

TEST_F(Cgroups, VersionOneUnderItsShortName) {
  write("membership", "4:cpu,cpuacct:/docker/elsewhere");
  write("root/cpu/cpu.cfs_quota_us", "150000");
  write("root/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Cgroups, NonsenseIsNoQuota) {
  write("membership", "nonsense\n::\n0::/");
  write("root/cpu.max", "many 0");
  EXPECT_EQ(quota(), std::nullopt);
  write("root/cpu.max", "100000 0");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST(Threads, AreSharedByTheRanksOfAHost) {
  // 48 cores, a quota of 2 (D85).
  EXPECT_EQ(default_threads({.num_cores = 48, .ranks_on_cores = 1, .quota = 2, .ranks_on_host = 1}),
            2);
  // 4 unbound ranks on 4 cores.
  EXPECT_EQ(default_threads({.num_cores = 4, .ranks_on_cores = 4, .quota = {}, .ranks_on_host = 4}),
            1);
  // 4 ranks bound to 12 cores each.
  EXPECT_EQ(
      default_threads({.num_cores = 12, .ranks_on_cores = 1, .quota = {}, .ranks_on_host = 4}), 12);
  EXPECT_EQ(
      default_threads({.num_cores = 12, .ranks_on_cores = 1, .quota = 16, .ranks_on_host = 4}), 4);
  // More ranks than cores.
  EXPECT_EQ(
      default_threads({.num_cores = 2, .ranks_on_cores = 64, .quota = 2, .ranks_on_host = 64}), 1);
}

TEST(Threads, AffinityIsThisProcess) {
  const Affinity affinity = current_affinity();
  EXPECT_GE(affinity.num_cores, 1);
  EXPECT_LE(affinity.num_cores, num_online_cores());
  EXPECT_EQ(affinity.mask_hash, current_affinity().mask_hash);
}

}  // namespace
}  // namespace weir
