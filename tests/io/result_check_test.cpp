// SPDX-License-Identifier: Apache-2.0
#include <weir/io/result_check.hpp>

#include <numeric>
#include <random>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

class ResultCheck : public ::testing::Test {
 protected:
  Comparison compare(std::string_view found, std::string_view expected, Rule rule) {
    return compare_results(folder_.write("found", found), folder_.write("expected", expected),
                           rule);
  }
  std::uint64_t mismatches(std::string_view found, std::string_view expected, Rule rule) {
    const Comparison comparison = compare(found, expected, rule);
    EXPECT_EQ(comparison.equal, comparison.num_mismatches == 0);
    EXPECT_EQ(comparison.equal, comparison.first_mismatch.empty());
    return comparison.num_mismatches;
  }

  TemporaryFolder folder_;
};

TEST_F(ResultCheck, takes_lines_in_any_order) {
  EXPECT_EQ(mismatches("2 5\n1 4\n", "1 4\n\n2 5", Rule::exact), 0u);
  EXPECT_EQ(mismatches("b 5\na 4\n", "a 4\nb 5\n", Rule::exact), 0u);
  EXPECT_EQ(compare("10 1\n9 1\n", "9 1\n10 1\n", Rule::exact).num_vertices, 2u);
}

TEST_F(ResultCheck, compares_numbers_exactly_by_value) {
  EXPECT_EQ(mismatches("1 3\n2 x\n3 infinity\n", "1 3.0\n2 x\n3 inf\n", Rule::exact), 0u);
  EXPECT_EQ(mismatches("1 9223372036854775807\n", "1 9223372036854775806\n", Rule::exact), 1u);
  EXPECT_EQ(compare("1 3\n2 5\n", "1 4\n2 6\n", Rule::exact).first_mismatch,
            "vertex 1: found 3; expected 4");
}

TEST_F(ResultCheck, counts_missing_surplus_and_repeated_ids) {
  EXPECT_EQ(mismatches("1 1\n", "1 1\n2 1\n", Rule::exact), 1u);
  EXPECT_EQ(mismatches("0 1\n1 1\n5 1\n", "1 1\n", Rule::exact), 2u);
  EXPECT_EQ(mismatches("1 1\n1 1\n", "1 1\n", Rule::exact), 1u);
  EXPECT_EQ(mismatches("1 1\n", "1 1\n1 1\n", Rule::exact), 1u);
  EXPECT_EQ(mismatches("", "", Rule::exact), 0u);
  EXPECT_EQ(compare("", "7 1\n", Rule::exact).first_mismatch,
            "vertex 7: found nothing; expected 1");
}

TEST_F(ResultCheck, bounds_the_relative_error) {
  EXPECT_EQ(mismatches("1 1.00009\n2 -0.99991\n", "1 1\n2 -1\n", Rule::epsilon), 0u);
  EXPECT_EQ(mismatches("1 0.0000001\n", "1 0\n", Rule::epsilon), 1u);
  EXPECT_EQ(mismatches("1 infinity\n2 -inf\n", "1 +Infinity\n2 infinity\n", Rule::epsilon), 1u);
  EXPECT_EQ(mismatches("1 nan\n", "1 nan\n", Rule::epsilon), 1u);
  EXPECT_EQ(mismatches("1 1e308\n", "1 infinity\n", Rule::epsilon), 1u);
}

TEST_F(ResultCheck, renames_one_to_one) {
  EXPECT_EQ(mismatches("1 a\n2 a\n3 b\n", "1 7\n2 7\n3 8\n", Rule::equivalence), 0u);
  EXPECT_EQ(mismatches("1 a\n2 a\n3 a\n", "1 7\n2 7\n3 8\n", Rule::equivalence), 1u);
  EXPECT_EQ(mismatches("1 a\n2 c\n3 b\n", "1 7\n2 7\n3 8\n", Rule::equivalence), 1u);
}

TEST_F(ResultCheck, says_what_it_cannot_read) {
  const std::string good = folder_.write("good", "1 1\n");
  EXPECT_NE(error_of([&] { compare_results("/nowhere", good, Rule::exact); }), "");
  const std::string bad = folder_.write("bad", "1 1\n2\n");
  EXPECT_EQ(error_of([&] { compare_results(bad, good, Rule::exact); }),
            "input: " + bad + ":2: found \"2\"; expected an id and a value");
}

TEST_F(ResultCheck, compares_many_lines_in_two_orders) {  // D100
  std::vector<int> ids(62'586);
  std::iota(ids.begin(), ids.end(), 1);
  std::string expected;
  for (const int id : ids) expected += std::to_string(id) + ' ' + std::to_string(id % 97) + '\n';
  std::shuffle(ids.begin(), ids.end(), std::mt19937(1));
  std::string found;
  for (const int id : ids) {
    found += std::to_string(id) + ' ' + std::to_string(id % 97 + (id % 10'000 == 0)) + '\n';
  }
  const Comparison comparison = compare(found, expected, Rule::exact);
  EXPECT_EQ(comparison.num_vertices, 62'586u);
  EXPECT_EQ(comparison.num_mismatches, 6u);
  EXPECT_EQ(comparison.first_mismatch, "vertex 10000: found 10; expected 9");
}

TEST_F(ResultCheck, agrees_with_the_public_pairs) {
  WEIR_NEED_DATA(data);
  const std::string folder = data + "graphalytics-matching/";
  const auto count = [&](const std::string& rule_name, int number, Rule rule) {
    return compare_results(folder + rule_name + "_actual" + std::to_string(number) + ".csv",
                           folder + rule_name + "_expected.csv", rule)
        .num_mismatches;
  };
  EXPECT_EQ(count("exact", 1, Rule::exact), 0u);
  EXPECT_EQ(count("exact", 2, Rule::exact), 2u);
  EXPECT_EQ(count("epsilon", 1, Rule::epsilon), 0u);
  EXPECT_EQ(count("epsilon", 2, Rule::epsilon), 5u);
  EXPECT_EQ(count("equivalence", 1, Rule::equivalence), 0u);
  EXPECT_GT(count("equivalence", 2, Rule::equivalence), 0u);
}

}  // namespace
}  // namespace weir::io::test
