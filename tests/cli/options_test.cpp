// SPDX-License-Identifier: Apache-2.0
// What is said about a wrong command line or a wrong input: one line, and which exit code.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

using OptionsTest = Workplace;

struct Case {
  std::string line;
  std::string error;  ///< What stderr begins with, after `weir: `.
};

TEST_F(OptionsTest, WrongCommandLines) {
  write("g.txt", "1 2\n");
  const std::vector<Case> cases = {
      {"", "found no command"},
      {"rnu", "rnu: no command of weir; did you mean run?"},
      {"--verison", "--verison: no command of weir; did you mean --version?"},
      {"run", "ALGORITHM: found nothing; expected"},
      {"run pagerank", "GRAPH: found nothing; expected"},
      {"run pagrank g.txt", "ALGORITHM: found \"pagrank\"; expected one of pagerank"},
      {"run wcc,wcc g.txt", "ALGORITHM: found wcc twice"},
      {"run wcc,,bfs g.txt", "ALGORITHM: found \"wcc,,bfs\"; expected items"},
      {"run wcc g.txt --itertions 3",
       "--itertions: no option of weir run; did you mean --iterations?"},
      {"run wcc g.txt --zzz=1", "--zzz: no option of weir run\n"},
      {"run wcc g.txt --speculation often",
       "--speculation: found \"often\"; expected progress-rate|mapreduce-2004|off|forced"},
      {"run wcc g.txt --replicas d", "--replicas: no option of weir run"},
      {"run bfs g.txt --source 1 --resume",
       "--resume, --snapshot-every, --snapshots-fast, --mtbf: found without"},
      {"run wcc g.txt --backend cpu", "--backend: no option of weir run"},
      {"run wcc g.txt --ranks 0", "--ranks: found \"0\"; expected a whole number from 1 to 1024"},
      {"run wcc g.txt --ranks 1025", "--ranks: found \"1025\"; expected a whole number from 1"},
      {"run wcc g.txt --ranks two", "--ranks: found \"two\"; expected a whole number"},
      {"run wcc g.txt --ranks", "--ranks: found no value"},
      {"run wcc g.txt --ranks --quiet", "--ranks: found no value but --quiet"},
      {"run wcc g.txt --ranks 1 --ranks 2", "--ranks: found it twice"},
      {"run wcc g.txt --threads 0", "--threads: found \"0\""},
      {"run wcc g.txt --threads 99999999999999999999", "--threads: found"},
      {"run pagerank g.txt --damping 1.5",
       "--damping: found \"1.5\"; expected a number from 0 to 1"},
      {"run pagerank g.txt --damping nan", "--damping: found \"nan\""},
      {"run pagerank g.txt --tolerance -1",
       "--tolerance: found \"-1\"; expected a number from 0 up"},
      {"run pagerank g.txt --iterations -1", "--iterations: found \"-1\""},
      {"run pagerank g.txt --iterations 1.5", "--iterations: found \"1.5\""},
      {"run wcc g.txt --format xml", "--format: found \"xml\"; expected auto|edges"},
      {"run wcc g.txt --ids name", "--ids: found \"name\"; expected integer|string"},
      {"run wcc g.txt --repeats all", "--repeats: found \"all\"; expected keep|merge"},
      {"run wcc g.txt --loops all", "--loops: found \"all\"; expected keep|drop"},
      {"run wcc g.txt --unknown all", "--unknown: found \"all\"; expected refuse|add|drop"},
      {"run wcc g.txt --direction up", "--direction: found \"up\"; expected auto|push|pull"},
      {"run wcc g.txt --shards 0", "--shards: found \"0\""},
      {"run wcc g.txt --shards 1048577", "--shards: found \"1048577\""},
      {"run wcc g.txt --vertices -1", "--vertices: found \"-1\""},
      {"run wcc g.txt --vertices 3 --ids string", "--vertices: found --ids string too"},
      {"run wcc g.txt --directed --undirected", "--directed: found --undirected too"},
      {"run wcc g.txt --seed x", "--seed: found \"x\""},
      {"run wcc g.txt --deadline x", "--deadline: found \"x\""},
      {"run wcc g.txt --log-level loud", "--log-level: found \"loud\""},
      {"run wcc g.txt --quiet=maybe", "--quiet: found a value, \"maybe\"; expected none\n"},
      {"run wcc g.txt --directed=true", "--directed: found a value, \"true\"; expected none\n"},
      {"run wcc g.txt --directed=false", "--directed: found a value, \"false\"; expected none\n"},
      {"run wcc g.txt --digest=", "--digest: found a value, \"\"; expected none\n"},
      {"run wcc g.txt --report -", "--report: found -; expected a file"},
      {"run wcc,bfs g.txt --source 1 --output r.txt",
       "--output: found \"r.txt\" for several results"},
      {"run bfs g.txt --each-source", "--each-source: found no --source"},
      {"run bfs g.txt --source 1,,2 --each-source", "--source: found \"1,,2\""},
      {"run bfs g.txt --source one", "--source: found \"one\"; expected an integer id"},
      {"run bfs g.txt", "--source: found none; bfs expects ID[,ID...]"},
      {"run wcc path:3 g.txt", "GRAPH: found a generator among other inputs"},
      {"run wcc path:3 --ids string", "--ids: found string for a generated graph"},
      {"run wcc rmat:scale=x", "rmat:scale: found \"x\""},
      {"generate g.txt out", "SPEC: found g.txt; expected a generator"},
      {"generate path:3", "OUT: found nothing"},
      {"generate path:3 a b", "b: found one argument too many"},
      {"convert g.txt", "OUT: found nothing"},
      {"check a b --rule near", "--rule: found \"near\"; expected exact|epsilon|equivalence"},
      {"check a b --epsilon 1", "--epsilon: found it with another rule"},
  };
  for (const Case& each : cases) {
    const auto run = weir(each.line);
    EXPECT_EQ(run.code, 2) << each.line << '\n' << run.err;
    EXPECT_TRUE(run.err.starts_with("weir: " + each.error)) << each.line << '\n' << run.err;
    EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << each.line << '\n' << run.err;
    EXPECT_EQ(run.out, "") << each.line;
  }
}

TEST_F(OptionsTest, WrongInputs) {
  write("g.txt", "1 2\n");
  write("names.txt", "1 2\nalice bob\n");
  write("weight.txt", "1 2 3\n1 3 nan\n");
  const std::vector<Case> cases = {
      {"run wcc none.txt", "none.txt: "},
      {"run wcc names.txt", "names.txt:2: found \"alice\"; expected an integer id"},
      {"run wcc weight.txt --weighted", "weight.txt:2: found \"nan\"; expected"},
      {"run bfs g.txt --source 99", "--source: vertex 99 is not in the graph\n"},
      {"info none.txt", "none.txt: "},
      {"convert none.txt out.txt", "none.txt: "},
      {"check none.txt none.txt", "none.txt: "},
  };
  for (const Case& each : cases) {
    for (const char* more : {"", " --ranks 3"}) {
      const auto run = weir(each.line + more + " --log-level warning");
      EXPECT_EQ(run.code, 3) << each.line << '\n' << run.err;
      EXPECT_TRUE(run.err.starts_with("weir: " + each.error)) << each.line << '\n' << run.err;
      EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << each.line << '\n' << run.err;
    }
  }
}

TEST_F(OptionsTest, HelpTeaches) {
  const auto main = weir("--help");
  EXPECT_EQ(main.code, 0);
  for (const char* word : {"run", "bench", "generate", "convert", "info", "check", "plan",
                           "simulate", "doctor", "Exit codes"}) {
    EXPECT_NE(main.out.find(word), std::string::npos) << word;
  }
  const auto run = weir("run --help");
  EXPECT_EQ(run.code, 0);
  for (const char* word : {"pagerank", "--unknown", "default refuse", "Examples:", "GRAPH..."}) {
    EXPECT_NE(run.out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(weir("help run").out, run.out);
  for (const char* command :
       {"bench", "generate", "convert", "info", "check", "plan", "simulate", "doctor"}) {
    const auto help = weir(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_NE(help.out.find("Example"), std::string::npos) << command;
  }
}

TEST_F(OptionsTest, VersionNamesMpiAndCompiler) {
  const auto run = weir("--version");
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(run.out.starts_with("weir ")) << run.out;
  EXPECT_NE(run.out.find("MPI"), std::string::npos);
  EXPECT_EQ(run.err, "");
}

/// A file that is called as a command is still a file.
TEST_F(OptionsTest, FilesNamedAsCommands) {
  write("check", "1 2\n");
  EXPECT_EQ(weir("run wcc check --output -").out, "1 1\n2 1\n");
}

}  // namespace

}  // namespace weir::test
