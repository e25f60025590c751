// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include <weir/engine/graph/pages.hpp>

namespace weir {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(LargeVector, HoldsWhatIsWrittenAtEverySize) {
  for (const std::size_t size : {std::size_t{1}, 4 * mebibyte - 1, 4 * mebibyte, 4 * mebibyte + 1,
                                 6 * mebibyte, 6 * mebibyte + 4095, 9 * mebibyte + 12345}) {
    LargeVector<char> bytes(size, 'a');
    bytes.front() = 'f';
    bytes.back() = 'b';
    LargeVector<char> copy = bytes;
    bytes = {};
    EXPECT_EQ(copy.size(), size);
    EXPECT_EQ(copy.back(), 'b');
    EXPECT_EQ(copy.front(), size > 1 ? 'f' : 'b');
    for (std::size_t i = 1; i + 1 < size; i += 4096) ASSERT_EQ(copy[i], 'a') << i << " of " << size;
  }
}

TEST(LargeVector, GrowsAcrossTheBorderOfLargePages) {
  LargeVector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < mebibyte; ++i) numbers.push_back(i * i);
  for (std::uint64_t i = 0; i < mebibyte; ++i) ASSERT_EQ(numbers[i], i * i);
}

struct alignas(64) Lanes {
  double lane[8];
};

TEST(LargeVector, KeepsTheAlignmentOfItsElements) {
  for (const std::size_t size : {1, 3, 70000, 200000}) {
    const LargeVector<Lanes> lanes(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lanes.data()) % alignof(Lanes), 0U) << size;
  }
}

TEST(PlainVector, SetsToZeroOnlyWhereAsked) {
  PlainVector<int> numbers(5, 7);
  numbers.resize(8, 1);
  EXPECT_EQ(numbers, (PlainVector<int>{7, 7, 7, 7, 7, 1, 1, 1}));
}

}  // namespace
}  // namespace weir
