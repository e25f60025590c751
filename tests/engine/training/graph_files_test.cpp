// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/graph_files.hpp>
#include <weir/tests/reference/graph_files.hpp>

namespace weir::training {

namespace {

std::string error_of(const std::string& text, const GraphFileOptions& options = {}) {
  try {
    parse_operator_graph("g.txt", text, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    return std::string(error.text());
  }
  return "";
}

std::string node(const std::string& name, const std::string& activation = "8.0") {
  return name + " -- Conv2d(3, 64, kernel_size=(3, 3)) -- forward_compute_time=1.500, " +
         "backward_compute_time=2.000, activation_size=" + activation + ", parameter_size=4.000";
}

TEST(GraphFilesTest, PipeDreamProfiles) {
  // Edges before the operators they name, a list of activations, a stage, and no end of line.
  const auto graph =
      parse_operator_graph("g.txt", node("node2", "[1.0; 2.0; 4.5]") +
                                        " -- stage_id=3\n\tnode2 -- node1\n" + node("node1"));
  ASSERT_EQ(graph.size(), 2U);
  EXPECT_EQ(graph[0].name, "node2");
  EXPECT_EQ(graph[0].kind, "Conv2d(3, 64, kernel_size=(3, 3))");
  EXPECT_DOUBLE_EQ(graph[0].forward_seconds, 1.5e-3);
  EXPECT_DOUBLE_EQ(graph[0].backward_seconds, 2e-3);
  EXPECT_DOUBLE_EQ(graph[0].activation_bytes, 7.5);
  EXPECT_DOUBLE_EQ(graph[0].output_bytes, 7.5);
  EXPECT_DOUBLE_EQ(graph[1].parameter_bytes, 4);
  EXPECT_EQ(graph.consumers(0), std::vector<std::size_t>{1});
}

TEST(GraphFilesTest, PipeDreamFaultsNameTheirLine) {
  EXPECT_EQ(error_of(node("a") + "\n\ta -- b\n"),
            "g.txt:2: found an edge at operator \"b\"; expected one that the file describes");
  EXPECT_EQ(error_of(node("a") + "\n" + node("a") + "\n"),
            "g.txt:2: found a second operator \"a\"; expected each once");
  EXPECT_EQ(error_of(node("a", "-1")),
            "g.txt:1: found activation_size \"-1\"; expected a number, not negative");
  EXPECT_EQ(error_of(node("a", "[1;x]")),
            "g.txt:1: found activation_size \"x\"; expected a number, not negative");
  EXPECT_EQ(error_of(node("a", "[1;2")), "g.txt:1: found \"[1;2\"; expected [NUMBER; NUMBER]");
  EXPECT_NE(error_of("a -- b\n").find("g.txt:1: found \"a -- b\"; expected ID"), std::string::npos);
  EXPECT_NE(error_of(node("a") + "\n\ta\n").find("g.txt:2: found \"a\"; expected PRODUCER"),
            std::string::npos);
}

TEST(GraphFilesTest, CyclesAreRefused) {
  EXPECT_EQ(error_of(node("a") + "\n" + node("b") + "\n\ta -- b\n\tb -- a\n"),
            "g.txt: found a cycle of operators: a -> b -> a; expected a graph without cycles");
}

TEST(GraphFilesTest, PlainLayers) {
  const auto graph = parse_operator_graph("l.txt", "# name ms\nembed 4\n\nhead 3 6 100 200 50\n");
  ASSERT_EQ(graph.size(), 2U);
  EXPECT_DOUBLE_EQ(graph[0].seconds(), 4e-3);
  EXPECT_DOUBLE_EQ(graph[1].seconds(), 9e-3);
  EXPECT_DOUBLE_EQ(graph[1].activation_bytes, 100);
  EXPECT_DOUBLE_EQ(graph[1].parameter_bytes, 200);
  EXPECT_DOUBLE_EQ(graph[1].output_bytes, 50);
  EXPECT_EQ(graph.num_edges(), 1U);
  EXPECT_EQ(error_of("a 1\nb x\n"),
            "g.txt:2: found forward time \"x\"; expected a number, not negative");
  EXPECT_NE(error_of("a 1\nb\n").find("g.txt:2: found \"b\"; expected NAME"), std::string::npos);
  EXPECT_EQ(error_of(""), "g.txt:1: found an empty file; expected operators");
  EXPECT_EQ(error_of("# nothing\n"), "g.txt:1: found no operator; expected at least one");
}

constexpr const char* simai =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 2 pp_comm 4096\n2\n"
    "attention\t-1\t1000\tALLGATHER\t64\t2000\tREDUCESCATTER\t0\t3000\tNONE\t0\t100\n"
    "mlp\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tNONE\t0\t100\n";

TEST(GraphFilesTest, SimAiWorkloads) {
  const auto graph = parse_operator_graph("w.txt", simai);
  ASSERT_EQ(graph.size(), 2U);
  EXPECT_DOUBLE_EQ(graph[0].forward_seconds, 1e-6);
  EXPECT_DOUBLE_EQ(graph[0].backward_seconds, 5e-6);
  EXPECT_EQ(graph[0].kind, "ALLGATHER REDUCESCATTER");
  EXPECT_DOUBLE_EQ(graph[0].output_bytes, 4096);
  std::string text(simai);
  text.replace(text.find("\n2\n"), 3, "\n3\n");
  EXPECT_EQ(error_of(text),
            "g.txt:2: found 3 as the number of operators; expected as many rows; there are 2");
  EXPECT_NE(error_of(std::string(simai) + "x\t1\n").find("g.txt:5: found 2 columns; expected 12"),
            std::string::npos);
}

constexpr const char* piper = R"({"nodes": [
  {"id": 0, "name": "embedding", "TMPCs": {"1": [
    {"id": "vanilla", "timePerSample": 0.5, "parameterSize": 10, "memoryUsageA": 3},
    {"id": "activation recomp", "timePerSample": 0.7, "parameterSize": 10, "memoryUsageA": 1}]}},
  {"id": 7, "name": "head", "TMPCs": {"1": [
    {"id": "vanilla", "timePerSample": 1.5, "parameterSize": 20, "memoryUsageA": 4},
    {"id": "activation recomp", "timePerSample": 1.7, "parameterSize": 20, "memoryUsageA": 2}]}}],
 "edges": [{"sourceId": 0, "destId": 7, "communicationCost": 99}]})";

TEST(GraphFilesTest, PiperDescriptions) {
  const auto graph = parse_operator_graph("p.json", piper);
  ASSERT_EQ(graph.size(), 2U);
  EXPECT_EQ(graph[1].kind, "head");
  EXPECT_DOUBLE_EQ(graph[0].seconds(), 0.5);
  EXPECT_DOUBLE_EQ(graph[0].output_bytes, 99);
  EXPECT_DOUBLE_EQ(graph[0].activation_bytes, 3);
  GraphFileOptions options;
  options.piper.recomputes_activations = true;
  EXPECT_DOUBLE_EQ(parse_operator_graph("p.json", piper, options)[0].seconds(), 0.7);
  options.piper.tensor_parallel_degree = 2;
  EXPECT_EQ(error_of(piper, options),
            "g.txt: operator 0: found no variant for tensor-parallel degree 2; expected one");
}

TEST(GraphFilesTest, PiperFaultsSayWhere) {
  EXPECT_EQ(error_of("{\"nodes\": [],\n \"edges\": [}\n"),
            "g.txt:2: found what is no JSON; expected a Piper description in JSON");
  EXPECT_NE(error_of("{\"nodes\": [1e999]}").find("what cannot be read"), std::string::npos);
  EXPECT_EQ(error_of("{\"nodes\": []}"), "g.txt: the file: found no edges; expected one");
  std::string text(piper);
  text.replace(text.find("\"destId\": 7"), 11, "\"destId\": 8");
  EXPECT_EQ(error_of(text), "g.txt: edges[0]: found operator 8; expected one of nodes");
}

/// docs of the shared data, part 4; SimAI's sums from its rows.
TEST(GraphFilesTest, PublishedFilesHaveTheirSizes) {
  const auto folder = reference::data_folder();
  if (!folder) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
  struct Expected {
    const char* file;
    std::size_t num_operators, num_edges;
    double forward_seconds, backward_seconds;
  };
  const std::vector<Expected> files = {
      {"pipedream/alexnet.graph.txt", 23, 23, 0.680703, 0.040520},
      {"pipedream/vgg16.graph.txt", 41, 41, 0.251874, 0.438633},
      {"pipedream/resnet50.graph.txt", 177, 193, 0.201450, 0.260931},
      {"pipedream/inception_v3.graph.txt", 326, 362, 0.310969, 0.399769},
      {"pipedream/gnmt.graph.txt", 48, 58, 0.033533, 0.055883},
      {"simai/workload_9216gpu.txt", 1789, 1788, 2.236, 1.914 + 0.392},
  };
  for (const Expected& expected : files) {
    SCOPED_TRACE(expected.file);
    const auto graph = read_operator_graph(*folder / "training" / expected.file);
    EXPECT_EQ(graph.size(), expected.num_operators);
    EXPECT_EQ(graph.num_edges(), expected.num_edges);
    EXPECT_NEAR(graph.total().forward_seconds, expected.forward_seconds, 5.1e-4);
    EXPECT_NEAR(graph.total().backward_seconds, expected.backward_seconds, 1.1e-3);
  }
  const auto bert = read_operator_graph(*folder / "training" / "piper" / "bert32a100.json");
  EXPECT_EQ(bert.size(), 37U);
  EXPECT_EQ(bert.num_edges(), 67U);
}

}  // namespace

}  // namespace weir::training
