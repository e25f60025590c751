// SPDX-License-Identifier: Apache-2.0
// Jobs that die under weir supervise, with each MPI whose command was built.
#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <weir/cli/processes.hpp>
#include <weir/cli/supervised.hpp>
#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

constexpr double limit_seconds = 120;

int count(const std::string& text, const std::string& part) {
  int num = 0;
  if (part.empty()) return 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++num;
  return num;
}

/// Waits until `holds`, for as long as a busy machine may take.
bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class SuperviseTest : public Workplace {
 protected:
  void SetUp() override {
    Workplace::SetUp();
    if (IsSkipped()) return;
    std::filesystem::create_directory(path("tmp"));
    ::setenv("TMPDIR", path("tmp").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    Workplace::TearDown();
  }

  /// `weir supervise OPTIONS -- COMMAND`.
  std::vector<std::string> supervised(const std::string& options,
                                      const std::vector<std::string>& command) const {
    std::vector<std::string> words = words_of("supervise " + options + " --");
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  Finished supervise(const std::string& options, const std::vector<std::string>& command) const {
    return finish(start(supervised(options, command)), limit_seconds);
  }

  /// The folder between the supervisor that runs and its job.
  std::optional<cli::JobFolder> folder() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path("tmp"), error)) {
      if (entry.path().filename().string().starts_with("weir-supervise-")) {
        return cli::JobFolder(entry.path());
      }
    }
    return std::nullopt;
  }
  std::optional<cli::Heartbeat> heartbeat(Rank rank) const {
    const auto found = folder();
    return found ? cli::Heartbeat::open(found->heartbeat(rank)) : std::nullopt;
  }
  /// Waits until the rank, of a start other than the one of `other_than`, computes.
  pid_t computing_rank(Rank rank, pid_t other_than = 0) const {
    pid_t found = 0;
    (void)eventually([&] {
      const auto beat = heartbeat(rank);
      if (!beat || beat->page().superstep < 1 || beat->page().pid == other_than) return false;
      found = beat->page().pid;
      return true;
    });
    return found;
  }

  void expect_nothing_left() const {
    std::string left;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("tmp")))
      left += entry.path().string() + '\n';
    EXPECT_EQ(left, "");
    EXPECT_TRUE(files_with(".weir-").empty());
    EXPECT_TRUE(eventually([&] { return cli::processes_with("TMPDIR=" + path("tmp")).empty(); }));
  }
};

TEST_F(SuperviseTest, PassesOnOutputAndExitCode) {
  const auto alone = weir("run pagerank rmat:scale=8,seed=5 --digest --output - --quiet");
  const auto run =
      supervise("", words_of("run pagerank rmat:scale=8,seed=5 --digest --output - --quiet"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, alone.out);
  EXPECT_EQ(run.err, "");

  write("g.txt", "1 x\n");
  write("a.txt", "1 1\n");
  write("b.txt", "1 2\n");
  struct Case {
    std::string line;
    int code;
    std::string error;
  };
  for (const Case& each : {Case{"run wcc g.txt --rnaks 2", 2, "weir: --rnaks"},
                           Case{"run wcc g.txt", 3, "weir: g.txt:1: found"},
                           Case{"run wcc path:9 --output /dev/full", 1, "weir: /dev/full"},
                           Case{"check a.txt b.txt --rule exact", 1, ""}}) {
    const auto job = supervise("", words_of(each.line));
    EXPECT_EQ(job.code, each.code) << each.line << "\n" << job.err;
    EXPECT_EQ(count(job.err, "starting again"), 0) << job.err;
    EXPECT_EQ(count(job.err, each.error), each.error.empty() ? 0 : 1) << job.err;
  }
  expect_nothing_left();
}

TEST_F(SuperviseTest, RefusesWhatItCannotDo) {
  EXPECT_EQ(supervise("", {}).code, 2);
  const auto none = supervise("", {"no-such-launcher", "weir"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "weir: no-such-launcher: cannot start: No such file or directory\n");
  const auto input = supervise("", words_of("run wcc -"));
  EXPECT_EQ(input.code, 2);
  EXPECT_EQ(count(input.err, "weir: GRAPH: found - under weir supervise"), 1) << input.err;
  const auto other = supervise("--backoff 0", {"true"});
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(count(other.err, "3 times in a row without progress; given up"), 1) << other.err;
  expect_nothing_left();
}

TEST_F(SuperviseTest, ACrashIsGivenUpWithItsStack) {
  const auto run = supervise(
      "", words_of("run pagerank rmat:scale=8,seed=5 --digest --inject rank0.crash*@superstep=4"));
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(count(run.err, "rank 0 died in superstep 4; starting again (1 of 10)"), 1) << run.err;
  EXPECT_EQ(count(run.err,
                  "rank 0 died in superstep 4, 2 times in a row without progress; given up; its "
                  "stack:"),
            1)
      << run.err;
  EXPECT_GE(count(run.err, "weir:   "), 3) << run.err;
  expect_nothing_left();
}

TEST_F(SuperviseTest, RestartsAreCounted) {
  const auto run = supervise("--max-restarts 0",
                             words_of("run wcc path:9 --digest --inject rank0.kill@superstep=0"));
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(count(run.err, "rank 0 died in superstep 0 after 0 restarts; given up"), 1) << run.err;
}

class SuperviseMpiTest : public SuperviseTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    SuperviseTest::SetUp();
    if (IsSkipped()) return;
    launcher_ = launcher_path();
    command_ = command_path();
    if (launcher_.find(GetParam()) == std::string::npos) {
      launcher_ = "/usr/bin/mpirun." + GetParam();
      command_ = command_path() + '-' + GetParam();
    }
    if (::access(launcher_.c_str(), X_OK) != 0 || ::access(command_.c_str(), X_OK) != 0) {
      GTEST_SKIP() << "no " << launcher_ << " or no " << command_;
    }
  }

  std::vector<std::string> mpirun(int ranks, const std::string& line) const {
    std::vector<std::string> words = under_mpirun(ranks, line);
    words[0] = launcher_;
    *std::find(words.begin(), words.end(), command_path()) = command_;
    if (GetParam() != "openmpi")
      std::erase_if(words,
                    [](const std::string& word) { return word == "--bind-to" || word == "none"; });
    return words;
  }

  bool is_hydra() const { return GetParam() == "mpich"; }

  std::string launcher_;
  std::string command_;
};

TEST_P(SuperviseMpiTest, ADeadRankCostsARestartAndNoBit) {
  const std::string line = "run pagerank rmat:scale=8,seed=5 --digest --output r.txt --quiet";
  const auto alone = weir(line);
  const std::string result = read("r.txt");
  for (const std::string fault : {"rank1.kill@superstep=5", "rank0.kill@barrier=3",
                                  "rank2.kill@send=7", "rank1.exit@barrier=4"}) {
    std::filesystem::remove(path("r.txt"));
    const auto run = supervise("", mpirun(3, line + " --inject " + fault));
    EXPECT_EQ(run.code, 0) << fault << "\n" << run.err;
    EXPECT_EQ(run.out, alone.out) << fault;
    EXPECT_EQ(read("r.txt"), result) << fault;
    const std::string rank = fault.substr(4, 1);
    const std::string step = fault.substr(fault.size() - 1);
    // Hydra kills the other ranks so soon that who died first is a guess.
    const std::string who = is_hydra() ? " died" : "weir: rank " + rank + " died";
    EXPECT_EQ(count(run.err, who + " in superstep " + step + "; starting again (1 of 10)"), 1)
        << run.err;
    EXPECT_EQ(count(run.err, "weir: computing again "), 1) << run.err;
    expect_nothing_left();
  }
}

TEST_P(SuperviseMpiTest, DeathsAtEveryPointOfASnapshotCostNoBit) {
  const std::string line = "run pagerank rmat:scale=8,seed=5 --iterations 120 --digest --quiet";
  const auto alone = weir(line);
  for (const std::string fault :
       {"rank1.kill@snapshot=40", "rank0.kill@before-manifest=40", "rank0.kill@after-manifest=40",
        "rank2.kill@snapshot=40,rank1.kill@resume=1"}) {
    const auto run = supervise("", mpirun(3, line +
                                                 " --snapshots kept --snapshot-every 10 --inject "
                                                 "link.delay=1ms," +
                                                 fault));
    EXPECT_EQ(run.code, 0) << fault << "\n" << run.err;
    EXPECT_EQ(run.out, alone.out) << fault;
    EXPECT_EQ(count(run.err, "; starting again ("), 1 + count(fault, ",")) << fault << run.err;
    EXPECT_EQ(count(run.err, "before the first superstep; starting again"), count(fault, ","))
        << run.err;
    EXPECT_TRUE(files_with("manifest").empty()) << "a job that is over leaves none";
    expect_nothing_left();
  }
}

TEST_P(SuperviseMpiTest, APartitionForEverIsSeenAndHealedByAnotherStart) {
  const std::string line = "run pagerank rmat:scale=8,seed=5 --digest --quiet --deadline 4";
  const auto alone = weir(line);
  const auto run = supervise("", mpirun(3, line + " --inject partition1/0+2@superstep=5"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, alone.out);
  EXPECT_GE(count(run.err, "superstep 5) for rank "), 1) << run.err;
  EXPECT_EQ(count(run.err, " in superstep 5; starting again (1 of 10)"), 1) << run.err;
  expect_nothing_left();
}

// The superstep is a long one; nothing says that it is at fault.
TEST_P(SuperviseMpiTest, TwoKillsFromOutsideInOneSuperstepAreBadLuck) {
  const std::string line = "run pagerank rmat:scale=8,seed=5 --digest --quiet";
  const auto alone = weir(line);
  const pid_t job =
      start(supervised("", mpirun(2, line + " --inject rank1.pause*=1500ms@superstep=5")));
  pid_t last = 0;
  for (int i = 0; i < 2; ++i) {
    pid_t victim = 0;
    ASSERT_TRUE(eventually([&] {
      const auto beat = heartbeat(1);
      if (!beat || beat->page().superstep != 5 || beat->page().pid == last) return false;
      victim = beat->page().pid;
      return true;
    }));
    last = victim;
    ::kill(victim, SIGKILL);
  }
  const auto run = finish(job, limit_seconds);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, alone.out);
  EXPECT_EQ(count(run.err, " in superstep 5; starting again ("), 2) << run.err;
  expect_nothing_left();
}

TEST_P(SuperviseMpiTest, AHostThatFailedIsLeftOut) {
  if (!is_hydra()) GTEST_SKIP() << "only Hydra takes this host for another one";
  const std::string line = "run pagerank rmat:scale=8,seed=5 --digest --quiet";
  const auto alone = weir(line);
  std::vector<std::string> command = mpirun(2, line + " --inject rank0.kill@superstep=3");
  const std::string hosts = cli::host_name() + ",other";
  command.insert(command.begin() + 1, {"-launcher", "fork", "-hosts", hosts});
  const auto run = supervise("--drop-host 1", command);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, alone.out);
  EXPECT_EQ(count(run.err, "host " + cli::host_name() + " failed 1 time and is left out:"), 1)
      << run.err;
  EXPECT_EQ(count(run.err, " -hosts other "), 1) << run.err;
  expect_nothing_left();
}

TEST_P(SuperviseMpiTest, APoisonSuperstepIsGivenUp) {
  const auto run =
      supervise("", mpirun(3,
                           "run pagerank rmat:scale=8,seed=5 --digest --quiet --inject "
                           "rank2.kill*@superstep=6"));
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_EQ(run.out, "");
  const std::string who = is_hydra() ? " died" : "weir: rank 2 died";
  EXPECT_EQ(count(run.err, who + " in superstep 6, 3 times in a row without progress; given up\n"),
            1)
      << run.err;
  expect_nothing_left();
}

TEST_P(SuperviseMpiTest, ErrorsAndExitCodesAreTheJobs) {
  write("g.txt", "1 2\n2 x\n");
  const auto run = supervise("", mpirun(2, "run wcc g.txt --quiet"));
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_EQ(count(run.err, "weir: g.txt:2: found"), 1) << run.err;
  EXPECT_EQ(count(run.err, "starting again"), 0) << run.err;
  expect_nothing_left();
}

TEST_P(SuperviseMpiTest, SixKillsOfRandomRanksAndOfTheLauncher) {
  const std::string line = "run pagerank rmat:scale=8,seed=5 --iterations 400 --digest --quiet";
  const auto alone = weir(line);
  ASSERT_EQ(alone.code, 0) << alone.err;
  // A superstep takes some milliseconds on any machine, so that kills find the job at work.
  const std::string slowly = " --inject link.delay=1ms";
  std::mt19937_64 random(20261201);
  std::set<std::string> segments;
  const std::string kept = " --snapshots kept --snapshot-every 7";
  const pid_t job = start(supervised("--max-restarts 20", mpirun(3, line + kept + slowly)));
  pid_t last = 0;
  for (int i = 0; i < 6; ++i) {
    const auto victim = static_cast<Rank>(random() % 3);
    const pid_t rank_0 = computing_rank(0, last);
    ASSERT_NE(rank_0, 0);
    last = rank_0;
    pid_t target = computing_rank(victim);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    segments.merge(cli::mpi_segments_of(target));
    if (i == 3) {
      for (const pid_t each : cli::descendants_of(job)) {
        if (each == target) continue;
        target = each;  // the first descendant is the launcher
        break;
      }
    }
    ::kill(target, SIGKILL);
  }
  const auto run = finish(job, limit_seconds);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, alone.out);
  EXPECT_EQ(count(run.err, "; starting again ("), 6) << run.err;
  for (const std::string& segment : segments)
    EXPECT_FALSE(std::filesystem::exists(segment)) << segment;
  expect_nothing_left();
}

TEST_P(SuperviseMpiTest, AKilledSupervisorLeavesNothing) {
  const std::string line =
      "run pagerank rmat:scale=8,seed=5 --iterations 100000000 --quiet --output r.txt";
  const pid_t job = start(supervised("", mpirun(2, line)));
  const pid_t rank = computing_rank(1);
  ASSERT_NE(rank, 0);
  const auto segments = cli::mpi_segments_of(rank);
  ::kill(job, SIGKILL);
  EXPECT_EQ(finish(job).code, 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return cli::processes_with("TMPDIR=" + path("tmp")).empty(); }));
  for (const std::string& segment : segments)
    EXPECT_FALSE(std::filesystem::exists(segment)) << segment;

  const auto again = supervise("", mpirun(2, "run pagerank rmat:scale=8,seed=5 --digest --quiet"));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, weir("run pagerank rmat:scale=8,seed=5 --digest --quiet").out);
  expect_nothing_left();
}

// Ranks that have not begun do not watch for their supervisor.
TEST_P(SuperviseMpiTest, ASupervisorKilledWhileMpiBeginsLeavesNothingToTheNext) {
  std::set<std::string> segments;
  for (int i = 0; i < 3; ++i) {
    const pid_t job = start(supervised("", mpirun(3, "run pagerank rmat:scale=8,seed=5 --quiet")));
    std::set<std::string> seen;
    ASSERT_TRUE(eventually([&] {
      for (const pid_t each : cli::descendants_of(job)) seen.merge(cli::mpi_segments_of(each));
      return !seen.empty();
    }));
    // The supervisor looks every 20 ms.
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    for (const pid_t each : cli::descendants_of(job)) seen.merge(cli::mpi_segments_of(each));
    ::kill(job, SIGKILL);
    (void)finish(job);
    segments.merge(seen);
    EXPECT_EQ(supervise("", words_of("run wcc path:9 --quiet")).code, 0);
    for (const std::string& segment : segments)
      EXPECT_FALSE(std::filesystem::exists(segment)) << segment;
    expect_nothing_left();
  }
}

// A rank that is stopped cannot see that its supervisor is gone; the others, or the next
// supervisor, end it.
TEST_P(SuperviseMpiTest, AKilledSupervisorOfStoppedRanksLeavesNothingToTheNext) {
  const pid_t job = start(supervised(
      "--heartbeat 0", mpirun(2,
                              "run pagerank rmat:scale=8,seed=5 --iterations 100000000 --quiet "
                              "--inject rank0.stop@superstep=9,rank1.stop@superstep=9")));
  ASSERT_TRUE(eventually([&] {
    const auto first = heartbeat(0);
    const auto second = heartbeat(1);
    return first && second && first->page().superstep == 9 && second->page().superstep == 9;
  }));
  ::kill(job, SIGKILL);
  EXPECT_EQ(finish(job).code, 128 + SIGKILL);
  EXPECT_EQ(supervise("", words_of("run wcc path:9 --quiet")).code, 0);
  expect_nothing_left();
}

TEST_P(SuperviseMpiTest, ASignalStopsTheJobForGood) {
  const pid_t job = start(supervised(
      "", mpirun(2, "run pagerank rmat:scale=8,seed=5 --iterations 100000000 --output r.txt")));
  ASSERT_NE(computing_rank(1), 0);
  ::kill(job, SIGTERM);
  const auto run = finish(job, limit_seconds);
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_EQ(count(run.err, "weir: stopped by SIGTERM"), 1) << run.err;
  EXPECT_EQ(count(run.err, "starting again"), 0) << run.err;
  EXPECT_FALSE(exists("r.txt"));
  expect_nothing_left();
}

TEST_P(SuperviseMpiTest, TheSilentRankIsNamed) {
  const std::string line = "run pagerank rmat:scale=8,seed=5 --digest --quiet";
  const auto alone = weir(line);
  const auto stopped =
      supervise("--heartbeat 1.5", mpirun(3, line + " --inject rank1.stop@superstep=5"));
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_EQ(stopped.out, alone.out);
  EXPECT_EQ(count(stopped.err, "weir: rank 1 has been silent for "), 1) << stopped.err;
  EXPECT_EQ(count(stopped.err, " in superstep 5; starting again (1 of 10)"), 1) << stopped.err;
  // It moves nothing either, but neither does it beat.
  const auto unmoved =
      supervise("--heartbeat 0 --hang 1.5", mpirun(3, line + " --inject rank1.stop@superstep=5"));
  EXPECT_EQ(unmoved.code, 0) << unmoved.err;
  EXPECT_EQ(count(unmoved.err, "weir: rank 1 has been silent for "), 1) << unmoved.err;
  const auto stuck = supervise("--hang 1.5", mpirun(3, line + " --inject rank2.hang@superstep=5"));
  EXPECT_EQ(stuck.code, 0) << stuck.err;
  EXPECT_EQ(stuck.out, alone.out);
  EXPECT_EQ(count(stuck.err, "weir: rank 2 is stuck: "), 1) << stuck.err;
  EXPECT_EQ(count(stuck.err, " in superstep 5; starting again (1 of 10)"), 1) << stuck.err;
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Each, SuperviseMpiTest, testing::Values("openmpi", "mpich"),
                         [](const auto& test) { return test.param; });

}  // namespace

}  // namespace weir::test
