// SPDX-License-Identifier: Apache-2.0
// Monoids and aggregators: docs/semantics.md, parts 4 and 5.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/aggregator.hpp>
#include <weir/engine/model/inbox.hpp>
#include <weir/engine/model/monoid.hpp>

namespace weir {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
bool has_equal_bits(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  } else {
    return a == b;
  }
}

/// Numbers of the type with every kind of extreme; no NaN.
template <class T>
std::vector<T> samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all{T(0), T(1), T(-1), T(3), Limits::max(), Limits::lowest(), Limits::min()};
  if constexpr (std::is_floating_point_v<T>) {
    for (const T x : {-T(0), Limits::infinity(), -Limits::infinity(), Limits::denorm_min(),
                      -Limits::denorm_min(), T(0.1), T(-0.1)})
      all.push_back(x);
  }
  return all;
}

template <class M>
class MonoidLaws : public testing::Test {};
using AllMonoids = testing::Types<Sum<std::int32_t>, Sum<std::int64_t>, Sum<std::uint8_t>,
                                  Sum<std::int16_t>, Sum<std::uint64_t>, Sum<double>, Sum<float>,
                                  Min<std::int64_t>, Min<std::uint32_t>, Min<double>, Min<float>,
                                  Max<std::int64_t>, Max<std::uint32_t>, Max<double>, Max<float>>;
TYPED_TEST_SUITE(MonoidLaws, AllMonoids);

TYPED_TEST(MonoidLaws, identity_changes_no_bit_on_either_side) {
  const TypeParam monoid{};
  for (const auto x : samples<typename TypeParam::value_type>()) {
    EXPECT_TRUE(has_equal_bits(monoid(TypeParam::identity(), x), x)) << +x;
    EXPECT_TRUE(has_equal_bits(monoid(x, TypeParam::identity()), x)) << +x;
  }
}

TYPED_TEST(MonoidLaws, operator_is_commutative_to_the_bit) {
  const TypeParam monoid{};
  using T = typename TypeParam::value_type;
  for (const T a : samples<T>()) {
    for (const T b : samples<T>()) {
      const T ab = monoid(a, b);
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(ab)) continue;  // inf - inf: a NaN has no promised bits
      }
      EXPECT_TRUE(has_equal_bits(ab, monoid(b, a))) << +a << " " << +b;
    }
  }
}

TYPED_TEST(MonoidLaws, exact_operator_is_associative_to_the_bit) {
  if constexpr (TypeParam::is_exact) {
    const TypeParam monoid{};
    using T = typename TypeParam::value_type;
    for (const T a : samples<T>())
      for (const T b : samples<T>())
        for (const T c : samples<T>())
          EXPECT_TRUE(has_equal_bits(monoid(monoid(a, b), c), monoid(a, monoid(b, c))));
  }
}

TEST(Monoid, integer_sums_and_orders_are_exact_and_floating_sums_are_not) {
  EXPECT_TRUE((ExactMonoid<Sum<std::int64_t>>));
  EXPECT_TRUE((ExactMonoid<Min<double>>));
  EXPECT_TRUE((ExactMonoid<Max<float>>));
  EXPECT_TRUE((ExactMonoid<Any>));
  EXPECT_TRUE((ExactMonoid<All>));
  EXPECT_TRUE((Monoid<Sum<double>>));
  EXPECT_FALSE((ExactMonoid<Sum<double>>));
  EXPECT_FALSE((ExactMonoid<Sum<float>>));
}

TEST(Monoid, integer_sum_wraps_modulo_two_to_the_n) {
  EXPECT_EQ(Sum<std::int64_t>{}(INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(Sum<std::int64_t>{}(INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ(Sum<std::int32_t>{}(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(Sum<std::uint64_t>{}(UINT64_MAX, 2), 1U);
  EXPECT_EQ(Sum<std::uint8_t>{}(200, 100), 44);
  EXPECT_EQ(Sum<std::int16_t>{}(INT16_MAX, 1), INT16_MIN);
  EXPECT_EQ(Sum<std::uint16_t>{}(UINT16_MAX, UINT16_MAX), UINT16_MAX - 1);
}

// D70, D71: counts beyond 2^31 and 2^32.
TEST(Monoid, sixty_four_bit_counts_pass_two_to_the_thirty_two) {
  EXPECT_EQ(Sum<std::uint64_t>{}(3'738'733'647U, 1), 3'738'733'648U);
  std::int64_t wedges = 0;
  for (std::int64_t leaf = 0; leaf < 70'000; ++leaf) wedges = Sum<std::int64_t>{}(wedges, leaf);
  EXPECT_EQ(wedges, 2'449'965'000);
}

TEST(Monoid, minimum_and_maximum_follow_the_total_order_of_doubles) {
  const std::vector<double> ascending{-infinity,
                                      -std::numeric_limits<double>::max(),
                                      -1.0,
                                      -std::numeric_limits<double>::min(),
                                      -std::numeric_limits<double>::denorm_min(),
                                      -0.0,
                                      0.0,
                                      std::numeric_limits<double>::denorm_min(),
                                      1.0,
                                      std::numeric_limits<double>::max(),
                                      infinity};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = i; j < ascending.size(); ++j) {
      EXPECT_TRUE(has_equal_bits(Min<double>{}(ascending[j], ascending[i]), ascending[i]));
      EXPECT_TRUE(has_equal_bits(Max<double>{}(ascending[i], ascending[j]), ascending[j]));
    }
  }
}

TEST(Monoid, minimum_and_maximum_follow_the_total_order_of_floats) {
  EXPECT_TRUE(has_equal_bits(Min<float>{}(0.0F, -0.0F), -0.0F));
  EXPECT_TRUE(has_equal_bits(Min<float>{}(-0.0F, 0.0F), -0.0F));
  EXPECT_TRUE(has_equal_bits(Max<float>{}(0.0F, -0.0F), 0.0F));
  EXPECT_TRUE(has_equal_bits(Max<float>{}(-0.0F, 0.0F), 0.0F));
  EXPECT_EQ(Min<float>{}(-2.0F, -3.0F), -3.0F);
  EXPECT_EQ(Max<float>{}(-2.0F, -3.0F), -2.0F);
}

TEST(Monoid, identities_are_the_documented_ones) {
  EXPECT_EQ(Min<double>::identity(), infinity);
  EXPECT_EQ(Max<double>::identity(), -infinity);
  EXPECT_EQ(Min<std::int64_t>::identity(), INT64_MAX);
  EXPECT_EQ(Max<std::int64_t>::identity(), INT64_MIN);
  EXPECT_EQ(Max<std::uint32_t>::identity(), 0U);
  EXPECT_EQ(Sum<std::int64_t>::identity(), 0);
  EXPECT_TRUE(has_equal_bits(Sum<double>::identity(), -0.0));
  EXPECT_TRUE(has_equal_bits(Sum<float>::identity(), -0.0F));
  EXPECT_FALSE(Any::identity());
  EXPECT_TRUE(All::identity());
}

TEST(Monoid, any_and_all_are_or_and_and) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      EXPECT_EQ(Any{}(a, b), a || b);
      EXPECT_EQ(All{}(a, b), a && b);
    }
  }
}

TEST(Inbox, a_floating_sum_of_nothing_reads_as_plus_zero) {
  const Inbox<double> nothing(Sum<double>::identity(), true);
  EXPECT_TRUE(nothing.empty());
  EXPECT_TRUE(has_equal_bits(nothing.combined(Sum<double>{}), 0.0));
}

TEST(Inbox, an_exact_fold_is_handed_over_to_the_bit) {
  const Inbox<double> least(-0.0, false);
  EXPECT_FALSE(least.empty());
  EXPECT_TRUE(has_equal_bits(least.combined(Min<double>{}), -0.0));
}

struct Total : Aggregator<Sum<double>> {};
struct Least : Aggregator<Min<std::int64_t>> {};
struct Flag : Aggregator<Any> {};
struct Unlisted : Aggregator<Any> {};
using Three = Aggregators<Total, Least, Flag>;

TEST(Aggregators, combine_each_by_its_own_monoid) {
  const Three::Values a{1.5, 7, false};
  const Three::Values b{2.0, 3, true};
  EXPECT_EQ(Three::combine(a, b), (Three::Values{3.5, 3, true}));
  EXPECT_EQ(Three::combine(Three::identity(), a), a);
}

TEST(Aggregators, know_their_members_and_their_places) {
  EXPECT_EQ(Three::size, 3U);
  EXPECT_EQ(Three::index_of<Total>(), 0U);
  EXPECT_EQ(Three::index_of<Least>(), 1U);
  EXPECT_EQ(Three::index_of<Flag>(), 2U);
  EXPECT_TRUE(Three::contains<Flag>);
  EXPECT_FALSE(Three::contains<Unlisted>);
  EXPECT_EQ(Aggregators<>::size, 0U);
}

TEST(Aggregators, are_visited_in_the_order_they_are_listed) {
  std::string seen;
  Three::for_each(Three::Values{1.0, 2, true}, [&](auto tag, const auto& value) {
    using Tag = decltype(tag);
    seen += std::is_same_v<Tag, Total> ? "total " : std::is_same_v<Tag, Least> ? "least " : "flag ";
    seen += std::to_string(static_cast<int>(value)) + ";";
  });
  EXPECT_EQ(seen, "total 1;least 2;flag 1;");
}

}  // namespace
}  // namespace weir
