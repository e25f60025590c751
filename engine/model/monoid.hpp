// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weir {

/// Identity and associative, commutative operator as one object: the combiner, the aggregator and
/// the reducer are all monoids.
template <class M>
concept Monoid = std::copyable<M> && requires(const M m, const typename M::value_type a) {
  { M::identity() } -> std::same_as<typename M::value_type>;
  { m(a, a) } -> std::same_as<typename M::value_type>;
};

/// A monoid whose operator gives the same bits in any order and grouping; it may combine anywhere.
/// Other monoids are folded only in the canonical order (docs/semantics.md, "The fold").
template <class M>
concept ExactMonoid = Monoid<M> && M::is_exact;

namespace detail {

/// The IEEE total order as a signed integer: -inf < ... < -0.0 < +0.0 < ... < +inf.
inline std::int64_t total_order(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits ^ static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 63) >> 1);
}
inline std::int32_t total_order(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits ^ static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 31) >> 1);
}

template <class T>
constexpr bool before(const T& a, const T& b) {
  if constexpr (std::floating_point<T>) {
    return total_order(a) < total_order(b);
  } else {
    return a < b;
  }
}

}  // namespace detail

/// a + b. Exact for integers (modulo 2^n); the identity of a floating sum is -0.0, which changes no
/// bit of what it is added to.
template <class T>
struct Sum {
  using value_type = T;
  static constexpr bool is_exact = std::integral<T>;
  static constexpr T identity() {
    if constexpr (std::floating_point<T>) {
      return -T{0};
    } else {
      return T{};
    }
  }
  constexpr T operator()(const T& a, const T& b) const {
    if constexpr (std::integral<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};

/// The smaller of two in the total order of the type; a NaN is refused where it enters.
template <class T>
struct Min {
  using value_type = T;
  static constexpr bool is_exact = true;
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      return std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::max();
    }
  }
  constexpr T operator()(const T& a, const T& b) const { return detail::before(b, a) ? b : a; }
};

/// The larger of two in the total order of the type; a NaN is refused where it enters.
template <class T>
struct Max {
  using value_type = T;
  static constexpr bool is_exact = true;
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      return -std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::lowest();
    }
  }
  constexpr T operator()(const T& a, const T& b) const { return detail::before(a, b) ? b : a; }
};

/// True when any contribution is true.
struct Any {
  using value_type = bool;
  static constexpr bool is_exact = true;
  static constexpr bool identity() { return false; }
  constexpr bool operator()(bool a, bool b) const { return a || b; }
};

/// True when every contribution is true.
struct All {
  using value_type = bool;
  static constexpr bool is_exact = true;
  static constexpr bool identity() { return true; }
  constexpr bool operator()(bool a, bool b) const { return a && b; }
};

}  // namespace weir
