// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/fnv_hash.hpp>

#include <gtest/gtest.h>

namespace weir {
namespace {

std::uint64_t hash_of(std::string_view text) {
  FnvHash hash;
  hash.add(text);
  return hash.value();
}

TEST(FnvHash, IsTheFunctionItsAuthorsPublish) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8U);
}

TEST(FnvHash, TakesAWordInOneStep) {
  FnvHash bytes, words;
  bytes.add(std::string_view("\xff", 1));
  words.add(std::uint64_t{0xff});
  EXPECT_EQ(bytes.value(), words.value());
  words.add(std::uint64_t{1} << 40);
  EXPECT_NE(bytes.value(), words.value());
}

}  // namespace
}  // namespace weir
