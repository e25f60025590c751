// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/processes.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace weir::test {

namespace {

/// Files that look like Open MPI's, of a user that does not exist.
class Segments : public testing::Test {
 protected:
  void SetUp() override {
    if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm to write in";
  }
  void TearDown() override {
    for (const std::string& segment : made_) std::filesystem::remove(segment);
  }
  std::string make(const std::string& job, int rank) {
    const std::string path = "/dev/shm/vader_segment.weir-test-" + std::to_string(::getpid()) +
                             '.' + job + '.' + std::to_string(rank);
    std::ofstream(path) << std::string(4096, 'x');
    made_.insert(path);
    return path;
  }

 private:
  std::set<std::string> made_;
};

TEST_F(Segments, OfADeadJobGoAllWhenOneIsKnown) {
  const std::string first = make("1a2b0001", 0);
  const std::string second = make("1a2b0001", 1);
  const std::string other = make("1a2b00010", 0);
  EXPECT_EQ(cli::with_those_of_the_same_job({second}), (std::set<std::string>{first, second}));
  cli::remove_unused_segments({second});
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_FALSE(std::filesystem::exists(second));
  EXPECT_TRUE(std::filesystem::exists(other)) << "another job's";
}

TEST_F(Segments, ThatAProcessMapsStay) {
  const std::string used = make("1", 0);
  const std::string unused = make("1", 1);
  const int file = ::open(used.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  void* const place = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  ASSERT_NE(place, MAP_FAILED);
  EXPECT_EQ(cli::mpi_segments_of(::getpid()), std::set<std::string>{used});
  cli::remove_unused_segments({used, unused});
  EXPECT_TRUE(std::filesystem::exists(used));
  EXPECT_FALSE(std::filesystem::exists(unused));
  ::munmap(place, 4096);
}

TEST_F(Segments, AreNothingElse) {
  const std::string path = testing::TempDir() + "weir-no-segment";
  std::ofstream(path) << "kept";
  cli::remove_unused_segments({path});
  EXPECT_TRUE(std::filesystem::remove(path));
}

}  // namespace

}  // namespace weir::test
