// SPDX-License-Identifier: Apache-2.0
#include <weir/io/portable_math.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weir::io {
namespace {

constexpr double ln2_high = 0x1.62e42fefa3800p-1;
constexpr double ln2_low = 0x1.ef35793c76730p-45;

/// c[0] + c[1] x + ... by Horner's rule.
template <std::size_t N>
double polynomial(const double (&c)[N], double x) {
  double sum = c[N - 1];
  for (std::size_t i = N - 1; i > 0; --i) sum = sum * x + c[i - 1];
  return sum;
}

constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                        1.9715909503065514427e+3, 1.3731693765509461125e+4,
                        4.5921953931549871457e+4, 6.7265770927008700853e+4,
                        3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double b[] = {1.0,
                        4.2313330701600911252e+1,
                        6.8718700749205790830e+2,
                        5.3941960214247511077e+3,
                        2.1213794301586595867e+4,
                        3.9307895800092710610e+4,
                        2.8729085735721942674e+4,
                        5.2264952788528545610e+3};
constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                        5.76949722146069140550e0,  3.64784832476320460504e0,
                        1.27045825245236838258e0,  2.41780725177450611770e-1,
                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double d[] = {1.0,
                        2.05319162663775882187e0,
                        1.67638483018380384940e0,
                        6.89767334985100004550e-1,
                        1.48103976427480074590e-1,
                        1.51986665636164571966e-2,
                        5.47593808499534494600e-4,
                        1.05075007164441684324e-9};
constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                        1.78482653991729133580e0,  2.96560571828504891230e-1,
                        2.65321895265761230930e-2, 1.24266094738807843860e-3,
                        2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double f[] = {1.0,
                        5.99832206555887937690e-1,
                        1.36929880922735805310e-1,
                        1.48753612908506148525e-2,
                        7.86869131145613259100e-4,
                        1.84631831751005468180e-5,
                        1.42151175831644588870e-7,
                        2.04426310338993978564e-15};

}  // namespace

double portable_exp(double x) {
  if (x > 709) return std::numeric_limits<double>::infinity();
  if (x < -708) return 0;
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * ln2_high) - k * ln2_low;
  double sum = 1;
  for (int i = 16; i > 0; --i) sum = 1 + r / i * sum;  // Taylor; |r| < 0.35
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023);
  return sum * std::bit_cast<double>(exponent << 52);
}

double portable_log(double x) {
  constexpr double sqrt_half = 0.70710678118654752;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1022;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3fe0000000000000);  // [.5, 1)
  if (m < sqrt_half) {
    m *= 2;
    --exponent;
  }
  const double q = (m - 1) / (m + 1);
  const double square = q * q;
  double sum = 0;
  for (int i = 23; i > 0; i -= 2) sum = sum * square + 1.0 / i;  // log m = 2 artanh q
  const auto k = static_cast<double>(exponent);
  return k * ln2_high + (2 * q * sum + k * ln2_low);
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  const double size = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6)
                             : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -size : size;
}

}  // namespace weir::io
