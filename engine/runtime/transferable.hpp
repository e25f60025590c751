// SPDX-License-Identifier: Apache-2.0
// Which types may travel between ranks, and how. No third-party header: programs include this one.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weir {

namespace detail {

/// Trivially copyable, yet only a way to something that stays behind.
template <class T>
inline constexpr bool is_handle =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;
template <class T, std::size_t N>
inline constexpr bool is_handle<std::span<T, N>> = true;
template <class C, class Traits>
inline constexpr bool is_handle<std::basic_string_view<C, Traits>> = true;
template <class T>
inline constexpr bool is_handle<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool is_handle<std::initializer_list<T>> = true;

}  // namespace detail

/// True when copying the bytes of a T copies the T. Follows from the type; a struct that hides a
/// pointer opts out with `template <> inline constexpr bool weir::bitwise<T> = false`. Padding
/// travels too, so buffers are never compared or hashed.
template <class T>
inline constexpr bool bitwise =
    std::is_trivially_copyable_v<T>&& std::is_copy_constructible_v<T> && !detail::is_handle<T>;
template <class A, class B>
inline constexpr bool bitwise<std::pair<A, B>> = bitwise<A>&& bitwise<B>;
template <class... Parts>
inline constexpr bool bitwise<std::tuple<Parts...>> = (bitwise<Parts> && ...);
template <class T, std::size_t N>
inline constexpr bool bitwise<std::array<T, N>> = bitwise<T>;
template <class T>
inline constexpr bool bitwise<std::optional<T>> =
    bitwise<T>&& std::is_trivially_copyable_v<std::optional<T>>;
template <class... Parts>
inline constexpr bool bitwise<std::variant<Parts...>> =
    (bitwise<Parts> && ...) && std::is_trivially_copyable_v<std::variant<Parts...>>;

namespace detail {

/// Stands for any archive while looking for a member `serialize`.
struct ArchiveProbe {
  template <class T>
  ArchiveProbe& operator&(const T&);
  template <class T>
  ArchiveProbe& operator<<(const T&);
  template <class T>
  ArchiveProbe& operator>>(T&);
};

template <class T>
concept HasMemberSerialize = requires(T& value, ArchiveProbe& archive) {
  value.serialize(archive, 0u);
};

}  // namespace detail

/// True when a Boost archive can write and read a T. Found from a public member
/// `serialize(archive, version)`; a private or free `serialize` opts in with
/// `template <> inline constexpr bool weir::serializable<T> = true`.
template <class T>
inline constexpr bool serializable = detail::HasMemberSerialize<T>;

namespace detail {

/// What may stand inside a serialisable container.
template <class T>
inline constexpr bool is_part = bitwise<T> || serializable<T>;

}  // namespace detail

template <class C, class Traits, class Allocator>
inline constexpr bool serializable<std::basic_string<C, Traits, Allocator>> =
    std::is_same_v<C, char> || std::is_same_v<C, wchar_t>;
template <class T, class Allocator>
inline constexpr bool serializable<std::vector<T, Allocator>> = detail::is_part<T>;
template <class K, class V, class Less, class Allocator>
inline constexpr bool serializable<std::map<K, V, Less, Allocator>> =
    detail::is_part<K>&& detail::is_part<V>;
template <class T, class Less, class Allocator>
inline constexpr bool serializable<std::set<T, Less, Allocator>> = detail::is_part<T>;
template <class T>
inline constexpr bool serializable<std::optional<T>> = detail::is_part<T>;
template <class... Parts>
inline constexpr bool serializable<std::variant<Parts...>> = (detail::is_part<Parts> && ...);
template <class A, class B>
inline constexpr bool serializable<std::pair<A, B>> = detail::is_part<A>&& detail::is_part<B>;
template <class... Parts>
inline constexpr bool serializable<std::tuple<Parts...>> = (detail::is_part<Parts> && ...);
template <class T, std::size_t N>
inline constexpr bool serializable<std::array<T, N>> = detail::is_part<T>;

/// Travels by copying bytes.
template <class T>
concept Bitwise = bitwise<T>;

/// Travels through a Boost archive; reading makes a T first, hence the default constructor.
template <class T>
concept BoostSerializable = !Bitwise<T> && serializable<T> && std::default_initializable<T>;

/// May be sent to another rank.
template <class T>
concept Transferable = Bitwise<T> || BoostSerializable<T>;

}  // namespace weir
