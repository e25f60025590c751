// SPDX-License-Identifier: Apache-2.0
// PipeDream's objective: what its published optimizer finds for its published profiles.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/graph_files.hpp>
#include <weir/engine/training/pipedream_partition.hpp>
#include <weir/tests/reference/graph_files.hpp>

namespace weir::training {

namespace {

struct Golden {
  const char* profile;
  std::vector<PipeDreamLevel> levels;
  std::size_t num_states;
  double slowest_stage_seconds;
  double gain_over_data_parallel;
};

/// The optimizer's output (msr-fiddle/pipedream @ 7db6a1c3, activation_compression_ratio 1).
const std::vector<Golden> goldens = {
    {"vgg16", {{4, 1.25e9}}, 40, 0.17634916586666669, 2.836},
    {"vgg16", {{16, 1.25e9}}, 40, 0.05479489083076922, 2.661},
    {"vgg16", {{4, 10e9}, {4, 1.25e9}}, 40, 0.06713399693333331, 2.017},
    {"vgg16", {{8, 25e9}, {2, 3.125e9}}, 40, 0.06576668672, 1.049},
    {"alexnet", {{4, 1.25e9}}, 22, 0.03246091306666666, 5.175},
    {"alexnet", {{16, 1.25e9}}, 22, 0.0150994944, 3.388},
    {"alexnet", {{8, 25e9}, {2, 3.125e9}}, 22, 0.009708999999999995, 1.776},
    {"resnet50", {{4, 1.25e9}}, 240, 0.1519926032, 1.133},
    {"resnet50", {{16, 1.25e9}}, 240, 0.043847790044444425, 1.069},
    {"resnet50", {{4, 10e9}, {4, 1.25e9}}, 240, 0.04320846919999999, 1.041},
    {"resnet50", {{8, 25e9}, {2, 3.125e9}}, 240, 0.032011711283199996, 1.021},
    {"gnmt", {{4, 1.25e9}}, 99, 0.02586800000000003, 18.84},
    {"gnmt", {{16, 1.25e9}}, 99, 0.01712500000000001, 8.812},
    {"gnmt", {{8, 25e9}, {2, 3.125e9}}, 99, 0.009893226631111111, 4.384},
};

TEST(PipeDreamPartitionTest, FindsTheObjectiveOfThePublishedOptimizer) {
  const auto folder = reference::data_folder();
  if (!folder) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(std::string(golden.profile) + " on " + std::to_string(golden.levels.size()) +
                 " levels from " + std::to_string(golden.levels[0].num_units));
    const auto graph = read_operator_graph(*folder / "training" / "pipedream" /
                                           (std::string(golden.profile) + ".graph.txt"));
    const PipeDreamPlan plan = partition_as_pipedream(graph, golden.levels);
    EXPECT_EQ(plan.num_states, golden.num_states);
    EXPECT_NEAR(plan.slowest_stage_seconds, golden.slowest_stage_seconds,
                1e-12 * golden.slowest_stage_seconds);
    EXPECT_NEAR(plan.data_parallel_seconds / plan.slowest_stage_seconds,
                golden.gain_over_data_parallel, 6e-4 * golden.gain_over_data_parallel);
  }
}

TEST(PipeDreamPartitionTest, StagesAreThoseOfThePublishedExample) {
  const auto folder = reference::data_folder();
  if (!folder) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
  const auto graph = read_operator_graph(*folder / "training" / "pipedream" / "vgg16.graph.txt");
  const PipeDreamPlan plan = partition_as_pipedream(graph, {{4, 1e9}});
  ASSERT_EQ(plan.levels.size(), 1U);
  ASSERT_EQ(plan.levels[0].size(), 2U);
  EXPECT_EQ(plan.levels[0][0].end, 17U);
  EXPECT_EQ(plan.levels[0][0].num_replicas, 3U);
  EXPECT_EQ(plan.levels[0][1].begin, 17U);
  EXPECT_EQ(plan.levels[0][1].num_replicas, 1U);
}

/// A chain of three, worked by hand: 2 ms, 4 ms, 2 ms; outputs of 1 MB; 1 MB of parameters each.
OperatorGraph small_chain() {
  OperatorGraph graph;
  for (const double milliseconds : {2.0, 4.0, 2.0}) {
    Operator op;
    op.name = "layer" + std::to_string(graph.size());
    op.forward_seconds = milliseconds / 1e3;
    op.output_bytes = 1e6;
    op.parameter_bytes = 1e6;
    graph.add(op);
    if (graph.size() > 1) graph.connect(graph.size() - 2, graph.size() - 1);
  }
  return graph;
}

TEST(PipeDreamPartitionTest, AStageCostsComputeAndGradientsTogether) {
  // Two replicas: (8 ms + 4 * 1/2 * 3 MB / 1 GB/s) / 2 = 7 ms. Two stages: 6 ms and 2 ms.
  const PipeDreamPlan plan = partition_as_pipedream(small_chain(), {{2, 1e9}});
  EXPECT_DOUBLE_EQ(plan.slowest_stage_seconds, 6e-3);
  EXPECT_DOUBLE_EQ(plan.data_parallel_seconds, 7e-3);
  EXPECT_DOUBLE_EQ(plan.one_device_seconds, 8e-3);
}

TEST(PipeDreamPartitionTest, TransfersBoundAStageFromBelow) {
  // At 0.1 GB/s a cut costs 2 * 1 MB / 0.1 GB/s = 20 ms, replicas (8 + 60) / 2 = 34 ms.
  const PipeDreamPlan plan = partition_as_pipedream(small_chain(), {{2, 1e8}});
  EXPECT_DOUBLE_EQ(plan.slowest_stage_seconds, 20e-3);
}

TEST(PipeDreamPartitionTest, InputsAndUnusedItemsAreLeftOut) {
  OperatorGraph graph = small_chain();
  Operator input;
  input.name = "in";
  input.is_input = true;
  input.forward_seconds = 100;
  Operator item;
  item.forward_seconds = 100;
  item.name = "item";
  item.kind = "__getitem__(0)";
  graph.connect(graph.add(input), 0);
  graph.connect(2, graph.add(item));
  const PipeDreamPlan plan = partition_as_pipedream(graph, {{1, 1e9}});
  EXPECT_EQ(plan.num_states, 3U);
  EXPECT_DOUBLE_EQ(plan.slowest_stage_seconds, 8e-3);
}

TEST(PipeDreamPartitionTest, TooManyStatesAreRefused) {
  OperatorGraph graph;
  graph.add({.name = "source"});
  for (int i = 0; i < 16; ++i) graph.connect(0, graph.add({.name = std::to_string(i)}));
  EXPECT_THROW(partition_as_pipedream(graph, {{2, 1e9}}), Error);
  EXPECT_THROW(partition_as_pipedream(small_chain(), {}), Error);
  EXPECT_THROW(partition_as_pipedream(small_chain(), {{0, 1e9}}), Error);
}

}  // namespace

}  // namespace weir::training
