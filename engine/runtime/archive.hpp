// SPDX-License-Identifier: Apache-2.0
// The Boost archives behind codec.hpp, and what Boost 1.74 lacks for standard types. Included by
// codec.hpp alone.
#pragma once

// First: the container headers of Boost 1.74 do not compile without it.
#include <boost/serialization/library_version_type.hpp>

#include <boost/archive/archive_exception.hpp>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/binary_object.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/set.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/tracking.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
#if __has_include(<boost/serialization/std_variant.hpp>)
#include <boost/serialization/optional.hpp>
#include <boost/serialization/std_variant.hpp>
#define WEIR_BOOST_KNOWS_VARIANT 1
#else
#define WEIR_BOOST_KNOWS_VARIANT 0
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <streambuf>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weir/engine/runtime/bytes.hpp>
#include <weir/engine/runtime/transferable.hpp>

namespace weir::detail {

/// One archive per batch, so neither a header nor a locale, and no object is ever shared.
inline constexpr unsigned archive_flags =
    boost::archive::no_header | boost::archive::no_codecvt | boost::archive::no_tracking;

/// A stream buffer that appends to bytes.
class AppendingBuffer final : public std::streambuf {
 public:
  explicit AppendingBuffer(Bytes& out) : out_(out) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const auto* first = reinterpret_cast<const std::byte*>(text);
    out_.insert(out_.end(), first, first + count);
    return count;
  }
  int_type overflow(int_type character) override {
    out_.push_back(static_cast<std::byte>(traits_type::to_char_type(character)));
    return character;
  }

 private:
  Bytes& out_;
};

/// A stream buffer that reads a span.
class SpanBuffer final : public std::streambuf {
 public:
  explicit SpanBuffer(std::span<const std::byte> bytes) {
    // A stream buffer's get area is never written through.
    auto* first = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    setg(first, first, first + bytes.size());
  }

  bool is_at_end() const { return gptr() == egptr(); }
};

/// A plain struct inside a container: Boost knows no way to write it, its bytes are one.
template <class T>
concept PlainPart = bitwise<T> && std::is_class_v<T> && !HasMemberSerialize<T>;

}  // namespace weir::detail

namespace boost::serialization {

template <class T>
requires weir::detail::PlainPart<T>
struct implementation_level<T> {
  using tag = mpl::integral_c_tag;
  using type = mpl::int_<object_serializable>;
  static constexpr int value = object_serializable;
};

template <class Archive, class T>
requires weir::detail::PlainPart<T>
void serialize(Archive& archive, T& value, const unsigned int /*version*/) {
  auto bytes = make_binary_object(static_cast<void*>(&value), sizeof(T));
  archive& bytes;
}

template <class Archive, class... Parts>
void serialize(Archive& archive, std::tuple<Parts...>& value, const unsigned int /*version*/) {
  std::apply([&](auto&... parts) { ((archive & parts), ...); }, value);
}

#if !WEIR_BOOST_KNOWS_VARIANT
template <class Archive, class T>
void save(Archive& archive, const std::optional<T>& value, const unsigned int /*version*/) {
  const bool has_value = value.has_value();
  archive << has_value;
  if (has_value) archive << *value;
}

template <class Archive, class T>
void load(Archive& archive, std::optional<T>& value, const unsigned int /*version*/) {
  bool has_value = false;
  archive >> has_value;
  value.reset();
  if (has_value) archive >> value.emplace();
}

template <class Archive, class T>
void serialize(Archive& archive, std::optional<T>& value, const unsigned int version) {
  split_free(archive, value, version);
}

template <class Archive, class... Parts>
void save(Archive& archive, const std::variant<Parts...>& value, const unsigned int /*version*/) {
  const auto index = static_cast<std::uint32_t>(value.index());
  archive << index;
  std::visit([&](const auto& part) { archive << part; }, value);
}

template <class Archive, class... Parts>
void load(Archive& archive, std::variant<Parts...>& value, const unsigned int /*version*/) {
  std::uint32_t index = 0;
  archive >> index;
  if (index >= sizeof...(Parts)) {
    throw archive::archive_exception(archive::archive_exception::input_stream_error);
  }
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I == index ? static_cast<void>(archive >> value.template emplace<I>()) : void()), ...);
  }
  (std::index_sequence_for<Parts...>{});
}

template <class Archive, class... Parts>
void serialize(Archive& archive, std::variant<Parts...>& value, const unsigned int version) {
  split_free(archive, value, version);
}
#endif

}  // namespace boost::serialization

#undef WEIR_BOOST_KNOWS_VARIANT
