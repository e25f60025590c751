// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/engine/model/monoid.hpp>

namespace weir {

/// Base of an aggregator, an empty type whose C++ name is its identity:
///
///     struct RankChange : weir::Aggregator<weir::Sum<double>> {};
///
/// Contributions of superstep s are read in superstep s + 1, equal on every rank. A static member
/// `name` puts the value into the run report under that name.
template <Monoid M>
struct Aggregator {
  using monoid = M;
  using value_type = typename M::value_type;
};

template <class T>
concept AggregatorTag = requires {
  typename T::monoid;
  requires Monoid<typename T::monoid>;
}
&&std::is_empty_v<T>;

/// The aggregators a program uses.
template <AggregatorTag... Tags>
struct Aggregators {
  using Values = std::tuple<typename Tags::value_type...>;
  static constexpr std::size_t size = sizeof...(Tags);

  template <class Tag>
  static constexpr bool contains = (std::is_same_v<Tag, Tags> || ...);

  template <class Tag>
  static constexpr std::size_t index_of() {
    static_assert(contains<Tag>,
                  "weir: this aggregator is not listed in the program's Aggregators");
    std::size_t index = 0;
    std::size_t found = 0;
    ((std::is_same_v<Tag, Tags> ? found = index++ : index++), ...);
    return found;
  }

  /// The value of one as programs read it: a floating sum of nothing is +0.0.
  template <class Tag>
  static typename Tag::value_type read(const Values& values) {
    const auto& value = std::get<index_of<Tag>()>(values);
    if constexpr (std::is_floating_point_v<typename Tag::value_type> && !Tag::monoid::is_exact) {
      return value + typename Tag::value_type{0};
    } else {
      return value;
    }
  }

  static constexpr Values identity() { return Values{Tags::monoid::identity()...}; }

  static Values combine(const Values& a, const Values& b) {
    return combine_each(a, b, std::index_sequence_for<Tags...>{});
  }

  /// Calls visit(Tag{}, value) for each, in the order they are listed.
  template <class F>
  static void for_each(const Values& values, F&& visit) {
    visit_each(values, visit, std::index_sequence_for<Tags...>{});
  }

 private:
  template <std::size_t... I>
  static Values combine_each([[maybe_unused]] const Values& a, [[maybe_unused]] const Values& b,
                             std::index_sequence<I...>) {
    return Values{typename Tags::monoid{}(std::get<I>(a), std::get<I>(b))...};
  }
  template <class F, std::size_t... I>
  static void visit_each([[maybe_unused]] const Values& values, [[maybe_unused]] F& visit,
                         std::index_sequence<I...>) {
    (visit(Tags{}, std::get<I>(values)), ...);
  }
};

}  // namespace weir
