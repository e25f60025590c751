// SPDX-License-Identifier: Apache-2.0
// Files to graphs and values, as a library user loads them.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/graph/load.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/run.hpp>
#include <weir/tests/engine/graph/graph_cases.hpp>

namespace weir {
namespace {

class Load : public testing::TestWithParam<Rank> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "weir-load-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

/// The figure of the Pregel paper: the largest value spreads ([Malewicz10 figure 2]).
struct LargestValue {
  using Value = double;
  using Message = double;
  using Combiner = Max<double>;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    const double largest = inbox.combined(Combiner{});
    if (v.superstep() == 0 || largest > v.value()) {
      if (largest > v.value()) v.value() = largest;
      v.scatter();
    }
    v.vote_to_halt();
  }
};

TEST_P(Load, starts_a_program_from_values_in_a_file) {
  const std::string edges = file("g.e", "1 2\n2 1\n2 4\n3 2\n3 4\n4 3\n");
  const std::string values = file("g.values", "1 3\n2 6\n3 2\n4 1\n");
  run_in_process(GetParam(), {.threads = 1}, [&](Context& context) {
    const auto graph =
        load_graph<NoValue>(context, {edges}, {.file = {.format = io::Format::edges}});
    const auto initial = load_values(graph, values);
    const auto [largest, report] = run(graph, LargestValue{}, {}, initial);
    for (const auto& [id, value] : largest.gather()) EXPECT_EQ(value, 6) << "vertex " << id;
    EXPECT_EQ(report.num_supersteps, 4U);
  });
}

TEST_P(Load, takes_the_direction_from_the_file_unless_told) {
  const std::string mtx =
      file("g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n3 2 7\n");
  run_in_process(GetParam(), {.threads = 1}, [&](Context& context) {
    const auto graph = load_graph<double>(context, {mtx});
    EXPECT_FALSE(graph.is_directed());
    EXPECT_EQ(graph.num_vertices(), 3U);
    EXPECT_EQ(graph.num_edges(), 2U);
    EXPECT_TRUE(load_graph<double>(context, {mtx}, {.is_directed = true}).is_directed());
  });
}

TEST_P(Load, tells_every_rank_what_is_wrong_with_the_input) {
  const std::string broken = file("g.txt", "1 2\n2 three\n");
  const std::string short_file =
      file("short.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n");
  const std::string edges = file("g.e", "1 2\n");
  const std::string strangers = file("strangers", "7 1\n");
  run_in_process(GetParam(), {.threads = 1}, [&](Context& context) {
    const auto fails = [&](const auto& body) {
      try {
        body();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input);
        return std::string(error.what());
      }
      return std::string("no error");
    };
    const auto has = [](const std::string& text, const std::string& part) {
      return text.find(part) != std::string::npos;
    };
    EXPECT_PRED2(has, fails([&] { load_graph<NoValue>(context, {broken}); }), "g.txt:2: ");
    EXPECT_PRED2(has, fails([&] { load_graph<NoValue>(context, {short_file}); }), "short.mtx");
    EXPECT_PRED2(has, fails([&] { load_graph<NoValue>(context, {"no such file"}); }),
                 "no such file");
    const auto graph =
        load_graph<NoValue>(context, {edges}, {.file = {.format = io::Format::edges}});
    EXPECT_PRED2(has, fails([&] { load_values(graph, strangers); }), "found a value for 7");
  });
}

TEST_P(Load, gives_the_same_graph_at_any_number_of_threads) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) {
    text += std::to_string(i * 37 % 701) + " " + std::to_string(i * i % 997) + " " +
            std::to_string(i % 13) + (i % 5 == 0 ? ".5\n" : "\n");
  }
  const std::string path = file("g.wel", text);
  std::string expected;
  run_in_process(1, {.threads = 1}, [&](Context& context) {
    expected = cases::describe(load_graph<double>(context, {path}));
  });
  for (const int threads : {1, 2, 5}) {
    run_in_process(GetParam(), {.threads = threads}, [&](Context& context) {
      const auto graph = load_graph<double>(context, {path});
      EXPECT_EQ(graph.num_vertices(), 997U);
      EXPECT_EQ(cases::describe(graph), expected);
    });
  }
}

TEST_P(Load, tells_the_first_bad_line_at_any_number_of_threads) {
  std::string text;
  for (int i = 1; i <= 2'000; ++i) text += i % 500 == 0 ? "1 x\n" : "1 2\n";
  const std::string path = file("g.txt", text);
  for (const int threads : {1, 2, 5}) {
    run_in_process(GetParam(), {.threads = threads}, [&](Context& context) {
      try {
        load_graph<NoValue>(context, {path});
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("g.txt:500: "), std::string::npos) << error.what();
      }
    });
  }
}

TEST_P(Load, counts_the_edges_read) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "1 2\n";
  const std::string path = file("g.txt", text);
  std::atomic<std::uint64_t> num_read{0};
  run_in_process(GetParam(), {.threads = 3}, [&](Context& context) {
    std::uint64_t last = 0;
    LoadOptions options;
    options.build.progress = [&](std::string_view phase, std::uint64_t count) {
      if (phase == "read") last = count;
    };
    load_graph<NoValue>(context, {path}, options);
    num_read += last;
  });
  EXPECT_EQ(num_read, 30'000U);
}

INSTANTIATE_TEST_SUITE_P(On, Load, testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace weir
