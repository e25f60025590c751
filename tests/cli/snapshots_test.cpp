// SPDX-License-Identifier: Apache-2.0
// weir run --snapshots: a job that is stopped, or dies, and is started again.
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {
namespace {

constexpr double limit_seconds = 120;

class SnapshotsTest : public Workplace {
 protected:
  /// Waits until a snapshot is whole.
  bool has_snapshot() const {
    for (int i = 0; i < 6000; ++i) {
      if (files_with("manifest").size() > files_with("manifest.part").size()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
};

const std::string job = "run pagerank rmat:scale=10,seed=3 --iterations 3000 --digest";
const std::string with_snapshots = job + " --snapshots kept --snapshot-every 50";

TEST_F(SnapshotsTest, ASignalSuspendsAndResumeGoesOnAtOtherNumbersOfRanks) {
  const auto whole = weir(job);
  ASSERT_EQ(whole.code, 0) << whole.err;
  for (const int signal : {SIGTERM, SIGUSR1}) {
    const pid_t first = start(words_of(with_snapshots + " --ranks 2"));
    ASSERT_TRUE(has_snapshot());
    ::kill(first, signal);
    const auto stopped = finish(first, limit_seconds);
    EXPECT_EQ(stopped.code, 75) << stopped.err;
    EXPECT_NE(stopped.err.find("is kept; --resume goes on"), std::string::npos) << stopped.err;
    EXPECT_EQ(stopped.out, "");
    const auto resumed = weir(with_snapshots + " --ranks 3 --resume");
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(resumed.out, whole.out);
    EXPECT_NE(resumed.err.find("going on from the snapshot after superstep "), std::string::npos)
        << resumed.err;
    EXPECT_TRUE(files_with("manifest").empty()) << "a job that is over leaves none";
  }
}

TEST_F(SnapshotsTest, AKilledMpiJobGoesOnWhenItIsStartedAgain) {
  if (launcher_path().empty()) GTEST_SKIP() << "there is no mpirun";
  const auto whole = weir(job);
  const pid_t first = start(under_mpirun(3, with_snapshots));
  ASSERT_TRUE(has_snapshot());
  ::kill(-first, SIGKILL);
  EXPECT_NE(finish(first, limit_seconds).code, 0);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  ::setenv("WEIR_RESTART", "1", 1);
  const auto resumed = finish(start(under_mpirun(2, with_snapshots)), limit_seconds);
  ::unsetenv("WEIR_RESTART");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
  EXPECT_NE(resumed.err.find("going on from the snapshot after superstep "), std::string::npos)
      << resumed.err;
}

TEST_F(SnapshotsTest, ASignalToOneRankOfAnMpiJobSuspendsAll) {
  if (launcher_path().empty()) GTEST_SKIP() << "there is no mpirun";
  const auto whole = weir(job);
  const pid_t first = start(under_mpirun(3, with_snapshots));
  ASSERT_TRUE(has_snapshot());
  ::kill(first, SIGUSR1);  // mpirun hands it on
  const auto stopped = finish(first, limit_seconds);
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  const auto resumed = weir(with_snapshots + " --resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
}

TEST_F(SnapshotsTest, ABlockProgramSaysThatItTakesNone) {
  const auto run = weir("run wcc rmat:scale=6,seed=3 --snapshots kept");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("no snapshots are taken of a block program"), std::string::npos)
      << run.err;
}

TEST_F(SnapshotsTest, OptionsWithoutAFolderAreRefused) {
  for (const std::string option : {"--resume", "--snapshot-every 5", "--mtbf 60"}) {
    const auto run = weir("run bfs rmat:scale=6,seed=3 --source 1 " + option);
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.err.find("found without --snapshots; expected the folder"), std::string::npos)
        << run.err;
  }
  const auto run = weir("run bfs path:vertices=9 --source 1 --snapshots d --snapshot-every 0");
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("--snapshot-every: found \"0\""), std::string::npos) << run.err;
}

}  // namespace
}  // namespace weir::test
