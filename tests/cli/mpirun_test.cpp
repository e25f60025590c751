// SPDX-License-Identifier: Apache-2.0
// The command as an MPI job.
#include <filesystem>
#include <optional>
#include <string>

#include <sys/stat.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

/// Start-up of an MPI job on a busy machine.
constexpr double limit_seconds = 60;

class MpirunTest : public Workplace {
 protected:
  void SetUp() override {
    if (launcher_path().empty()) GTEST_SKIP() << "no mpirun for the command's MPI (WEIR_MPIRUN)";
    Workplace::SetUp();
  }
  Finished mpirun(int ranks, const std::string& line) const {
    return finish(start(under_mpirun(ranks, line)), limit_seconds);
  }
};

int count(const std::string& text, const std::string& part) {
  int num = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++num;
  return num;
}

/// The process that is a rank of the job whose command line holds `word`.
std::optional<pid_t> process_of_rank(int rank, const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string variables = '\0' + read_file(entry.path() / "environ");
    const bool is_rank =
        count(variables, std::string("\0OMPI_COMM_WORLD_RANK=", 22) + std::to_string(rank) + '\0') +
            count(variables, std::string("\0PMI_RANK=", 10) + std::to_string(rank) + '\0') >
        0;
    if (is_rank && count(read_file(entry.path() / "cmdline"), word) > 0) return std::stoi(name);
  }
  return std::nullopt;
}

TEST_F(MpirunTest, GivesTheSameFileAndDigest) {
  const std::string line = "run pagerank,wcc rmat:scale=8,seed=5 --digest --output ";
  const auto alone = weir(line + "alone/");
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const int ranks : {2, 3}) {
    const auto job = mpirun(ranks, line + "job/ --report r.json");
    ASSERT_EQ(job.code, 0) << job.err;
    EXPECT_EQ(job.out, alone.out);
    EXPECT_EQ(read("job/pagerank.txt"), read("alone/pagerank.txt"));
    EXPECT_EQ(read("job/wcc.txt"), read("alone/wcc.txt"));
    const auto report = nlohmann::json::parse(read("r.json"));
    EXPECT_EQ(report["machine"]["transport"], "mpi");
    EXPECT_EQ(report["machine"]["ranks"], ranks);
  }
}

TEST_F(MpirunTest, EveryAlgorithmGivesTheDigestOfOneRank) {
  const std::string directed = "rmat:scale=6,edge_factor=4,seed=3,weights=9 --quiet --digest";
  const std::string grid = "grid:6x7 --quiet --digest";
  for (const std::string& line :
       {"run pagerank --weighted " + directed, "run bfs --source 1,5 " + directed,
        "run sssp --weighted --source 1 " + directed, "run wcc " + directed, "run cdlp " + directed,
        "run lcc " + directed, "run triangles " + directed, "run kcore " + directed,
        "run scc " + directed, "run betweenness " + directed, "run clustering " + directed,
        "run matching " + grid}) {
    const auto alone = weir(line);
    ASSERT_EQ(alone.code, 0) << line << "\n" << alone.err;
    const auto job = mpirun(2, line);
    EXPECT_EQ(job.code, 0) << line << "\n" << job.err;
    EXPECT_EQ(job.out, alone.out) << line;
  }
}

TEST_F(MpirunTest, AnyPlacementGivesTheSameFileAndReport) {
  const std::string line = "run pagerank,wcc grid:8x9 --digest --output ";
  const auto alone = weir(line + "alone/");
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const std::string placement : {"launcher", "packed", "round-robin", "auto"}) {
    const auto job = mpirun(3, line + "job/ --report r.json --placement " + placement);
    ASSERT_EQ(job.code, 0) << job.err;
    EXPECT_EQ(job.out, alone.out) << placement;
    EXPECT_EQ(read("job/pagerank.txt"), read("alone/pagerank.txt")) << placement;
    const auto report = nlohmann::json::parse(read("r.json"));
    EXPECT_EQ(report["machine"]["placement"], placement);
    EXPECT_EQ(report["machine"]["processes"], (std::vector<int>{0, 1, 2}));
    for (const auto& rank : report["algorithms"][0]["ranks"]) {
      EXPECT_EQ(rank["bytes_to_other_hosts"], 0);
      EXPECT_GT(rank["bytes_sent"], 0);
    }
    EXPECT_EQ(count(job.err, "0 of 36 ghost values between hosts"), placement == "auto" ? 1 : 0)
        << job.err;
  }
}

TEST_F(MpirunTest, AWrongInputIsToldOnceAlsoWhereRanksArePlaced) {
  write("g.txt", "1 2\n1 x\n");
  const auto job = mpirun(3, "run wcc g.txt --placement auto --output r.txt");
  EXPECT_EQ(job.code, 3) << job.err;
  EXPECT_EQ(count(job.err, "weir: g.txt:2: found \"x\"; expected an integer id"), 1) << job.err;
  EXPECT_FALSE(exists("r.txt"));
}

TEST_F(MpirunTest, DoctorProbesLinksAndPlanReadsThem) {
  const auto job = mpirun(2, "doctor --probe --output cluster.yml");
  ASSERT_EQ(job.code, 0) << job.err;
  EXPECT_EQ(count(job.out, "same host: latency "), 1) << job.out;
  EXPECT_EQ(count(job.out, "between hosts"), 0) << job.out;
  write("layers.txt", "one 1\ntwo 1\n");
  const auto plan = weir("plan layers.txt --cluster cluster.yml");
  EXPECT_EQ(plan.code, 0) << plan.err;
}

TEST_F(MpirunTest, NamesAndMoreRanksThanVertices) {
  write("g.txt", "zoe ann\nann bob\n");
  const auto job = mpirun(3, "run wcc g.txt --ids string --output - --quiet");
  EXPECT_EQ(job.code, 0) << job.err;
  EXPECT_EQ(job.out, "ann ann\nbob ann\nzoe ann\n");
}

TEST_F(MpirunTest, RanksThatDisagreeAreRefused) {
  write("g.txt", "1 2\n");
  EXPECT_EQ(mpirun(2, "run wcc g.txt --ranks 2 --quiet").code, 0);
  const auto job = mpirun(2, "run wcc g.txt --ranks 3");
  EXPECT_EQ(job.code, 2);
  EXPECT_EQ(count(job.err, "weir: --ranks: found 3; expected 2"), 1) << job.err;
}

TEST_F(MpirunTest, AWrongCommandLineIsToldOnce) {
  const auto job = mpirun(3, "run wcc g.txt --rnaks 2");
  EXPECT_EQ(job.code, 2);
  EXPECT_EQ(count(job.err, "weir: --rnaks"), 1) << job.err;
}

TEST_F(MpirunTest, AWrongInputOnOneRankEndsTheJobSoon) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "1 2\n";
  write("g.txt", text + "1 x\n");  // in the part of the last rank
  const auto job = mpirun(3, "run wcc g.txt --output r.txt");
  EXPECT_EQ(job.code, 3) << job.err;
  EXPECT_EQ(count(job.err, "weir: g.txt:3001: found \"x\"; expected an integer id"), 1) << job.err;
  EXPECT_FALSE(exists("r.txt"));
  EXPECT_TRUE(files_with(".weir-").empty());
}

TEST_F(MpirunTest, AFullDiskEndsTheJobSoon) {
  const auto job = mpirun(2, "run wcc rmat:scale=12,seed=1 --output /dev/full");
  EXPECT_EQ(job.code, 1) << job.err;
  EXPECT_EQ(count(job.err, "weir: /dev/full: cannot write"), 1) << job.err;
}

TEST_F(MpirunTest, PrintsVersionAndHelpOnce) {
  EXPECT_EQ(count(mpirun(2, "--version").out, "weir "), 1);
  EXPECT_EQ(count(mpirun(2, "--help").out, "Usage:"), 1);
  EXPECT_EQ(mpirun(2, "generate path:3 - --quiet").out, "0 1\n1 2\n");
}

// The launcher closes the standard input before it signals the ranks; what was read so far is no
// whole input.
TEST_F(MpirunTest, HalfAnInputGivesNoResult) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string line = "exec";
  for (const std::string& word : under_mpirun(2, "run wcc - --output r.txt --quiet"))
    line += " '" + word + "'";
  const pid_t job = start({"sh", "-c", line + " < pipe"});
  std::ofstream pipe(path("pipe"));
  pipe << "1 2\n2 3\n" << std::flush;
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ::kill(job, SIGINT);
  const auto run = finish(job, 20);
  EXPECT_NE(run.code, 0);
  EXPECT_NE(run.code, -1) << "it hung: " << run.err;
  EXPECT_FALSE(exists("r.txt")) << read("r.txt");
  EXPECT_TRUE(files_with(".weir-").empty());
}

TEST_F(MpirunTest, AWholeStandardInputGivesAResult) {
  const auto job =
      finish(start(under_mpirun(2, "run wcc - --output - --quiet"), "1 2\n2 3\n"), limit_seconds);
  EXPECT_EQ(job.code, 0) << job.err;
  EXPECT_EQ(job.out, "1 1\n2 1\n3 1\n");
}

TEST_F(MpirunTest, ASignalToOneRankWhileAnotherWritesLeavesNothing) {
  const std::string output = path("r.txt");
  const pid_t job = start(under_mpirun(
      2, "run triangles uniform:vertices=1000000,edges=10 --quiet --output " + output));
  const auto start = std::chrono::steady_clock::now();
  while (files_with(".weir-").empty() &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(30))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto rank_1 = process_of_rank(1, output);
  ASSERT_TRUE(rank_1.has_value());
  ::kill(*rank_1, SIGTERM);
  const auto run = finish(job, 20);
  EXPECT_NE(run.code, 0) << run.err;
  EXPECT_NE(run.code, -1) << "it hung: " << run.err;
  EXPECT_FALSE(exists("r.txt"));
  EXPECT_TRUE(files_with(".weir-").empty());
}

TEST_F(MpirunTest, ASignalLeavesNothing) {
  const pid_t job = start(
      under_mpirun(2, "run pagerank rmat:scale=15,seed=1 --iterations 100000000 --output r.txt"));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ::kill(job, SIGTERM);
  const auto run = finish(job, 20);
  EXPECT_NE(run.code, 0);
  EXPECT_NE(run.code, -1) << "it hung: " << run.err;
  EXPECT_FALSE(exists("r.txt"));
  EXPECT_TRUE(files_with(".weir-").empty());
}

}  // namespace

}  // namespace weir::test
