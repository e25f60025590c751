// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/superstep/sparse_inbox.hpp>
#include <weir/tests/reference/random_graph.hpp>

namespace weir {
namespace {

using Inbox = SparseInbox<Min<std::int64_t>>;

std::map<Row, std::int64_t> contents(const Inbox& inbox) {
  std::map<Row, std::int64_t> all;
  for (const auto& letter : inbox.letters()) {
    EXPECT_TRUE(all.empty() || all.rbegin()->first < letter.row) << "rows ascend, each once";
    all[letter.row] = letter.message.value;
  }
  return all;
}

TEST(SparseInbox, FoldsMessagesOfARowAndVisitsRowsWithoutAny) {
  Inbox inbox;
  EXPECT_FALSE(inbox.is_open());
  inbox.begin(2);
  EXPECT_TRUE(inbox.is_open());
  inbox.add(7, 3);
  inbox.add(2, Min<std::int64_t>::identity());
  inbox.add(7, 1);
  inbox.add(7, 2);
  inbox.sort();
  EXPECT_EQ(contents(inbox),
            (std::map<Row, std::int64_t>{{2, Min<std::int64_t>::identity()}, {7, 1}}));
  inbox.end();
  EXPECT_FALSE(inbox.is_open());
}

TEST(SparseInbox, AgreesWithAMapRoundAfterRound) {
  reference::Dice dice(3);
  Inbox inbox;
  for (const std::uint64_t size : {5, 3000, 1, 0, 40, 20000, 7}) {
    std::map<Row, std::int64_t> expected;
    inbox.begin(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      // Rows far apart and rows that share their low bits.
      const Row row = static_cast<Row>(dice.below(size / 2 + 1) << dice.below(20));
      const auto message = static_cast<std::int64_t>(dice.below(1000));
      inbox.add(row, message);
      const auto [at, is_new] = expected.emplace(row, message);
      if (!is_new) at->second = std::min(at->second, message);
    }
    inbox.sort();
    EXPECT_EQ(contents(inbox), expected) << size;
    inbox.end();
  }
}

}  // namespace
}  // namespace weir
