// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cfenv>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/runtime/context.hpp>
#include <weir/engine/runtime/float_environment.hpp>

namespace weir {
namespace {

Context& context_of(int threads) {
  static Context one(ContextOptions{.threads = 1});
  static Context four(ContextOptions{.threads = 4});
  return threads == 1 ? one : four;
}

class Threads : public testing::TestWithParam<int> {};

TEST_P(Threads, CallEachOnce) {
  Context& context = context_of(GetParam());
  for (const std::size_t count : {0u, 1u, 2u, 5u, 1000u, 100000u}) {
    std::vector<std::atomic<int>> calls(count);
    context.parallel_for(count, [&](std::size_t i) { ++calls[i]; });
    for (const auto& call : calls) ASSERT_EQ(call, 1);
  }
}

TEST_P(Threads, RethrowTheSmallest) {
  Context& context = context_of(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> num_before{0};
    try {
      context.parallel_for(5000, [&](std::size_t i) {
        if (i < 700) ++num_before;
        if (i >= 700 && i % 7 == 0) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "700");
    }
    EXPECT_EQ(num_before, 700);
  }
}

TEST_P(Threads, MayNest) {
  Context& context = context_of(GetParam());
  std::atomic<int> sum{0};
  context.parallel_for(10, [&](std::size_t) {
    context.parallel_for(10, [&](std::size_t i) { sum += static_cast<int>(i); });
  });
  EXPECT_EQ(sum, 450);
}

TEST_P(Threads, RoundToNearestAndKeepSubnormals) {
  Context& context = context_of(GetParam());
  std::fesetround(FE_UPWARD);
  volatile double tiny = std::numeric_limits<double>::min();
  volatile double one = 1;
  volatile double ulp = std::numeric_limits<double>::epsilon() / 4;
  std::atomic<int> num_wrong{0};
  context.parallel_for(1000, [&](std::size_t) {
    const double subnormal = tiny / 2;
    const double rounded = one + ulp;
    if (subnormal == 0 || rounded != 1) ++num_wrong;
  });
  EXPECT_EQ(num_wrong, 0);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

INSTANTIATE_TEST_SUITE_P(Of, Threads, testing::Values(1, 4), testing::PrintToStringParamName());

TEST(ParallelFor, WithOneThreadStaysOnIt) {
  const auto self = std::this_thread::get_id();
  context_of(1).parallel_for(100,
                             [&](std::size_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

}  // namespace
}  // namespace weir
