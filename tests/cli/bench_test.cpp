// SPDX-License-Identifier: Apache-2.0
// weir bench: what is timed, checked, kept and compared.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weir/cli/bench_comparison.hpp>
#include <weir/cli/processor.hpp>
#include <weir/cli/serial_check.hpp>
#include <weir/cli/trial_sources.hpp>
#include <weir/engine/engine.hpp>
#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

using cli::compare_benches;
using cli::ReadBench;

using BenchTest = Workplace;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

nlohmann::json report(const std::string& text) { return nlohmann::json::parse(text); }

// Drawn by GAP's own SourcePicker (commit b5e3e19), built from its sources.
TEST(GapDraw, IsTheDrawOfGap) {
  const auto draws = [](std::uint64_t num_vertices) {
    cli::GapDraw draw(num_vertices);
    std::vector<std::uint64_t> drawn(8);
    for (std::uint64_t& each : drawn) each = draw();
    return drawn;
  };
  using Drawn = std::vector<std::uint64_t>;
  EXPECT_EQ(draws(7), (Drawn{5, 6, 2, 6, 3, 6, 0, 0}));
  EXPECT_EQ(draws(1000), (Drawn{359, 95, 272, 782, 148, 788, 550, 270}));
  EXPECT_EQ(draws(1 << 20), (Drawn{327007, 756607, 476816, 970958, 95700, 257644, 1014, 109454}));
  cli::GapDraw wide(std::uint64_t{1} << 40);
  EXPECT_LT(wide(), std::uint64_t{1} << 40);
}

TEST_F(BenchTest, StartsWhereGapStarts) {
  for (const char* ranks : {"1", "3"}) {
    const auto run =
        weir(std::string("bench bfs path:1000 --trials 4 --report r.json --ranks ") + ranks);
    ASSERT_EQ(run.code, 0) << run.err;
    const auto kernel = report(read("r.json"))["kernels"][0];
    EXPECT_EQ(kernel["sources"], (std::vector<std::string>{"359", "95", "272", "782"})) << ranks;
  }
}

TEST_F(BenchTest, StartsOnlyWhereEdgesLeave) {
  write("g.txt", "10 20\n10 30\n10 40\n10 50\n10 60\n10 70\n");
  ASSERT_EQ(weir("bench bfs g.txt --trials 3 --report r.json").code, 0);
  EXPECT_EQ(report(read("r.json"))["kernels"][0]["sources"],
            (std::vector<std::string>{"10", "10", "10"}));
  write("names.txt", "ann bob\nann eve\n");
  ASSERT_EQ(weir("bench bfs names.txt --ids string --trials 1 --report r.json --ranks 2").code, 0);
  EXPECT_EQ(report(read("r.json"))["kernels"][0]["sources"], (std::vector<std::string>{"ann"}));
}

TEST_F(BenchTest, GivenSourcesTakeTurns) {
  const auto run = weir("bench bfs,pagerank path:9 --source 1,7 --trials 3 --report r.json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto kernels = report(read("r.json"))["kernels"];
  EXPECT_EQ(kernels[0]["sources"], (std::vector<std::string>{"1", "7", "1"}));
  EXPECT_EQ(kernels[0]["digests"][0], kernels[0]["digests"][2]);
  EXPECT_NE(kernels[0]["digests"][0], kernels[0]["digests"][1]);
  EXPECT_TRUE(kernels[1]["sources"].empty()) << "pagerank is not personalised";
}

TEST_F(BenchTest, ReportsWhatRunReports) {
  const std::string graph = "rmat:scale=7,seed=2,weights=9 --undirected --weighted ";
  const auto bench = weir("bench pagerank,sssp,wcc,cdlp,lcc,triangles,kcore " + graph +
                          "--source 1 --trials 2 --verify --report b.json --ranks 2");
  ASSERT_EQ(bench.code, 0) << bench.err;
  ASSERT_EQ(
      weir("run sssp,wcc,cdlp,lcc,triangles,kcore " + graph + "--source 1 --report r.json").code,
      0);
  const auto measured = report(read("b.json"));
  const auto expected = report(read("r.json"));
  for (std::size_t i = 0; i < expected["algorithms"].size(); ++i) {
    const auto& kernel = measured["kernels"][i + 1];
    EXPECT_EQ(kernel["name"], expected["algorithms"][i]["name"]);
    ASSERT_EQ(kernel["digests"].size(), 2U);
    EXPECT_EQ(kernel["digests"][1], expected["algorithms"][i]["digest"]) << kernel["name"];
    EXPECT_LE(kernel["min_seconds"], kernel["median_seconds"]);
    EXPECT_LE(kernel["median_seconds"], kernel["max_seconds"]);
    EXPECT_TRUE(has(bench.out, kernel["name"])) << bench.out;
  }
  EXPECT_EQ(measured["kernels"][1]["check"], "serial");
  EXPECT_EQ(measured["kernels"][0]["check"], "serial");
  EXPECT_EQ(measured["kernels"][3]["check"], "digest");
  EXPECT_EQ(measured["machine"]["ranks"], 2);
  EXPECT_EQ(measured["machine"]["compiler"], expected["machine"]["compiler"]);
  EXPECT_EQ(measured["graph"]["arcs"], expected["graph"]["arcs"]);
  EXPECT_EQ(measured["bench_version"], 1);
  EXPECT_TRUE(measured["machine"].contains("processor"));
}

TEST_F(BenchTest, MpiProcessesAreRanks) {
  if (launcher_path().empty()) GTEST_SKIP() << "no mpirun for the command's MPI (WEIR_MPIRUN)";
  const std::string line = "bench bfs,wcc rmat:scale=6,seed=3 --undirected --trials 2 --verify ";
  ASSERT_EQ(weir(line + "--report one.json").code, 0);
  const auto job = run(under_mpirun(2, line + "--report two.json"));
  ASSERT_EQ(job.code, 0) << job.err;
  const auto one = report(read("one.json"));
  const auto two = report(read("two.json"));
  EXPECT_EQ(two["machine"]["transport"], "mpi");
  EXPECT_EQ(two["machine"]["ranks"], 2);
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(two["kernels"][i]["digests"], one["kernels"][i]["digests"]);
  }
  EXPECT_EQ(weir("bench --compare one.json two.json").code, 0);
}

TEST_F(BenchTest, ComparesOnlyReports) {
  write("g.txt", "1 2\n");
  write("other.json", "{\"bench_version\": 2}");
  write("damaged.json",
        R"({"bench_version": 1, "graph": {}, "machine": {}, "kernels": [{"name": "bfs"}]})");
  ASSERT_EQ(weir("bench bfs g.txt --trials 1 --report a.json").code, 0);
  const auto one = weir("bench --compare a.json a.json");
  EXPECT_EQ(one.code, 0);
  EXPECT_TRUE(has(one.out, "1.000 (1.000 to 1.000)")) << one.out;
  struct Case {
    std::string line;
    int code;
    std::string error;
  };
  for (const Case& each : std::vector<Case>{
           {"bench --compare a.json", 2, "GRAPH: found nothing"},
           {"bench --compare a.json a.json a.json", 2, "--compare: found 3 files; expected two"},
           {"bench --compare a.json g.txt", 3, "g.txt: found no report"},
           {"bench --compare a.json none.json", 3, "none.json: cannot be read"},
           {"bench --compare none.json missing.json", 3, "none.json: cannot be read"},
           {"bench --compare a.json other.json", 3, "other.json: found bench_version 2"},
           {"bench --compare damaged.json a.json", 3, "damaged.json: found a damaged report"},
           {"bench bsf g.txt", 2, "ALGORITHM: found \"bsf\"; expected one of"},
           {"bench bfs g.txt --trials 0", 2, "--trials: found \"0\""},
           {"bench bfs g.txt --report -", 2, "--report: found -; expected a file"},
           {"bench bfs g.txt --source 5", 3, "--source: vertex 5 is not in the graph"},
       }) {
    const auto run = weir(each.line);
    EXPECT_EQ(run.code, each.code) << each.line << '\n' << run.err;
    EXPECT_TRUE(has(run.err, "weir: " + each.error)) << each.line << '\n' << run.err;
  }
}

ReadBench bench_of(std::vector<double> seconds, const std::string& digest = "0x1") {
  const std::vector<std::string> digests(seconds.size(), digest);
  return {"x.json",
          {{"graph.vertices", "9"}, {"machine.processor", "A"}},
          {{"bfs", std::move(seconds), {}, digests}}};
}

TEST(BenchComparison, RatiosAreOfTrialsInOrder) {
  // Every trial takes half the time, though the slowest after is slower than the fastest before.
  const auto halved = compare_benches(bench_of({1, 8, 2, 4, 2}), bench_of({.5, 4, 1, 2, 1}));
  EXPECT_TRUE(has(halved.table, "0.500 (0.500 to 0.500)")) << halved.table;
  EXPECT_TRUE(has(halved.table, "2.00 s (1.00 s to 8.00 s)")) << halved.table;
  EXPECT_TRUE(has(halved.table, "faster\n")) << halved.table;
  EXPECT_TRUE(halved.warnings.empty());
  const auto mixed = compare_benches(bench_of({1, 1, 1, 1, 1}), bench_of({1.5, .5, 1, 2, 1}));
  EXPECT_TRUE(has(mixed.table, "1.000 (0.500 to 2.000)")) << mixed.table;
  EXPECT_TRUE(has(mixed.table, "no difference shown")) << mixed.table;
  EXPECT_TRUE(has(compare_benches(bench_of({1}), bench_of({2})).table, "too few trials"));
}

TEST(BenchComparison, SaysWhatIsNotShared) {
  ReadBench after = bench_of({1});
  after.circumstances[1].second = "B";
  after.kernels.push_back({"wcc", {1}, {}, {"0x1"}});
  const auto comparison = compare_benches(bench_of({1}), after);
  EXPECT_EQ(comparison.warnings, (std::vector<std::string>{"different machine.processor: A and B",
                                                           "wcc is in x.json only"}));
  EXPECT_FALSE(comparison.has_different_results);
}

TEST(BenchComparison, ResultsOfOneGraphMustBeEqual) {
  EXPECT_TRUE(compare_benches(bench_of({1}), bench_of({1}, "0x2")).has_different_results);
  ReadBench other_graph = bench_of({1}, "0x2");
  other_graph.circumstances[0].second = "10";
  EXPECT_FALSE(compare_benches(bench_of({1}), other_graph).has_different_results);
  ReadBench other_source = bench_of({1}, "0x2");
  other_source.kernels[0].sources = {"3"};
  EXPECT_FALSE(compare_benches(bench_of({1}), other_source).has_different_results);
}

TEST(BenchComparison, MiddleOfAnEvenNumber) {
  const cli::Spread spread = cli::spread_of({4, 1, 2, 8});
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.least, 1);
  EXPECT_EQ(spread.most, 8);
}

/// A path 0-1-2-3 and an edge 5-6, on every rank.
AnyGraph small_graph(Context& context) {
  BuildOptions build;
  build.is_directed = false;
  GraphBuilder<double> builder(context, build);
  if (context.is_root()) {
    const std::vector<Edge<double>> edges{{0, 1, 2}, {1, 2, 0.5}, {2, 3, 4}, {0, 3, 9}, {5, 6, 1}};
    builder.add_edges(edges);
  }
  return builder.finish();
}

TEST(SerialCheck, KnowsRightFromWrong) {
  for (const Rank ranks : {1, 3}) {
    run_in_process(ranks, {}, [](Context& context) {
      const AnyGraph graph = small_graph(context);
      const cli::SerialCheck check(graph);
      AlgorithmOptions options;
      options.sources = {1};
      AlgorithmOptions elsewhere;
      elsewhere.sources = {2};
      for (const char* name : {"bfs", "sssp"}) {
        ASSERT_TRUE(cli::SerialCheck::knows(name, options));
        const AlgorithmResult result = find_algorithm(name)->run(graph, options);
        EXPECT_NO_THROW(check.expect_right(name, options, result));
        EXPECT_THROW(check.expect_right(name, elsewhere, result), Error) << name;
      }
      const AlgorithmResult levels = find_algorithm("bfs")->run(graph, options);
      EXPECT_NO_THROW(check.expect_right("wcc", {}, find_algorithm("wcc")->run(graph, {})));
      EXPECT_THROW(check.expect_right("wcc", {}, levels), Error);
    });
  }
}

TEST(SerialCheck, RanksAreNearlyEqual) {
  run_in_process(2, {}, [](Context& context) {
    BuildOptions build;  // directed: 3 and 6 have no out-arcs
    GraphBuilder<double> builder(context, build);
    const std::vector<Edge<double>> edges{{0, 1, 2}, {1, 2, 1}, {2, 0, 4}, {0, 3, 9}, {5, 6, 1}};
    if (context.is_root()) builder.add_edges(edges);
    const AnyGraph graph = builder.finish();
    const cli::SerialCheck check(graph);
    AlgorithmOptions options;
    const AlgorithmResult result = find_algorithm("pagerank")->run(graph, options);
    ASSERT_TRUE(cli::SerialCheck::knows("pagerank", options));
    EXPECT_NO_THROW(check.expect_right("pagerank", options, result));
    options.damping = 0.8500001;
    EXPECT_THROW(check.expect_right("pagerank", options, result), Error);
    options.tolerance = 1e-3;
    EXPECT_FALSE(cli::SerialCheck::knows("pagerank", options)) << "how long is not known";
  });
}

TEST_F(BenchTest, ProcessorIsReadFromTheSystem) {
  write("cpuinfo", "processor\t: 0\nmodel name\t: Quick 3000\nflags : a\n");
  write("governor", "performance\n");
  const auto known = cli::this_processor({path("cpuinfo"), path("governor")});
  EXPECT_EQ(known.name, "Quick 3000");
  EXPECT_EQ(known.governor, "performance");
  const auto unknown = cli::this_processor({path("none"), path("none")});
  EXPECT_EQ(unknown.governor, "");
  EXPECT_NE(unknown.name, "");  // the architecture
}

}  // namespace

}  // namespace weir::test
