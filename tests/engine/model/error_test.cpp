// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/check.hpp>
#include <weir/engine/model/edge.hpp>
#include <weir/engine/model/error.hpp>
#include <weir/engine/model/record_stream.hpp>

namespace weir {
namespace {

TEST(Error, every_code_has_the_name_that_reports_write) {
  EXPECT_EQ(name_of(ErrorCode::usage), "usage");
  EXPECT_EQ(name_of(ErrorCode::input), "input");
  EXPECT_EQ(name_of(ErrorCode::output), "output");
  EXPECT_EQ(name_of(ErrorCode::program), "program");
  EXPECT_EQ(name_of(ErrorCode::memory), "memory");
  EXPECT_EQ(name_of(ErrorCode::communication), "communication");
  EXPECT_EQ(name_of(ErrorCode::cancelled), "cancelled");
  EXPECT_EQ(name_of(ErrorCode::internal), "internal");
}

TEST(Error, keeps_its_code_and_text) {
  const Error error(ErrorCode::input, "found x; expected y");
  EXPECT_EQ(error.code(), ErrorCode::input);
  EXPECT_EQ(error.text(), "found x; expected y");
  EXPECT_STREQ(error.what(), "found x; expected y");
}

TEST(Expect, throws_only_when_the_condition_fails_and_makes_the_text_only_then) {
  int num_texts = 0;
  const auto text = [&] { return std::to_string(++num_texts); };
  WEIR_EXPECT(1 + 1 == 2, usage, text());
  EXPECT_EQ(num_texts, 0);
  try {
    WEIR_EXPECT(1 + 1 == 3, usage, text());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(error.text(), "1");
  }
}

TEST(Edge, an_unweighted_edge_takes_no_space_for_its_value) {
  EXPECT_EQ(sizeof(Edge<NoValue>), 2 * sizeof(VertexId));
  EXPECT_EQ(sizeof(Arc<NoValue>), 2 * sizeof(VertexId));
}

TEST(Edge, only_an_arc_with_a_number_is_weighted) {
  EXPECT_TRUE((WeightedArc<Arc<double>>));
  EXPECT_TRUE((WeightedArc<Arc<float>>));
  EXPECT_FALSE((WeightedArc<Arc<NoValue>>));
  EXPECT_FALSE((WeightedArc<Arc<std::string>>));
}

static_assert(Source<InMemorySource<Edge<NoValue>>, Edge<NoValue>>);

std::vector<int> drain(InMemorySource<int> source, std::vector<std::size_t>& sizes) {
  std::vector<int> all;
  std::vector<int> batch{99};
  while (source.next(batch)) {
    sizes.push_back(batch.size());
    all.insert(all.end(), batch.begin(), batch.end());
  }
  EXPECT_TRUE(batch.empty());
  return all;
}

TEST(InMemorySource, hands_over_all_records_in_order_in_batches_of_65536) {
  std::vector<int> records(150'000);
  for (std::size_t i = 0; i < records.size(); ++i) records[i] = static_cast<int>(i);
  std::vector<std::size_t> sizes;
  EXPECT_EQ(drain(in_memory(records), sizes), records);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{65'536, 65'536, 18'928}));
}

TEST(InMemorySource, ends_at_once_without_records_and_stays_at_its_end) {
  const std::vector<int> none;
  std::vector<std::size_t> sizes;
  EXPECT_TRUE(drain(in_memory(none), sizes).empty());
  EXPECT_TRUE(sizes.empty());
  auto source = in_memory(std::span<const int>());
  std::vector<int> batch;
  EXPECT_FALSE(source.next(batch));
  EXPECT_FALSE(source.next(batch));
}

}  // namespace
}  // namespace weir
