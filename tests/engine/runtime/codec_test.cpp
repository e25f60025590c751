// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/codec.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

struct Point {
  std::int32_t x = 0;
  double y = 0;
  bool operator==(const Point&) const = default;
};

struct Place {
  std::string name;
  std::vector<Point> outline;
  std::variant<std::monostate, std::int64_t, std::string, Point> mark;
  std::optional<std::string> note;
  std::tuple<int, std::string> key;

  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& name& outline& mark& note& key;
  }
  bool operator==(const Place&) const = default;
};

struct Fixed {  // no default constructor, and bitwise all the same
  explicit Fixed(int number) : value(number) {}
  int value;
  bool operator==(const Fixed&) const = default;
};

/// Two batches one after another come back as they were, and nothing is left.
template <class T>
void expect_round_trip(const std::vector<T>& records) {
  Bytes bytes;
  encode(std::span<const T>(records), bytes);
  encode(std::span<const T>(records).first(records.size() / 2), bytes);
  BytesView in(bytes);
  std::vector<T> read;
  decode(in, read);
  EXPECT_EQ(read, records);
  decode(in, read);  // appends
  EXPECT_EQ(read.size(), records.size() + records.size() / 2);
  EXPECT_TRUE(in.empty());
}

TEST(Codec, BitwiseTypes) {
  expect_round_trip<int>({});
  expect_round_trip<double>({1.5, -0.0, 3});
  expect_round_trip<Point>({{1, 2}, {3, 4}, {5, 6}});
  expect_round_trip<std::pair<int, double>>({{1, 2.5}, {3, 4.5}});
  expect_round_trip<std::tuple<int, Point>>({{1, {2, 3}}});
  expect_round_trip<std::optional<int>>({std::nullopt, 7});
  expect_round_trip<Fixed>({Fixed(1), Fixed(2)});
}

TEST(Codec, Booleans) {
  const bool records[] = {true, false, true};
  Bytes bytes;
  encode(std::span<const bool>(records), bytes);
  BytesView in(bytes);
  std::vector<bool> read;
  decode(in, read);
  EXPECT_EQ(read, std::vector<bool>({true, false, true}));
}

TEST(Codec, BitwiseBatchIsCountAndRecords) {
  Bytes bytes;
  const std::vector<std::uint64_t> records(10, 1);
  encode(std::span<const std::uint64_t>(records), bytes);
  EXPECT_EQ(bytes.size(), 8u + 80u);
}

TEST(Codec, StandardTypes) {
  expect_round_trip<std::string>({});
  expect_round_trip<std::string>({"", "one", std::string(100000, 'x'), std::string("a\0b", 3)});
  expect_round_trip<std::vector<int>>({{}, {1, 2, 3}});
  expect_round_trip<std::vector<Point>>({{{1, 2}}, {}});
  expect_round_trip<std::vector<std::pair<int, int>>>({{{1, 2}, {3, 4}}});
  expect_round_trip<std::vector<std::vector<std::string>>>({{{"a"}, {}}, {}});
  expect_round_trip<std::map<std::string, std::vector<Point>>>({{{"a", {{1, 2}}}, {"b", {}}}});
  expect_round_trip<std::set<std::tuple<int, std::string>>>({{{1, "x"}, {2, "y"}}});
  expect_round_trip<std::optional<std::string>>({std::nullopt, "text"});
  expect_round_trip<std::variant<int, std::string, Point>>({1, "x", Point{2, 3}});
  expect_round_trip<std::pair<std::string, int>>({{"a", 1}});
  expect_round_trip<std::array<std::string, 2>>({{"a", "b"}});
}

TEST(Codec, UserType) {
  Place place{"here", {{1, 2}, {3, 4}}, "mark", "note", {5, "key"}};
  Place other;
  other.mark = Point{7, 8};
  expect_round_trip<Place>({place, Place{}, other});
  expect_round_trip<std::vector<Place>>({{place, other}, {}});
}

TEST(Codec, ThousandStringsAreSmall) {
  const std::vector<std::string> records(1000, "abcde");
  Bytes bytes;
  encode(std::span<const std::string>(records), bytes);
  EXPECT_LE(bytes.size(), 13100u);
}

TEST(Codec, CutOffBatchIsAnError) {
  const std::vector<std::string> texts = {"one", "two", "three"};
  const std::vector<Point> points = {{1, 2}, {3, 4}};
  Bytes archive, plain;
  encode(std::span<const std::string>(texts), archive);
  encode(std::span<const Point>(points), plain);
  for (std::size_t length = 0; length < archive.size(); ++length) {
    BytesView in(std::span<const std::byte>(archive).first(length));
    std::vector<std::string> read;
    EXPECT_THROW(decode(in, read), Error) << length;
  }
  for (std::size_t length = 0; length < plain.size(); ++length) {
    BytesView in(std::span<const std::byte>(plain).first(length));
    std::vector<Point> read;
    EXPECT_THROW(decode(in, read), Error) << length;
  }
}

TEST(Codec, ForgedCountIsAnError) {
  Bytes bytes;
  append_plain(bytes, ~std::uint64_t{0} / 4);
  append_plain(bytes, std::uint64_t{1});
  BytesView in(bytes);
  std::vector<std::uint64_t> read;
  EXPECT_THROW(decode(in, read), Error);

  Bytes archive;
  const std::vector<std::string> texts = {"one"};
  encode(std::span<const std::string>(texts), archive);
  archive[0] = std::byte{2};  // one record more than there is
  BytesView longer(archive);
  std::vector<std::string> strings;
  EXPECT_THROW(decode(longer, strings), Error);
  archive[0] = std::byte{0};  // one less
  BytesView shorter(archive);
  EXPECT_THROW(decode(shorter, strings), Error);
}

}  // namespace
}  // namespace weir
