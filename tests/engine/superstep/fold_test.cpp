// SPDX-License-Identifier: Apache-2.0
// The fold against a second implementation, written from docs/semantics.md, part 4.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/superstep/fold.hpp>
#include <weir/tests/reference/random_graph.hpp>

namespace weir {
namespace {

using Doubles = std::vector<double>;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// "One item is itself; n > 1 items split after the first p, the largest power of two below n."
double naive_tree(const Doubles& items) {
  if (items.size() == 1) return items[0];
  std::size_t p = 1;
  while (2 * p < items.size()) p *= 2;
  const auto middle = items.begin() + static_cast<std::ptrdiff_t>(p);
  return naive_tree(Doubles(items.begin(), middle)) + naive_tree(Doubles(middle, items.end()));
}

double naive_fold(const Doubles& m) {
  if (m.empty()) return -0.0;
  Doubles blocks;
  for (std::size_t b = 0; 1024 * b < m.size(); ++b) {
    double lanes[4] = {-0.0, -0.0, -0.0, -0.0};
    for (std::size_t i = 1024 * b; i < m.size() && i < 1024 * (b + 1); ++i)
      lanes[i % 4] = lanes[i % 4] + m[i];
    blocks.push_back((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
  }
  return naive_tree(blocks);
}

double engine_fold(const Doubles& m, std::uint64_t begin = 0) {
  return fold(Sum<double>{}, begin, begin + m.size(),
              [&](std::uint64_t i) { return m[static_cast<std::size_t>(i - begin)]; });
}

/// Of every size and sign, so that any other order of summation shows in the last bits.
Doubles random_doubles(std::size_t count, std::uint64_t seed) {
  reference::Dice dice(seed);
  Doubles all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto mantissa = static_cast<double>(static_cast<std::int64_t>(dice.next())) * 0x1.0p-63;
    all.push_back(std::ldexp(mantissa, static_cast<int>(dice.below(40)) - 20));
  }
  return all;
}

TEST(Fold, equals_its_definition_to_the_bit_for_every_length_up_to_5000) {
  const Doubles all = random_doubles(5000, 1);
  for (std::size_t length = 0; length <= 5000; ++length) {
    const Doubles m(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_EQ(bits(engine_fold(m)), bits(naive_fold(m))) << "length " << length;
  }
}

TEST(Fold, is_not_the_plain_sum_so_that_these_tests_can_fail) {
  const Doubles m = random_doubles(5000, 2);
  double plain = 0;
  for (const double x : m) plain += x;
  EXPECT_NE(bits(engine_fold(m)), bits(plain));
}

TEST(Fold, counts_positions_from_the_beginning_of_the_list) {
  const Doubles m = random_doubles(3001, 3);
  for (const std::uint64_t begin : {1U, 2U, 3U, 1023U, 1024U, 4097U})
    EXPECT_EQ(bits(engine_fold(m, begin)), bits(naive_fold(m)));
}

TEST(Fold, of_nothing_is_the_identity) {
  EXPECT_EQ(bits(engine_fold({})), bits(-0.0));
  EXPECT_EQ(fold(Min<std::int64_t>{}, 0U, 0U, [](std::uint64_t) { return std::int64_t{1}; }),
            INT64_MAX);
}

TEST(Fold, of_one_message_is_that_message_to_the_bit) {
  for (const double x : {0.0, -0.0, 1.5, -std::numeric_limits<double>::denorm_min(),
                         std::numeric_limits<double>::infinity()})
    EXPECT_EQ(bits(engine_fold({x})), bits(x));
}

TEST(Fold, an_identity_in_place_of_an_absent_message_changes_no_bit) {
  Doubles m = random_doubles(2500, 4);
  for (std::size_t i = 0; i < m.size(); i += 3) m[i] = -0.0;
  EXPECT_EQ(bits(engine_fold(m)), bits(naive_fold(m)));
  EXPECT_EQ(bits(engine_fold(Doubles(3000, -0.0))), bits(-0.0));
  // All other absent: what is there stays, at any position, -0.0 and +0.0 apart.
  for (const double x : {0.0, 0.1, -7.25}) {
    for (const std::size_t at : {0U, 1U, 2U, 3U, 1023U, 1024U, 2047U, 2999U}) {
      Doubles alone(3000, -0.0);
      alone[at] = x;
      EXPECT_EQ(bits(engine_fold(alone)), bits(x)) << at;
    }
  }
}

TEST(Fold, exact_monoids_give_the_same_as_any_order) {
  std::vector<std::int64_t> m;
  reference::Dice dice(5);
  for (int i = 0; i < 4000; ++i) m.push_back(static_cast<std::int64_t>(dice.next()));
  std::int64_t least = INT64_MAX;
  std::uint64_t sum = 0;
  for (const auto x : m) {
    least = std::min(least, x);
    sum += static_cast<std::uint64_t>(x);
  }
  const auto item = [&](std::uint64_t i) { return m[i]; };
  EXPECT_EQ(fold(Min<std::int64_t>{}, 0U, m.size(), item), least);
  EXPECT_EQ(fold(Sum<std::int64_t>{}, 0U, m.size(), item), static_cast<std::int64_t>(sum));
}

std::string tree_of_letters(std::uint64_t count) {
  return tree_fold(
      std::uint64_t{0}, count,
      [](const std::string& a, const std::string& b) { return "(" + a + b + ")"; },
      [](std::uint64_t i) { return std::string(1, static_cast<char>('a' + i)); });
}

TEST(Tree, splits_at_the_largest_power_of_two_below_the_count) {
  EXPECT_EQ(tree_of_letters(1), "a");
  EXPECT_EQ(tree_of_letters(2), "(ab)");
  EXPECT_EQ(tree_of_letters(3), "((ab)c)");
  EXPECT_EQ(tree_of_letters(4), "((ab)(cd))");
  EXPECT_EQ(tree_of_letters(7), "(((ab)(cd))((ef)g))");
  EXPECT_EQ(tree_of_letters(9), "((((ab)(cd))((ef)(gh)))i)");
}

/// Folds `items` as `cuts` would: each run its maximal subtrees, then the whole from these.
double fold_by_runs(const Doubles& items, const std::vector<std::uint64_t>& cuts) {
  const auto add = [](double a, double b) { return a + b; };
  Doubles subtrees;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
    for_each_subtree(
        items.size(), cuts[r], cuts[r + 1], add, [&](std::uint64_t i) { return items[i]; },
        [&](double value) { subtrees.push_back(value); });
  }
  std::size_t next = 0;
  const double whole = fold_subtrees(
      items.size(), add,
      [&](std::uint64_t first) { return *std::upper_bound(cuts.begin(), cuts.end(), first); },
      [&] { return subtrees.at(next++); });
  EXPECT_EQ(next, subtrees.size()) << "every subtree is used once";
  return whole;
}

TEST(Tree, subtrees_of_any_rank_cut_give_the_bits_of_the_whole_tree) {
  for (std::uint64_t count = 1; count <= 70; ++count) {
    const Doubles items = random_doubles(static_cast<std::size_t>(count), count);
    const std::uint64_t expected = bits(naive_tree(items));
    for (std::uint64_t ranks = 1; ranks <= 80; ++ranks) {
      std::vector<std::uint64_t> cuts;  // the shards of rank r of R: [ceil(r S / R), ...)
      for (std::uint64_t r = 0; r <= ranks; ++r) cuts.push_back((r * count + ranks - 1) / ranks);
      ASSERT_EQ(bits(fold_by_runs(items, cuts)), expected) << count << " on " << ranks;
    }
  }
}

TEST(Tree, subtrees_of_uneven_runs_give_the_bits_of_the_whole_tree) {
  reference::Dice dice(6);
  for (int round = 0; round < 500; ++round) {
    const std::size_t count = 1 + dice.below(300);
    std::vector<std::uint64_t> cuts{0, count};
    for (std::size_t k = dice.below(12); k > 0; --k) cuts.push_back(dice.below(count + 1));
    std::sort(cuts.begin(), cuts.end());
    const Doubles items = random_doubles(count, static_cast<std::uint64_t>(round));
    ASSERT_EQ(bits(fold_by_runs(items, cuts)), bits(naive_tree(items)));
  }
}

TEST(Tree, a_run_of_many_shards_sends_few_subtrees) {
  std::uint64_t emitted = 0;
  for_each_subtree(
      std::uint64_t{1} << 20, 300'000, 700'001, [](int, int) { return 0; },
      [](std::uint64_t) { return 0; }, [&](int) { ++emitted; });
  EXPECT_LE(emitted, 40U);
}

}  // namespace
}  // namespace weir
