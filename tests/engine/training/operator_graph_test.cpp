// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/downsets.hpp>
#include <weir/engine/training/operator_graph.hpp>

namespace weir::training {

namespace {

OperatorGraph named(const std::string& names) {
  OperatorGraph graph;
  for (const char name : names) graph.add({.name = std::string(1, name), .forward_seconds = 1});
  return graph;
}

TEST(OperatorGraphTest, ACycleIsWrittenOut) {
  OperatorGraph graph = named("abcde");
  graph.connect(0, 1);
  graph.connect(1, 2);
  graph.connect(2, 3);
  graph.connect(3, 1);
  graph.connect(3, 4);
  try {
    graph.topological_order();
    FAIL() << "b, c and d are a cycle";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    const std::string text(error.text());
    const bool is_named = text.find("b -> c -> d -> b") != std::string::npos ||
                          text.find("c -> d -> b -> c") != std::string::npos ||
                          text.find("d -> b -> c -> d") != std::string::npos;
    EXPECT_TRUE(is_named) << text;
  }
}

TEST(OperatorGraphTest, AnOperatorThatFeedsItselfIsACycle) {
  OperatorGraph graph = named("a");
  graph.connect(0, 0);
  EXPECT_THROW(graph.topological_order(), Error);
}

TEST(OperatorGraphTest, TheOrderPutsProducersFirst) {
  OperatorGraph graph = named("abcd");
  graph.connect(3, 0);
  graph.connect(2, 3);
  graph.connect(2, 3);
  EXPECT_EQ(graph.num_edges(), 2U);
  EXPECT_EQ(graph.topological_order(), (std::vector<std::size_t>{1, 2, 3, 0}));
}

TEST(OperatorGraphTest, AmountsAreFiniteAndNotNegative) {
  OperatorGraph graph;
  EXPECT_THROW(graph.add({.name = "a", .forward_seconds = -1}), Error);
  EXPECT_THROW(graph.add({.name = "a", .parameter_bytes = std::nan("")}), Error);
  EXPECT_THROW(graph.add({.name = "a", .output_bytes = std::numeric_limits<double>::infinity()}),
               Error);
  EXPECT_THROW(graph.connect(0, 1), Error);
}

TEST(DownsetsTest, ADiamondHasSix) {
  OperatorGraph graph = named("abcd");
  graph.connect(0, 1);
  graph.connect(0, 2);
  graph.connect(1, 3);
  graph.connect(2, 3);
  const auto downsets = all_downsets(graph, 100);
  ASSERT_TRUE(downsets.has_value());
  EXPECT_EQ(downsets->size(), 6U);
  EXPECT_EQ(downsets->front().num_members, 0U);
  EXPECT_EQ(downsets->back().num_members, 4U);
  EXPECT_DOUBLE_EQ(downsets->back().seconds, 4);
  EXPECT_FALSE(all_downsets(graph, 5).has_value());
}

TEST(DownsetsTest, AnOutputThatTwoConsumersReadCrossesACutOnce) {
  OperatorGraph graph;
  graph.add({.name = "a", .output_bytes = 7});
  graph.add({.name = "b", .output_bytes = 5});
  graph.add({.name = "c"});
  graph.connect(0, 1);
  graph.connect(0, 2);
  graph.connect(1, 2);
  OperatorSet members(3);
  members.insert(0);
  EXPECT_DOUBLE_EQ(make_downset(graph, members).boundary_bytes, 7);
  members.insert(1);
  EXPECT_DOUBLE_EQ(make_downset(graph, members).boundary_bytes, 12);
}

TEST(DownsetsTest, PrefixesSpreadOverTheTime) {
  OperatorGraph graph;
  for (int i = 0; i < 1000; ++i) graph.add({.name = std::to_string(i), .forward_seconds = 1});
  const auto prefixes = prefix_downsets(graph, 12);
  EXPECT_LE(prefixes.size(), 12U);
  EXPECT_GE(prefixes.size(), 11U);
  EXPECT_EQ(prefixes.front().num_members, 0U);
  EXPECT_EQ(prefixes.back().num_members, 1000U);
}

}  // namespace

}  // namespace weir::training
