// SPDX-License-Identifier: Apache-2.0
// weir run: reading, results, reports.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

using RunTest = Workplace;

/// A square with a tail, and a loop of its own at 9.
constexpr const char* square = "1 2\n2 3\n3 4\n4 1\n4 7\n9 9\n";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string repeated(const std::string& line, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line;
  return text;
}

// D99
TEST_F(RunTest, WritesEveryVertexAscending) {
  write("g.txt", square);
  const auto run = weir("run wcc g.txt --output r.txt");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read("r.txt"), "1 1\n2 1\n3 1\n4 1\n7 1\n9 9\n");
  EXPECT_EQ(run.out, "");
}

TEST_F(RunTest, IsTheSameAtAnyNumberOfRanks) {
  write("g.txt", square);
  const auto alone = weir("run pagerank g.txt --output - --digest");
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(has(alone.out, "digest pagerank 0x"));
  for (const char* ranks : {"2", "3", "7"}) {
    const auto several =
        weir(std::string("run pagerank g.txt --output - --digest --ranks ") + ranks);
    EXPECT_EQ(several.code, 0) << several.err;
    EXPECT_EQ(several.out, alone.out) << ranks;
  }
}

TEST_F(RunTest, ReadsStandardInputAndCompressedFiles) {
  for (const char* ranks : {"1", "3"}) {
    const auto run = weir(std::string("run wcc - --output r.txt.gz --ranks ") + ranks, square);
    ASSERT_EQ(run.code, 0) << run.err;
    const auto check = weir("check r.txt.gz r.txt.gz");
    EXPECT_EQ(check.out, "equal: 6 vertices\n");
  }
}

TEST_F(RunTest, CountedVerticesArriveFromAPipe) {
  // METIS counts its vertices in a header that one part alone sees.
  const std::string metis = "4 2\n2\n1\n4\n3\n";
  for (const char* ranks : {"1", "3"}) {
    const auto run =
        weir(std::string("run wcc - --format metis --output - --ranks ") + ranks, metis);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, "1 1\n2 1\n3 3\n4 3\n");
  }
}

TEST_F(RunTest, ReportsTheShareOfEachRank) {
  const auto run =
      weir("run pagerank rmat:scale=8,seed=1 --undirected --ranks 3 --report r.json --quiet");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto report = nlohmann::json::parse(read("r.json"));
  const auto total = [](const nlohmann::json& ranks, const char* key) {
    std::uint64_t sum = 0;
    for (const auto& rank : ranks) sum += rank[key].get<std::uint64_t>();
    return sum;
  };
  const auto& shares = report["graph"]["ranks"];
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(total(shares, "vertices"), report["graph"]["vertices"]);
  EXPECT_EQ(total(shares, "arcs"), report["graph"]["arcs"]);
  EXPECT_EQ(total(shares, "memory_bytes"), report["graph"]["memory_bytes"]);
  const auto& job = report["algorithms"][0];
  ASSERT_EQ(job["ranks"].size(), 3U);
  EXPECT_EQ(total(job["ranks"], "bytes_sent"), total(job["ranks"], "bytes_received"));
  EXPECT_GE(total(job["ranks"], "bytes_sent"), job["bytes_sent"]);
  for (const auto& rank : job["ranks"]) EXPECT_GT(rank["bytes_sent"], 0);
}

TEST_F(RunTest, RanksThatHelpChangeNoBitAndAreCounted) {
  const std::string job =
      "run pagerank,cdlp rmat:scale=8,seed=1 --digest --report r.json --ranks 3";
  const auto alone = weir(job + " --speculation off");
  ASSERT_EQ(alone.code, 0) << alone.err;
  const auto unaided = nlohmann::json::parse(read("r.json"))["algorithms"][0]["speculation"];
  EXPECT_EQ(unaided["stolen"], 0);
  const auto helped = weir(job + " --speculation forced --verify");
  ASSERT_EQ(helped.code, 0) << helped.err;
  EXPECT_EQ(helped.out, alone.out);
  EXPECT_TRUE(has(helped.err, "ranks that were done computed")) << helped.err;
  const auto report = nlohmann::json::parse(read("r.json"))["algorithms"][0];
  const auto& counts = report["speculation"];
  EXPECT_GT(counts["stolen"], 0);
  EXPECT_GT(counts["input_bytes"], 0);
  EXPECT_EQ(counts["won"].get<int>() + counts["lost"].get<int>(), counts["cloned"].get<int>());
  EXPECT_GT(report["rows"][1]["speculation"]["stolen"], 0);
  const auto refused = weir("run pagerank path:5 --speculation sometimes");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(has(refused.err, "--speculation")) << refused.err;
}

TEST_F(RunTest, APlacementThatReadsTwiceTakesNoStandardInput) {
  const auto run = weir("run wcc - --placement auto");
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("found - with --placement auto, which reads the graph twice"),
            std::string::npos)
      << run.err;
}

TEST_F(RunTest, QuietSaysNothing) {
  write("g.txt", square);
  const auto run = weir("run wcc g.txt --quiet");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out + run.err, "");
}

TEST_F(RunTest, SaysThatNothingIsWritten) {
  write("g.txt", square);
  EXPECT_TRUE(has(weir("run wcc g.txt").err, "no result is written without --output"));
}

TEST_F(RunTest, SaysThatWeightsAreIgnored) {
  write("g.txt", "1 2 5\n2 3 7\n");
  const auto ignored = weir("run sssp g.txt --source 1 --output -");
  EXPECT_EQ(ignored.out, "1 0\n2 1\n3 2\n");
  EXPECT_TRUE(has(ignored.err, "warning")) << ignored.err;
  EXPECT_TRUE(has(ignored.err, "--weighted")) << ignored.err;
  const auto used = weir("run sssp g.txt --source 1 --output - --weighted");
  EXPECT_EQ(used.out, "1 0\n2 5\n3 12\n");
  EXPECT_FALSE(has(used.err, "warning")) << used.err;
}

TEST_F(RunTest, DirectionFollowsOptionThenInput) {
  write("g.txt", "1 2\n3 2\n");
  EXPECT_EQ(weir("run bfs g.txt --source 1 --output -").out, "1 0\n2 1\n3 9223372036854775807\n");
  EXPECT_EQ(weir("run bfs g.txt --source 1 --output - --undirected").out, "1 0\n2 1\n3 2\n");
  EXPECT_EQ(weir("run bfs path:3 --source 2 --output -").out, "0 2\n1 1\n2 0\n");
}

TEST_F(RunTest, PropertiesGiveDirectionSourceAndIterations) {
  write("x.v", "1\n2\n3\n4\n");
  write("x.e", "1 2\n2 3\n");
  write("x.properties",
        "graph.x.directed = false\ngraph.x.bfs.source-vertex = 3\n"
        "graph.x.pr.num-iterations = 2\ngraph.x.pr.damping-factor = 0.5\n");
  EXPECT_EQ(weir("run bfs x.v x.e --output -").out, "1 2\n2 1\n3 0\n4 9223372036854775807\n");
  EXPECT_EQ(weir("run bfs x --output - --source 1").out, "1 0\n2 1\n3 2\n4 9223372036854775807\n");
  EXPECT_EQ(weir("run bfs x --output - --directed").out,
            "1 9223372036854775807\n2 9223372036854775807\n3 0\n4 9223372036854775807\n");
  const auto run = weir("run pagerank x --report r.json --output -");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["algorithms"][0]["supersteps"], 3);
  EXPECT_EQ(run.out, weir("run pagerank x --iterations 2 --damping 0.5 --output -").out);
}

TEST_F(RunTest, SeveralAlgorithmsAndSources) {
  write("g.txt", square);
  const auto run = weir("run wcc,pagerank g.txt --output out/ --digest --report r.json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(exists("out/wcc.txt"));
  EXPECT_TRUE(exists("out/pagerank.txt"));
  EXPECT_TRUE(has(run.out, "digest wcc 0x"));
  EXPECT_TRUE(has(run.out, "digest pagerank 0x"));
  ASSERT_EQ(weir("run bfs g.txt --source 1,7 --each-source --output out").code, 0);
  EXPECT_EQ(read("out/bfs-7.txt").substr(0, 24), "1 9223372036854775807\n2 ");
  EXPECT_TRUE(exists("out/bfs-1.txt"));
  EXPECT_EQ(weir("run bfs g.txt --source 1,7 --output -").out,
            "1 0\n2 1\n3 2\n4 3\n7 0\n9 9223372036854775807\n");
}

// D101: one that cannot run fails the whole, in one line.
TEST_F(RunTest, OneOfSeveralThatCannotRunFailsAll) {
  write("g.txt", square);
  const auto run = weir("run wcc,sssp,pagerank g.txt --output out/");
  EXPECT_NE(run.code, 0);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_FALSE(exists("out/wcc.txt"));
}

// D86: more threads than cores are said, with the way out.
TEST_F(RunTest, TooManyThreadsAreSaid) {
  write("g.txt", square);
  const auto run = weir("run wcc g.txt --threads 1000 --output -");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.err, "1000 threads on ")) << run.err;
}

TEST_F(RunTest, NamesTakeThePlaceOfIds) {
  write("g.tsv", "zoe\tann\nann\tbob\nköln\tköln\n");
  for (const char* ranks : {"1", "2", "4", "7"}) {
    const std::string more = std::string(" --ids string --output - --ranks ") + ranks;
    EXPECT_EQ(weir("run bfs g.tsv --source zoe" + more).out,
              "ann 1\nbob 2\nköln 9223372036854775807\nzoe 0\n");
    EXPECT_EQ(weir("run wcc g.tsv" + more).out, "ann ann\nbob ann\nköln köln\nzoe ann\n");
  }
  const auto unknown =
      weir("run bfs g.tsv --ids string --source eve --ranks 2 --log-level warning");
  EXPECT_EQ(unknown.code, 3);
  EXPECT_EQ(unknown.err, "weir: --source: \"eve\" is not a vertex of the graph\n");
}

TEST_F(RunTest, ParentsAreNamesWhereThereIsOne) {
  write("g.txt", "a b\nb c\nd d\n");
  const auto run = weir("run bfs g.txt --ids string --source a --parents --output - --ranks 3");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("a a\nb a\nc b\nd ")) << run.out;
}

TEST_F(RunTest, MembersOfClustersAreNames) {
  write("g.txt", "a b\nd d\n");
  for (const char* ranks : {"1", "2", "3"}) {
    const auto run = weir(
        std::string("run clustering g.txt --undirected --ids string --output - --ranks ") + ranks);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, "a 1:a 1:a,b\nb 1:a,b 1:b\nd 1:d\n");
  }
}

TEST_F(RunTest, ErrorsOfAlgorithmsNameVertices) {
  write("odd.txt", "zoe ann\nann bob\nbob zoe\n");
  write("mixed.txt", "zoe ann\nann bob\n");
  write("weights.txt", "zoe ann 2\nann bob -1\n");
  ASSERT_EQ(weir("convert weights.txt weights.weir --ids string --weighted").code, 0);
  const auto expect_error = [&](const std::string& line, const std::string& text) {
    for (const char* ranks : {"1", "2", "3"}) {
      const auto run = weir("run " + line + " --ids string --log-level warning --ranks " + ranks);
      EXPECT_EQ(run.code, 3) << run.err;
      EXPECT_TRUE(has(run.err, text)) << line << '\n' << run.err;
      EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    }
  };
  expect_error("matching odd.txt --undirected", "superstep 3, vertex \"ann\": found a cycle");
  expect_error("matching mixed.txt", "vertex \"ann\": found edges in and out");
  expect_error("sssp weights.weir --weighted --source zoe",
               "-1, on the edge from vertex \"ann\" to vertex \"bob\"");
}

// D14
TEST_F(RunTest, VertexListAndUnknownVertices) {
  write("x.v", "1\n2\n8\n");
  write("x.e", "1 2\n1 3\n");
  const auto refused = weir("run wcc x --output r.txt");
  EXPECT_EQ(refused.code, 3);
  EXPECT_FALSE(exists("r.txt"));
  EXPECT_TRUE(has(refused.err,
                  "weir: x.e:2: found an edge at vertex 3; expected only vertices of "
                  "the vertex list\n"))
      << refused.err;
  EXPECT_EQ(weir("run wcc x --output - --unknown add").out, "1 1\n2 1\n3 1\n8 8\n");
  write("long.v", "1\n2\n8\n");
  write("long.e", "1 2\n1 3\n" + repeated("1 2\n", 40));  // so long that lines go the fast way
  const auto of_many = weir("run wcc long --output r.txt");
  EXPECT_EQ(of_many.code, 3);
  EXPECT_TRUE(has(of_many.err, "weir: long.e:2: found an edge at vertex 3; expected"))
      << of_many.err;
  EXPECT_EQ(weir("run wcc x --output - --unknown drop").out, "1 1\n2 1\n8 8\n");
  write("y.v", "ann\nbob\nzoe\n");
  write("y.e", "ann bob\nann eve\n");
  for (const char* ranks : {"1", "3"}) {
    const std::string more = std::string(" --ids string --output - --ranks ") + ranks;
    const auto named = weir("run wcc y" + more);
    EXPECT_EQ(named.code, 3);
    EXPECT_TRUE(has(named.err, "weir: y.e:2: found an edge at vertex \"eve\"; expected only"))
        << named.err;
    EXPECT_EQ(weir("run wcc y --unknown add" + more).out, "ann ann\nbob ann\neve ann\nzoe zoe\n");
    EXPECT_EQ(weir("run wcc y --unknown drop" + more).out, "ann ann\nbob ann\nzoe zoe\n");
  }
}

TEST_F(RunTest, UnlistedNeighboursOfAdjacencyLists) {
  write("g.adj", "1 2 3\n2 1\n");
  const std::string line = "run wcc - --format adjacency --log-level warning";
  EXPECT_EQ(
      weir("run wcc g.adj --format adjacency --log-level warning").err,
      "weir: g.adj:1: found an edge at vertex 3; expected only vertices of the vertex list\n");
  // Standard input cannot be read again.
  EXPECT_EQ(weir(line, "1 2 3\n2 1\n").err,
            "weir: found an edge at vertex 3; expected only vertices of the vertex list\n");
}

TEST_F(RunTest, NegativeWeightsAreToldByLine) {
  write("g.txt", "1 2 3\n2 3 -2\n");
  for (const char* algorithm : {"sssp", "pagerank", "wcc,sssp"}) {
    const auto run = weir(std::string("run ") + algorithm +
                          " g.txt --weighted --source 1 --log-level warning --ranks 3");
    EXPECT_EQ(run.code, 3) << algorithm;
    EXPECT_TRUE(run.err.starts_with("weir: g.txt:2: found \"-2\"; expected a weight of 0 or more"))
        << run.err;
  }
  EXPECT_EQ(weir("run wcc g.txt --weighted").code, 0);
  EXPECT_EQ(weir("run sssp g.txt --source 1").code, 0);
  // So long that lines go the fast way; a dropped edge has to have a right weight too.
  write("long.txt", "1 2 3\n3 3 -2\n" + repeated("1 2 3\n", 40));
  const auto of_many = weir("run sssp long.txt --weighted --source 1 --loops drop");
  EXPECT_EQ(of_many.code, 3);
  EXPECT_TRUE(has(of_many.err, "weir: long.txt:2: found \"-2\"; expected a weight of 0 or more"))
      << of_many.err;
}

TEST_F(RunTest, DeclaredVertices) {
  write("g.txt", "0 1\n");
  EXPECT_EQ(weir("run wcc g.txt --vertices 4 --output - --ranks 3").out, "0 0\n1 0\n2 2\n3 3\n");
  write("h.txt", "0 4\n");
  const auto run = weir("run wcc h.txt --vertices 4");
  EXPECT_EQ(run.code, 3);
  EXPECT_TRUE(has(run.err, "h.txt:1: found id 4; expected an id in [0,4)")) << run.err;
}

TEST_F(RunTest, MoreVerticesThanMemory) {
  write("g.txt", "0 1\n");
  write("g.gr", "p sp 1000000000000 1\na 1 2 1\n");
  for (const char* graph : {"g.txt --vertices 1000000000000", "g.gr", "path:1000000000000"}) {
    for (const char* ranks : {"1", "3"}) {
      const auto run =
          weir(std::string("run wcc ") + graph + " --log-level warning --ranks " + ranks);
      EXPECT_EQ(run.code, 3) << run.err;
      EXPECT_TRUE(
          run.err.starts_with("weir: found 1000000000000 vertices, which take at least "
                              "44703.5 GiB on this host; expected a graph that fits"))
          << run.err;
      EXPECT_LT(run.seconds, 10);
    }
  }
}

TEST_F(RunTest, RepeatsAndLoops) {
  write("g.txt", "1 2\n1 2\n2 2\n");
  const auto edges = [&](const std::string& options) {
    const auto run = weir("run wcc g.txt --report r.json " + options);
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(read("r.json"))["graph"]["edges"].get<int>();
  };
  EXPECT_EQ(edges(""), 3);
  EXPECT_EQ(edges("--repeats merge"), 2);
  EXPECT_EQ(edges("--loops drop"), 2);
  EXPECT_EQ(edges("--repeats merge --loops drop --ranks 2"), 1);
}

TEST_F(RunTest, EmptyGraph) {
  write("g.txt", "");
  for (const char* ranks : {"1", "3"}) {
    const auto run = weir(std::string("run pagerank g.txt --output r.txt --ranks ") + ranks);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(read("r.txt"), "");
  }
}

TEST_F(RunTest, ReportHasItsKeys) {
  write("g.txt", square);
  ASSERT_EQ(weir("run pagerank g.txt --report r.json --ranks 2 --threads 1 --shards 3").code, 0);
  const auto report = nlohmann::json::parse(read("r.json"));
  EXPECT_EQ(report["report_version"], 1);
  EXPECT_EQ(report["graph"]["vertices"], 6);
  EXPECT_EQ(report["graph"]["shards"], 3);
  EXPECT_EQ(report["machine"]["ranks"], 2);
  EXPECT_EQ(report["machine"]["transport"], "threads");
  for (const char* key : {"load", "run", "write", "total"}) {
    EXPECT_TRUE(report["seconds"][key].is_number()) << key;
  }
  const auto& algorithm = report["algorithms"][0];
  EXPECT_EQ(algorithm["name"], "pagerank");
  EXPECT_EQ(algorithm["supersteps"], algorithm["rows"].size());
  EXPECT_EQ(algorithm["rows"][0]["superstep"], 0);
  EXPECT_TRUE(algorithm["converged"].is_null());
}

TEST_F(RunTest, ReachingTheCapIsDoneWithAWarning) {
  write("g.txt", square);
  const auto run = weir("run pagerank g.txt --tolerance 0 --iterations 3 --report r.json");
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(has(run.err, "warning: pagerank: the tolerance was not reached in 3 iterations"))
      << run.err;
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["algorithms"][0]["converged"], false);
}

TEST_F(RunTest, OutputThatIsNoRegularFile) {
  write("g.txt", square);
  const auto full = weir("run wcc g.txt --output /dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_TRUE(has(full.err, "weir: /dev/full: cannot write: No space left on device")) << full.err;
  EXPECT_EQ(weir("run wcc g.txt --output /dev/null").code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(RunTest, AFileOverTheLimitIsAnErrorAndLeavesNothing) {
  const std::string line =
      "ulimit -f 2; '" + command_path() + "' run wcc path:100000 --output o.txt";
  const auto run = finish(start({"bash", "-c", line}));
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(has(run.err, "weir: o.txt: cannot write: File too large")) << run.err;
  EXPECT_TRUE(files_with("o.txt").empty());
}

TEST_F(RunTest, StandardOutputThatIsFull) {
  write("g.txt", square);
  const std::string line = "'" + command_path() + "' run wcc g.txt --output - --digest";
  EXPECT_EQ(run({"sh", "-c", line + " > /dev/full"}).code, 1);
  EXPECT_EQ(run({"sh", "-c", "'" + command_path() + "' --version > /dev/full"}).code, 1);
}

TEST_F(RunTest, AFailedRunLeavesTheOldResult) {
  write("g.txt", square);
  write("r.txt", "old");
  EXPECT_EQ(weir("run bfs g.txt --source 99 --output r.txt").code, 3);
  EXPECT_EQ(read("r.txt"), "old");
  EXPECT_TRUE(files_with(".weir-").empty());
}

TEST_F(RunTest, NoFolderForTheResult) {
  write("g.txt", square);
  const auto run = weir("run wcc g.txt --output none/r.txt --ranks 2");
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(has(run.err, "weir: none/r.txt: cannot create")) << run.err;
}

TEST_F(RunTest, ARefusedRunLeavesNoFolder) {
  write("g.txt", square);
  for (const char* source : {"", " --source 99"}) {
    EXPECT_NE(weir(std::string("run bfs g.txt --output a/b/") + source).code, 0);
    EXPECT_FALSE(exists("a"));
  }
  EXPECT_EQ(weir("run bfs g.txt --source 1 --output a/b/").code, 0);
  EXPECT_TRUE(exists("a/b/bfs.txt"));
  const auto file = weir("run wcc none.txt --output g.txt/r/");
  EXPECT_EQ(file.code, 1);
  EXPECT_EQ(file.err, "weir: g.txt/r/: cannot create the folder: g.txt is none\n");
}

TEST_F(RunTest, SignalsEndItWithoutLeftovers) {
  const pid_t child =
      start(words_of("run pagerank rmat:scale=17,seed=1 --iterations 1000000 --output r.txt"));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  ::kill(child, SIGTERM);
  const auto run = finish(child, 20);
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_TRUE(has(run.err, "weir: stopped by SIGTERM\n")) << run.err;
  EXPECT_FALSE(exists("r.txt"));
  EXPECT_TRUE(files_with(".weir-").empty());
}

}  // namespace

}  // namespace weir::test
