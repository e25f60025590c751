// SPDX-License-Identifier: Apache-2.0
// What holds over any transport; run over threads of one process and over MPI. Every rank calls
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir::test {

inline std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

inline Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return Bytes(bytes.begin(), bytes.end());
}

inline std::string text_of(const Bytes& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

inline Bytes concatenate(Bytes left, Bytes right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// A payload that no other (source, destination, number, length) has.
inline Bytes payload(Rank source, Rank destination, std::size_t number, std::size_t length) {
  Bytes bytes(length);
  auto state = static_cast<std::uint64_t>(source) * 1000003 +
               static_cast<std::uint64_t>(destination) * 10007 + number * 101 + 1;
  for (std::size_t i = 0; i < length; i += sizeof(state)) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(bytes.data() + i, &state, std::min(sizeof(state), length - i));
  }
  return bytes;
}

/// Lengths around the limit of 1,000 bytes a piece, both ways between all ranks (D73).
inline void exchange_lengths(Context& context, int num_rounds = 1) {
  const std::vector<std::size_t> lengths = {0, 1, 999, 1000, 1001, 1000000};
  for (int round = 0; round < num_rounds; ++round) {
    Exchange delivery(context, "lengths");
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      for (Rank to = 0; to < context.size(); ++to) {
        delivery.send(to, payload(context.rank(), to, i, lengths[i]),
                      static_cast<std::uint32_t>(i));
      }
    }
    const std::vector<Batch> batches = delivery.close();
    ASSERT_EQ(batches.size(), lengths.size() * index(context.size()));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto source = static_cast<Rank>(i / lengths.size());
      const std::size_t number = i % lengths.size();
      ASSERT_EQ(batches[i].source, source);
      ASSERT_EQ(batches[i].source_shard, number);
      ASSERT_TRUE(batches[i].bytes == payload(source, context.rank(), number, lengths[number]));
    }
  }
}

inline void fold_in_rank_order(Context& context) {
  std::string expected;
  for (Rank r = 0; r < context.size(); ++r) expected += std::to_string(r) + ",";
  for (int i = 0; i < 5; ++i) {
    const Bytes all =
        context.fold("order", bytes_of(std::to_string(context.rank()) + ","), concatenate);
    ASSERT_EQ(text_of(all), expected);
  }
  const std::string empty = text_of(context.fold("nothing", {}, concatenate));
  ASSERT_EQ(empty, "");
}

/// Ranks send 0 to 4 batches by a rule both ends know; some pairs send nothing.
inline void exchange_in_order(Context& context) {
  const auto num_batches = [](Rank from, Rank to) { return (from * 3 + to) % 5; };
  Exchange delivery(context, "order");
  for (Rank to = context.size() - 1; to >= 0; --to) {
    for (int i = 0; i < num_batches(context.rank(), to); ++i) {
      delivery.send(to, payload(context.rank(), to, static_cast<std::size_t>(i), 40));
    }
  }
  std::vector<Batch> expected;
  for (Rank from = 0; from < context.size(); ++from) {
    for (int i = 0; i < num_batches(from, context.rank()); ++i) {
      expected.push_back({from, 0, payload(from, context.rank(), static_cast<std::size_t>(i), 40)});
    }
  }
  const std::vector<Batch> batches = delivery.close();
  ASSERT_EQ(batches.size(), expected.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    ASSERT_EQ(batches[i].source, expected[i].source);
    ASSERT_TRUE(batches[i].bytes == expected[i].bytes);
  }
}

/// Each rank sends to the next only, and polls while it sends.
inline void exchange_with_next(Context& context) {
  if (context.size() == 1) return;
  const Rank next = (context.rank() + 1) % context.size();
  const Rank previous = (context.rank() + context.size() - 1) % context.size();
  Exchange delivery(context, "ring", {next}, {previous});
  std::vector<std::string> received;
  const auto receive = [&](Batch batch) {
    EXPECT_EQ(batch.source, previous);
    received.push_back(text_of(batch.bytes));
  };
  for (int i = 0; i < 50; ++i) {
    delivery.send(next, bytes_of(std::to_string(i)));
    delivery.poll(receive);
  }
  delivery.close(receive);
  ASSERT_EQ(received.size(), 50u);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(received[static_cast<std::size_t>(i)], std::to_string(i));
}

/// The Error of the lowest failing rank is thrown on all, and the context stays usable.
inline void agree_on_lowest(Context& context) {
  const Rank lowest = context.size() / 2;
  const std::string prefix = context.size() == 1 ? "" : "rank " + std::to_string(lowest) + ": ";
  const auto text_of_agree = [&](const std::function<void()>& body) -> std::string {
    try {
      context.agree(body);
    } catch (const Error& error) {
      return std::string(name_of(error.code())) + " " + error.what();
    }
    return "";
  };
  EXPECT_EQ(text_of_agree([] {}), "");
  EXPECT_EQ(text_of_agree([&] {
              if (context.rank() >= lowest) throw Error(ErrorCode::input, "no file");
            }),
            "input " + prefix + "no file");
  EXPECT_EQ(text_of_agree([&] {
              if (context.rank() == lowest) throw std::bad_alloc();
            }),
            "memory " + prefix + "memory ran out");
  EXPECT_EQ(text_of_agree([&] {
              if (context.rank() == lowest) throw std::logic_error("odd");
            }),
            "program " + prefix + "odd");
  EXPECT_EQ(text_of_agree([&] {
              context.agree([&] {
                if (context.rank() == lowest) throw std::logic_error("inner");
              });
            }),
            "program " + prefix + "inner");
  fold_in_rank_order(context);
}

/// One rank fails by itself; whoever waits throws the same, and does so again.
inline void fail_alone(Context& context) {
  const Rank failing = context.size() - 1;
  const std::string expected = "rank " + std::to_string(failing) + ": lost";
  bool is_first = true;
  for (int i = 0; i < 2; ++i) {
    try {
      if (is_first) fold_in_rank_order(context);  // some may hear of it already here
      is_first = false;
      if (context.rank() == failing) context.fail(Error(ErrorCode::output, "lost"));
      exchange_in_order(context);
      ADD_FAILURE() << "the exchange ended";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::output);
      EXPECT_EQ(std::string(error.what()), expected);
    }
  }
  EXPECT_EQ(context.failed_by(), failing);
}

}  // namespace weir::test
