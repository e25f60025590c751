// SPDX-License-Identifier: Apache-2.0
// The planner against every plan there is, and what users of other planners ran into.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/graph_files.hpp>
#include <weir/engine/training/partition.hpp>
#include <weir/engine/training/pipedream_partition.hpp>
#include <weir/tests/reference/graph_files.hpp>
#include <weir/tests/reference/partition_search.hpp>

namespace weir::training {

namespace {

using schedule::Topology;

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

std::size_t whole(std::mt19937_64& random, std::size_t low, std::size_t high) {
  return std::uniform_int_distribution<std::size_t>(low, high)(random);
}

/// Ten operators at most, with edges dense enough that all plans can be tried.
OperatorGraph random_graph(std::mt19937_64& random) {
  OperatorGraph graph;
  const std::size_t size = whole(random, 1, 10);
  for (std::size_t i = 0; i < size; ++i) {
    Operator op;
    op.name = "op" + std::to_string(i);
    op.forward_seconds = uniform(random, 0, 4);
    op.backward_seconds = uniform(random, 0, 8);
    op.activation_bytes = uniform(random, 0, 3);
    op.output_bytes = uniform(random, 0, 20);
    op.parameter_bytes = uniform(random, 0, 10);
    graph.add(op);
  }
  const double density = size > 7 ? uniform(random, 0.4, 0.9) : uniform(random, 0.1, 0.9);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      if (uniform(random, 0, 1) < density) graph.connect(i, j);
    }
  }
  return graph;
}

/// Two levels, eight devices at most.
Topology random_cluster(std::mt19937_64& random) {
  const std::size_t inner = whole(random, 1, 4);
  const std::size_t outer = whole(random, 1, 8 / inner);
  schedule::Level cluster{"cluster", {uniform(random, 1, 6), uniform(random, 0, 0.2)}, {}};
  schedule::Level node{"node", {uniform(random, 6, 30), uniform(random, 0, 0.05)}, {}};
  Topology topology = schedule::make_tree("random", {cluster, node}, {outer, inner}, {"d", 1, 0});
  if (whole(random, 0, 2) == 0) {
    for (std::size_t d = 0; d < topology.num_devices(); ++d) {
      topology.scale_speed(d, uniform(random, 0.5, 1.5));
    }
  }
  if (whole(random, 0, 1) == 0) topology.set_memory(uniform(random, 40, 250));
  return topology;
}

OperatorGraph chain(const std::vector<double>& seconds) {
  OperatorGraph graph;
  for (const double each : seconds) {
    Operator op;
    op.name = "layer" + std::to_string(graph.size());
    op.forward_seconds = each;
    graph.add(op);
    if (graph.size() > 1) graph.connect(graph.size() - 2, graph.size() - 1);
  }
  return graph;
}

/// A plan's own figures, recomputed from its stages.
void expect_sound(const OperatorGraph& graph, const Topology& cluster, const Partition& plan) {
  std::vector<int> times_seen(graph.size(), 0);
  std::vector<std::size_t> stage_of(graph.size());
  std::size_t next_device = 0;
  double slowest = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    EXPECT_EQ(stage.first_device, next_device);
    next_device += stage.num_replicas;
    slowest = std::max(slowest, stage.seconds);
    for (const std::size_t i : stage.operators) {
      ++times_seen[i];
      stage_of[i] = s;
    }
    const double limit = cluster.devices()[stage.first_device].memory_bytes;
    EXPECT_TRUE(limit == 0 || stage.memory_bytes <= limit);
  }
  EXPECT_EQ(next_device, plan.devices_per_pipeline);
  EXPECT_DOUBLE_EQ(slowest, plan.seconds);
  EXPECT_TRUE(std::all_of(times_seen.begin(), times_seen.end(), [](int n) { return n == 1; }));
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const std::size_t consumer : graph.consumers(i)) {
      EXPECT_LE(stage_of[i], stage_of[consumer]);
    }
  }
}

TEST(PartitionTest, EqualsExhaustiveSearchOnRandomGraphs) {
  std::mt19937_64 random(20191027);
  int num_refused = 0;
  int num_replicated = 0;
  int num_pipelined = 0;
  for (int trial = 0; trial < 250; ++trial) {
    SCOPED_TRACE(trial);
    const OperatorGraph graph = random_graph(random);
    const Topology cluster = random_cluster(random);
    PartitionOptions options;
    options.parameter_copies = uniform(random, 0, 5);
    options.micro_batches_per_update = whole(random, 1, 4);
    const double expected = reference::PartitionSearch({graph, cluster, options.parameter_copies,
                                                        double(options.micro_batches_per_update)})
                                .best();
    if (!std::isfinite(expected)) {
      ++num_refused;
      EXPECT_THROW(partition(graph, cluster, options), Error);
      continue;
    }
    const Partition plan = partition(graph, cluster, options);
    ASSERT_NEAR(plan.seconds, expected, 1e-9 * expected);
    EXPECT_TRUE(plan.is_exact);
    expect_sound(graph, cluster, plan);
    num_pipelined += plan.stages.size() > 1;
    num_replicated += std::any_of(plan.stages.begin(), plan.stages.end(),
                                  [](const Stage& stage) { return stage.num_replicas > 1; });
  }
  // The draw has all kinds of answers.
  EXPECT_GT(num_refused, 3);
  EXPECT_GT(num_pipelined, 50);
  EXPECT_GT(num_replicated, 20);
}

TEST(PartitionTest, StraightPipelinesEqualExhaustiveSearch) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const OperatorGraph graph = random_graph(random);
    const Topology cluster = schedule::parse_cluster("4x2@10,2");
    PartitionOptions options;
    options.num_stages = whole(random, 1, std::min<std::size_t>(graph.size(), 5));
    const double expected =
        reference::PartitionSearch({graph, cluster, 4, 1}).best_straight(*options.num_stages);
    const Partition plan = partition(graph, cluster, options);
    EXPECT_NEAR(plan.seconds, expected, 1e-9 * expected);
    EXPECT_EQ(plan.stages.size(), *options.num_stages);
  }
}

// D103, alpa 113.
TEST(PartitionTest, UnevenLayersAreCutWhereTheSlowestStageIsLeast) {
  const OperatorGraph layers = chain({4, 3, 2, 6, 5});
  const Topology cluster = schedule::parse_cluster("8@1000");
  const Partition two = partition(layers, cluster, {.num_stages = 2});
  EXPECT_DOUBLE_EQ(two.seconds, 11);
  EXPECT_EQ(two.stages[0].operators, (std::vector<std::size_t>{0, 1, 2}));
  const Partition three = partition(layers, cluster, {.num_stages = 3});
  EXPECT_DOUBLE_EQ(three.seconds, 8);
  try {
    partition(layers, cluster, {.num_stages = 6});
    FAIL() << "6 stages for 5 operators";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    EXPECT_EQ(error.text(), "found 6 stages for 5 operators; expected 1 to as many");
  }
}

// D102, nnscaler 30.
TEST(PartitionTest, ThePipelineFillsBeforeItsSlowestStageCounts) {
  const Partition plan =
      partition(chain({2, 3, 1}), schedule::parse_cluster("3@1"), {.num_stages = 3});
  EXPECT_DOUBLE_EQ(batch_seconds(plan, 4), 15);
  EXPECT_DOUBLE_EQ(batch_seconds(plan, 1), 6);
  EXPECT_DOUBLE_EQ(batch_seconds(plan, 0), 0);
}

// D102, nnscaler 30.
TEST(PartitionTest, DevicesThatAPlanDoesNotUseAreCounted) {
  // Two operators that one link slows down more than a second replica gains.
  OperatorGraph graph = chain({1, 1});
  OperatorGraph heavy;
  for (std::size_t i = 0; i < 2; ++i) {
    Operator op = graph[i];
    op.parameter_bytes = 1e9;
    heavy.add(op);
  }
  heavy.connect(0, 1);
  const Partition plan = partition(heavy, schedule::parse_cluster("3@0.001"));
  EXPECT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.num_idle(), 1U);
  const Partition full = partition(chain({1, 1}), schedule::parse_cluster("3@0.001"));
  EXPECT_EQ(full.num_idle(), 0U);
}

// D104, alpa 752.
TEST(PartitionTest, StagesFollowEachOtherThroughTheNodes) {
  const Topology cluster = schedule::parse_cluster("a100-8x4");
  const Partition plan = partition(chain(std::vector<double>(32, 1)), cluster, {.num_stages = 32});
  int num_between_nodes = 0;
  for (std::size_t s = 1; s < plan.stages.size(); ++s) {
    num_between_nodes +=
        cluster.common_level(plan.stages[s - 1].first_device, plan.stages[s].first_device) == 0;
  }
  EXPECT_EQ(num_between_nodes, 3);
}

TEST(PartitionTest, ASlowDeviceGetsLess) {
  Topology cluster = schedule::parse_cluster("2@1000");
  cluster.scale_speed(1, 0.25);
  const Partition plan = partition(chain(std::vector<double>(10, 1)), cluster, {.num_stages = 2});
  EXPECT_EQ(plan.stages[0].operators.size(), 8U);
  EXPECT_DOUBLE_EQ(plan.seconds, 8);
}

TEST(PartitionTest, WhatDoesNotFitIsRefusedWithItsStageAndBytes) {
  OperatorGraph graph = chain({1, 1, 1});
  OperatorGraph large;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    Operator op = graph[i];
    op.parameter_bytes = i == 1 ? 30e9 : 1e9;
    large.add(op);
    if (i > 0) large.connect(i - 1, i);
  }
  try {
    partition(large, schedule::parse_cluster("a100-4x2"));
    FAIL() << "120 GB on 80";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    const std::string text(error.text());
    EXPECT_NE(text.find("layer1 to layer1, needs 120.000 GB"), std::string::npos) << text;
    EXPECT_NE(text.find("which has 80.000 GB"), std::string::npos) << text;
  }
}

TEST(PartitionTest, LargeClustersRefuseWithAStageToo) {
  OperatorGraph graph;
  graph.add({.name = "embedding", .forward_seconds = 1, .parameter_bytes = 100e9});
  try {
    partition(graph, schedule::parse_cluster("h100-8x16"));
    FAIL() << "400 GB on 80";
  } catch (const Error& error) {
    EXPECT_NE(
        error.text().find("the stage of 1 operator, embedding to embedding, needs 400.000 GB"),
        std::string::npos)
        << error.text();
  }
}

TEST(PartitionTest, WideGraphsAreCutAlongOneOrderAndSaySo) {
  OperatorGraph graph;
  for (int i = 0; i < 40; ++i) {
    Operator op;
    op.name = std::to_string(i);
    op.forward_seconds = 1;
    graph.add(op);
  }
  const Partition plan = partition(graph, schedule::parse_cluster("4@10"));
  EXPECT_FALSE(plan.is_exact);
  EXPECT_DOUBLE_EQ(plan.seconds, 10);
}

/// PipeDream adds what overlaps and counts transfers in both directions of a link together, so its
/// objective bounds ours from above wherever its stages are also ours: on one level.
TEST(PartitionTest, IsNoSlowerThanPipeDreamOnItsProfiles) {
  const auto folder = reference::data_folder();
  if (!folder) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
  for (const char* profile : {"vgg16", "alexnet", "resnet50", "gnmt"}) {
    const auto graph = read_operator_graph(*folder / "training" / "pipedream" /
                                           (std::string(profile) + ".graph.txt"));
    for (const std::size_t num_devices : {4, 16}) {
      SCOPED_TRACE(std::string(profile) + " on " + std::to_string(num_devices));
      PartitionOptions options;
      const auto cluster = schedule::parse_cluster(std::to_string(num_devices) + "@1.25");
      const Partition plan = partition(graph, cluster, options);
      const double theirs =
          partition_as_pipedream(graph, {{num_devices, 1.25e9}}).slowest_stage_seconds;
      EXPECT_LE(plan.seconds, theirs * (1 + 1e-12));
      EXPECT_TRUE(plan.is_exact);
      expect_sound(graph, cluster, plan);
    }
  }
}

TEST(PartitionTest, LoadingDataTakesNoDeviceTime) {
  OperatorGraph graph;
  Operator input;
  input.forward_seconds = 100;
  input.output_bytes = 1e9;
  input.is_input = true;
  graph.add(input);
  graph.add({.name = "layer", .forward_seconds = 1});
  graph.connect(0, 1);
  EXPECT_DOUBLE_EQ(partition(graph, schedule::parse_cluster("1@1")).seconds, 1);
}

TEST(PartitionTest, LargeClustersRepeatThePipeline) {
  const Partition plan =
      partition(chain(std::vector<double>(12, 1)), schedule::parse_cluster("h100-8x128"));
  EXPECT_EQ(plan.num_devices, 1024U);
  EXPECT_EQ(plan.num_idle(), 0U);
  EXPECT_NEAR(plan.seconds, 12.0 / 1024, 1e-9);
}

}  // namespace

}  // namespace weir::training
