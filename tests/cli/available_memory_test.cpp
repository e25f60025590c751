// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <weir/cli/available_memory.hpp>

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

/// What a kernel would tell, in a folder that goes with the test.
class AvailableMemory : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "weir-memory-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directories(folder_ / "cgroup/jobs/one");
    write("cgroup/memory.max", "max\n");
    write("membership", "0::/jobs/one\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::optional<std::uint64_t> found() const {
    return available_memory_bytes(
        {folder_ / "meminfo", folder_ / "membership", folder_ / "cgroup"});
  }

 private:
  fs::path folder_;
};

TEST_F(AvailableMemory, OfTheHostWithSwap) {
  write("meminfo",
        "MemTotal: 900 kB\nMemAvailable:   100 kB\nHugePages_Total: 0\nSwapFree: 20 kB\n");
  EXPECT_EQ(found(), 120U * 1024);
}

TEST_F(AvailableMemory, OfTheNarrowestControlGroup) {
  write("meminfo", "MemAvailable: 100 kB\n");
  write("cgroup/jobs/memory.max", "5000\n");
  write("cgroup/jobs/one/memory.max", "max\n");
  EXPECT_EQ(found(), 5000U);
  write("cgroup/jobs/one/memory.max", "4000\n");
  EXPECT_EQ(found(), 4000U);
}

TEST_F(AvailableMemory, UnknownWhereNothingTells) { EXPECT_EQ(found(), std::nullopt); }

}  // namespace
}  // namespace weir::cli
