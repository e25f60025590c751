// SPDX-License-Identifier: Apache-2.0
#include <weir/io/portable_math.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weir::io::test {
namespace {

TEST(PortableMath, agrees_with_the_library) {
  for (double x = -700; x < 700; x += 0.37) {
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 4e-16) << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(1000), std::numeric_limits<double>::infinity());
  EXPECT_EQ(portable_exp(-1000), 0);
  for (double x = 1e-300; x < 1e300; x *= 1.7) {
    EXPECT_NEAR(portable_log(x), std::log(x), 2e-15 * (1 + std::abs(std::log(x)))) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
}

TEST(PortableMath, inverts_the_normal_distribution) {
  for (double p = 1e-12; p < 1; p += 0.00037) {
    const double z = normal_quantile(p);
    EXPECT_NEAR(0.5 * std::erfc(-z / std::sqrt(2.0)), p, 1e-14) << p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798408, 1e-13);
}

}  // namespace
}  // namespace weir::io::test
