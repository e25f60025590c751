// SPDX-License-Identifier: Apache-2.0
// weir generate, convert, info, check, doctor.
#include <string>

#include <gtest/gtest.h>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

using CommandsTest = Workplace;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CommandsTest, GeneratedGraphsAreTheSameFromAFile) {
  ASSERT_EQ(weir("generate rmat:scale=8,edge_factor=8,seed=3 g.weir").code, 0);
  const auto direct = weir("run pagerank rmat:scale=8,edge_factor=8,seed=3 --output - --ranks 2");
  const auto stored = weir("run pagerank g.weir --output -");
  EXPECT_EQ(direct.code, 0) << direct.err;
  EXPECT_EQ(direct.out, stored.out);
  EXPECT_FALSE(direct.out.empty());
}

TEST_F(CommandsTest, GenerateToStandardOutput) {
  const auto run = weir("generate path:3 - --quiet");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "0 1\n1 2\n");
}

TEST_F(CommandsTest, ConvertKeepsTheGraph) {
  write("g.v", "1\n2\n3\n4\n");
  write("g.e", "1 2 0.5\n2 3 2\n");
  write("g.properties", "graph.g.directed = false\n");
  const auto expected = weir("run sssp g --weighted --source 1 --output -");
  ASSERT_EQ(expected.out, "1 0\n2 0.5\n3 2.5\n4 infinity\n");
  for (const char* name : {"a.weir", "a.mtx", "h.e"}) {
    const auto run = weir(std::string("convert g.v g.e ") + name);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(weir(std::string("run sssp ") + (name[0] == 'h' ? "h" : name) +
                   " --weighted --source 1 --output -")
                  .out,
              expected.out)
        << name;
  }
  const auto lossy = weir("convert g.v g.e a.csv --unweighted");
  EXPECT_TRUE(has(lossy.err, "vertices without edges")) << lossy.err;
  EXPECT_TRUE(has(lossy.err, "--undirected")) << lossy.err;
  EXPECT_EQ(read("a.csv"), "1,2\n2,3\n");
}

TEST_F(CommandsTest, ConvertNames) {
  write("g.tsv", "ann\tbob\nbob\teve\n");
  ASSERT_EQ(weir("convert g.tsv g.weir --ids string").code, 0);
  const auto run = weir("run bfs g.weir --ids string --source ann --output -");
  EXPECT_EQ(run.out, "ann 0\nbob 1\neve 2\n") << run.err;
}

TEST_F(CommandsTest, AFailedConversionLeavesNothing) {
  write("g.txt", "1 2\nx y\n");
  EXPECT_EQ(weir("convert g.txt out.txt").code, 3);
  EXPECT_FALSE(exists("out.txt"));
  EXPECT_TRUE(files_with(".weir-").empty());
  write("zero.txt", "0 1\n");
  EXPECT_EQ(weir("convert zero.txt out.mtx").code, 2);
  EXPECT_FALSE(exists("out.mtx"));
}

TEST_F(CommandsTest, InfoCounts) {
  write("g.txt", "1 2\n1 2\n3 3\n3 3\n2 1\n");
  for (const char* ranks : {"1", "3"}) {
    const auto directed = weir(std::string("info g.txt --ranks ") + ranks);
    ASSERT_EQ(directed.code, 0) << directed.err;
    for (const char* line :
         {"vertices          3\n", "edges             5\n", "loops             2\n",
          "repeats           2\n", "isolated          0\n"}) {
      EXPECT_TRUE(has(directed.out, line)) << line << directed.out;
    }
    const auto undirected = weir(std::string("info g.txt --undirected --ranks ") + ranks);
    for (const char* line : {"arcs              10\n", "loops             2\n",
                             "repeats           3\n", "largest_out       4\n"}) {
      EXPECT_TRUE(has(undirected.out, line)) << line << undirected.out;
    }
  }
  EXPECT_TRUE(has(weir("info g.txt --vertices 9").out, "isolated          6\n"));
  EXPECT_TRUE(has(weir("info grid:3x4 --quick").out, "vertices          12\n"));
}

TEST_F(CommandsTest, InfoSaysBeforeLoadingWhatMemoryIsNeeded) {
  const auto bytes_after = [](const std::string& text, const std::string& key) {
    const std::size_t at = text.find(key);
    return at == std::string::npos ? 0.0 : std::stod(text.substr(at + key.size()));
  };
  for (const char* graph :
       {"rmat:scale=12,seed=1 --undirected", "rmat:scale=12,seed=1", "grid:50x60",
        "uniform:vertices=3000,edges=40000,weights=9 --weighted --undirected"}) {
    for (const char* ranks : {"1", "2", "5"}) {
      const std::string line = std::string("info ") + graph + " --ranks " + ranks;
      const double expected = bytes_after(weir(line + " --quick").out, "memory_at_most");
      const double found = bytes_after(weir(line).out, "memory_bytes");
      EXPECT_GT(found, 0);
      EXPECT_GE(expected, found) << line;
      // Before loading nobody knows in how few bytes the values will fit.
      const bool has_values = line.find("--weighted") != std::string::npos;
      EXPECT_LE(expected, *ranks == '1' && !has_values ? found + 64 : 3 * found) << line;
    }
  }
}

TEST_F(CommandsTest, CheckTellsTheFirstMismatch) {
  write("a", "1 1\n2 0.5\n3 7\n");
  write("b", "3 7\n1 1\n2 0.50001\n");
  const auto different = weir("check a b");
  EXPECT_EQ(different.code, 1);
  EXPECT_EQ(different.out,
            "different: 1 of 3 vertices; first: vertex 2: found 0.5; expected 0.50001\n");
  EXPECT_EQ(weir("check a b --rule epsilon").out, "equal: 3 vertices\n");
  EXPECT_EQ(weir("check a b --rule epsilon --epsilon 1e-9").code, 1);
  EXPECT_EQ(weir("check a b --rule equivalence").code, 0);
  write("c", "1 x y\n");
  EXPECT_EQ(weir("check a c").code, 3);
}

TEST_F(CommandsTest, DoctorSeesRanks) {
  const auto run = weir("doctor --ranks 2 --threads 1");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "ranks    2 in this process on 1 host\n")) << run.out;
  EXPECT_TRUE(has(run.out, "rank 1: host ")) << run.out;
}

TEST_F(CommandsTest, DoctorSaysWhatAProbeNeeds) {
  const auto alone = weir("doctor --probe");
  EXPECT_EQ(alone.code, 2);
  EXPECT_TRUE(has(alone.err, "weir: --probe: found one rank; expected two or more MPI processes"))
      << alone.err;
  const auto threads = weir("doctor --probe --ranks 2 --threads 1");
  EXPECT_EQ(threads.code, 2);
  EXPECT_TRUE(has(threads.err, "--probe: found ranks that share memory")) << threads.err;
  const auto without = weir("doctor --output c.yml");
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(has(without.err, "--output: found without --probe")) << without.err;
}

}  // namespace

}  // namespace weir::test
