// SPDX-License-Identifier: Apache-2.0
#include <weir/io/number_text.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace weir::io::test {
namespace {

template <class T>
std::string text_of(T value) {
  std::string text;
  append_number(text, value);
  return text;
}

TEST(NumberText, is_the_shortest_that_reads_back) {  // D98
  EXPECT_EQ(text_of(1.0), "1");
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(1e-9), "1e-09");
  EXPECT_EQ(text_of(-0.0), "-0");
  EXPECT_EQ(text_of(0.1f), "0.1");
  EXPECT_EQ(text_of(std::numeric_limits<double>::infinity()), "infinity");
  EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "-infinity");
  EXPECT_EQ(text_of(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(text_of(std::int64_t{9223372036854775807}), "9223372036854775807");
  EXPECT_EQ(text_of(std::uint64_t{3738733648}), "3738733648");  // D70
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    const auto value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) continue;
    const auto back = parse_finite(text_of(value));
    ASSERT_TRUE(back.has_value()) << text_of(value);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*back), bits) << text_of(value);
  }
}

TEST(NumberText, parses_whole_tokens_only) {
  EXPECT_EQ(parse_integer("+5"), 5);
  EXPECT_EQ(parse_integer("-9223372036854775808"), INT64_MIN);
  for (const char* bad :
       {"", "+", "-", "5 ", " 5", "5.0", "0x5", "9223372036854775808", "+-5", "--5", "five"}) {
    EXPECT_FALSE(parse_integer(bad).has_value()) << bad;
  }
  EXPECT_EQ(parse_finite("+.5"), 0.5);
  EXPECT_EQ(parse_finite("1."), 1);
  EXPECT_EQ(parse_finite("4.9e-324"), 5e-324);
  for (const char* bad : {"", "inf", "nan", "1e999", "-1e999", "0,5", "1e", "0x1p3", "++1"}) {
    EXPECT_FALSE(parse_finite(bad).has_value()) << bad;
  }
  EXPECT_EQ(parse_value("+Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_value("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(parse_value("nan").has_value());
}

TEST(NumberText, shows_what_can_be_printed) {
  EXPECT_EQ(shown("abc"), "\"abc\"");
  EXPECT_EQ(shown(std::string("a\0\x1b"
                              "b",
                              4)),
            "\"a??b\"");
  EXPECT_EQ(shown(std::string(41, 'x')), '"' + std::string(40, 'x') + "...\"");
}

}  // namespace
}  // namespace weir::io::test
