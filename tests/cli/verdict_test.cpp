// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/verdict.hpp>

#include <optional>

#include <gtest/gtest.h>

namespace weir::test {

namespace {

using cli::Death;
using cli::Poison;

Death death(std::optional<Rank> rank, Superstep superstep, bool is_of_program = false) {
  Death made;
  made.rank = rank;
  made.superstep = superstep;
  made.is_of_program = is_of_program;
  return made;
}

Death guessed(Rank rank, Superstep superstep) {
  Death made = death(rank, superstep);
  made.is_rank_certain = false;
  return made;
}

// Whoever kills a rank from outside has nothing against the superstep that it happens to be in.
TEST(Poison, TwoKillsInOneSuperstepAreBadLuckAndThreeAreNot) {
  Poison poison;
  EXPECT_FALSE(poison.add(death(1, 7), true));
  EXPECT_FALSE(poison.add(death(1, 7), false));
  EXPECT_EQ(poison.num(), 2);
  EXPECT_TRUE(poison.add(death(1, 7), false));
  EXPECT_EQ(poison.num(), 3);
}

TEST(Poison, TwoCrashesInOneSuperstepAreEnough) {
  Poison poison;
  EXPECT_FALSE(poison.add(death(1, 7, true), true));
  EXPECT_TRUE(poison.add(death(1, 7, true), false));
  EXPECT_EQ(poison.num(), 2);
}

TEST(Poison, AKillBetweenTwoCrashesAtOnePlaceIsNoProgress) {
  Poison poison;
  EXPECT_FALSE(poison.add(death(1, 7, true), true));
  EXPECT_FALSE(poison.add(death(1, 7), false));
  EXPECT_TRUE(poison.add(death(1, 7, true), false));
}

TEST(Poison, ProgressAnotherRankOrAnotherSuperstepBeginsAnew) {
  for (const bool is_of_program : {false, true}) {
    Poison poison;
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(poison.add(death(1, i, is_of_program), true));
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(poison.add(death(1, i % 2, is_of_program), false));
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(poison.add(death(i % 2, 5, is_of_program), false));
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(poison.add(death(1, 5, is_of_program), true));
    EXPECT_EQ(poison.num(), 1);
  }
}

TEST(Poison, AGuessedRankMayHaveBeenAny) {
  Poison poison;
  EXPECT_FALSE(poison.add(guessed(0, 7), true));
  EXPECT_FALSE(poison.add(guessed(2, 7), false));
  EXPECT_TRUE(poison.add(death(1, 7), false));
}

TEST(Poison, DeathsBeforeTheFirstSuperstepAreGivenUpAtTheThird) {
  for (const std::optional<Rank> rank : {std::optional<Rank>(), std::optional<Rank>(2)}) {
    for (const bool is_of_program : {false, true}) {
      Poison poison;
      EXPECT_FALSE(poison.add(death(rank, -1, is_of_program), false));
      EXPECT_FALSE(poison.add(death(rank, -1, is_of_program), false));
      EXPECT_TRUE(poison.add(death(rank, -1, is_of_program), false));
    }
  }
}

TEST(Poison, AJobThatHasComputedGetsMoreTriesToBegin) {
  Poison poison;
  EXPECT_FALSE(poison.add(death(1, 7), true));
  for (int i = 1; i < Poison::most_before_going_on; ++i)
    EXPECT_FALSE(poison.add(guessed(i % 3, -1), false)) << i;
  EXPECT_TRUE(poison.add(guessed(2, -1), false));
}

TEST(Poison, TheLaunchersDeathInASuperstepIsNever) {
  Poison poison;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(poison.add(death({}, 7), false));
}

TEST(Verdict, SaysThePlace) {
  EXPECT_EQ(cli::place_of(death(1, 0)), " in superstep 0");
  EXPECT_EQ(cli::place_of(death(1, -1)), " before the first superstep");
  EXPECT_EQ(cli::text_of_seconds(1.5), "1.50 s");
}

}  // namespace

}  // namespace weir::test
