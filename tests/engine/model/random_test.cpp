// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: the streams are part of the contract (docs/semantics.md, part 7).
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include <weir/engine/model/random.hpp>

namespace weir {
namespace {

TEST(MixBits, is_the_finaliser_of_splitmix64) {
  // The first outputs of SplitMix64 from seed 0, as its authors publish them.
  EXPECT_EQ(mix_bits(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix_bits(0x9e3779b97f4a7c15U), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(mix_bits(2 * 0x9e3779b97f4a7c15U), 0x06c45d188009454fU);
}

TEST(CounterRandom, draws_the_same_values_in_every_version_and_place) {
  CounterRandom random(1, 2, 3);
  const std::uint64_t key = mix_bits(mix_bits(mix_bits(1) ^ 2) ^ 3);
  EXPECT_EQ(random.next(), mix_bits(key));
  EXPECT_EQ(random.next(), mix_bits(key + 0x9e3779b97f4a7c15U));
  CounterRandom zeros(0, 0, 0);
  EXPECT_EQ(zeros.next(), 0x2130748aaac80268U);
  EXPECT_EQ(CounterRandom(1, 2, 3).next(), 0x12588d809dce88a7U);
}

TEST(CounterRandom, can_be_drawn_at_compile_time) {
  constexpr std::uint64_t drawn = CounterRandom(7, 8, 9).next();
  EXPECT_EQ(CounterRandom(7, 8, 9).next(), drawn);
}

TEST(CounterRandom, streams_differ_in_seed_superstep_and_id) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t step = 0; step < 10; ++step)
      for (std::uint64_t id = 0; id < 10; ++id) firsts.insert(CounterRandom(seed, step, id).next());
  EXPECT_EQ(firsts.size(), 1000U);
}

TEST(CounterRandom, unit_numbers_fill_zero_to_one_evenly) {
  CounterRandom random(42, 0, 0);
  double sum = 0;
  int low = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = random.next_unit();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
    low += x < 0.25 ? 1 : 0;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
  EXPECT_NEAR(low / 10'000.0, 0.25, 0.02);
}

}  // namespace
}  // namespace weir
