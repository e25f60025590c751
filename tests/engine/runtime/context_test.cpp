// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/context.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/runtime/port.hpp>
#include <weir/tests/engine/runtime/transport_cases.hpp>

namespace weir::test {
namespace {

using Clock = std::chrono::steady_clock;

ContextOptions watched() {
  ContextOptions options;
  options.deadline = std::chrono::seconds(60);
  return options;
}

/// What each rank threw, by rank; empty texts where it did not.
std::vector<std::string> errors_of(Rank ranks, const ContextOptions& options,
                                   const std::function<void(Context&)>& body) {
  auto ports = make_thread_ports(ranks);
  std::vector<std::string> texts(index(ranks));
  std::vector<std::thread> threads;
  for (Rank r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      try {
        // Another rank may fail before this one's context is made.
        Context context(std::move(ports[index(r)]), options);
        try {
          body(context);
        } catch (const Error& error) {
          texts[index(r)] = error.what();
          context.fail(error);
        }
      } catch (const Error& error) {
        texts[index(r)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return texts;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Ranks : public testing::TestWithParam<Rank> {};

TEST_P(Ranks, FoldInRankOrder) {
  run_in_process(GetParam(), watched(), [](Context& context) { fold_in_rank_order(context); });
}

TEST_P(Ranks, ExchangeInOrder) {
  run_in_process(GetParam(), watched(), [](Context& context) {
    for (int i = 0; i < 5; ++i) exchange_in_order(context);
    exchange_with_next(context);
  });
}

TEST_P(Ranks, Agree) {
  run_in_process(GetParam(), watched(), [](Context& context) { agree_on_lowest(context); });
}

TEST_P(Ranks, TellAFailure) {
  if (GetParam() == 1) GTEST_SKIP() << "one rank";
  run_in_process(GetParam(), watched(), [](Context& context) { fail_alone(context); });
}

TEST_P(Ranks, GatherAndConcatenate) {
  run_in_process(GetParam(), watched(), [](Context& context) {
    const Rank size = context.size();
    const std::vector<std::string> names = all_gather(context, std::to_string(context.rank()));
    ASSERT_EQ(names.size(), index(size));
    for (Rank r = 0; r < size; ++r) EXPECT_EQ(names[index(r)], std::to_string(r));

    // Contributions of 3, 0, 2 records, and none at all (D77, D78).
    const std::size_t lengths[] = {3, 0, 2};
    const std::vector<Rank> own(lengths[index(context.rank()) % 3], context.rank());
    std::vector<Rank> expected;
    for (Rank r = 0; r < size; ++r) expected.insert(expected.end(), lengths[index(r) % 3], r);
    EXPECT_EQ(all_concatenate(context, std::span<const Rank>(own)), expected);
    EXPECT_TRUE(all_concatenate(context, std::span<const Rank>()).empty());

    EXPECT_EQ(all_fold(context, Sum<int>{}, context.rank() + 1), size * (size + 1) / 2);
    EXPECT_EQ(all_fold(context, Any{}, context.rank() == size - 1), true);
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Ranks, testing::Values(1, 2, 3, 4, 7, 16, 64),
                         testing::PrintToStringParamName());

TEST(Context, IsOneRankAlone) {
  Context context;
  EXPECT_EQ(context.rank(), 0);
  EXPECT_EQ(context.size(), 1);
  EXPECT_TRUE(context.is_root());
  EXPECT_GE(context.num_threads(), 1);
  EXPECT_EQ(context.ranks_on_host(), 1);
  fold_in_rank_order(context);
  exchange_in_order(context);
  exchange_lengths(context);
  EXPECT_EQ(context.traffic().frames_sent, 0u);
}

TEST(Context, RefusesWrongOptions) {
  ContextOptions options;
  options.threads = -1;
  EXPECT_THROW(Context{options}, Error);
}

TEST(Context, CountsTraffic) {
  std::atomic<std::uint64_t> sent{0}, received{0};
  run_in_process(3, watched(), [&](Context& context) {
    exchange_lengths(context);
    fold_in_rank_order(context);
    sent += context.traffic().bytes_sent;
    received += context.traffic().bytes_received;
    EXPECT_GT(context.traffic().frames_sent, 12u);
  });
  // What a rank that ended early said in leaving may be among the received.
  EXPECT_GE(received, sent);
  EXPECT_LE(received, sent + 6 * sizeof(FrameHeader));
}

TEST(Context, ManyExchangesAreOpenAtOnce) {
  run_in_process(4, watched(), [](Context& context) {
    Exchange first(context, "first");
    Exchange second(context, "second");
    for (Rank to = 0; to < 4; ++to) {
      second.send(to, bytes_of("second"));
      first.send(to, bytes_of("first"));
    }
    fold_in_rank_order(context);
    const auto of_second = second.close();
    const auto of_first = first.close();
    ASSERT_EQ(of_first.size(), 4u);
    ASSERT_EQ(of_second.size(), 4u);
    for (const Batch& batch : of_first) EXPECT_EQ(text_of(batch.bytes), "first");
    for (const Batch& batch : of_second) EXPECT_EQ(text_of(batch.bytes), "second");
  });
}

TEST(Context, LaterEpochsWaitForTheirTurn) {
  run_in_process(3, watched(), [](Context& context) {
    for (int i = 0; i < 30; ++i) {
      if (context.rank() == i % 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      Exchange delivery(context, "turn");
      for (Rank to = 0; to < 3; ++to) delivery.send(to, bytes_of(std::to_string(i)));
      for (const Batch& batch : delivery.close())
        ASSERT_EQ(text_of(batch.bytes), std::to_string(i));
    }
  });
}

TEST(Context, ExchangeRefusesUnknownRanks) {
  EXPECT_THROW(run_in_process(2, watched(),
                              [](Context& context) {
                                Exchange delivery(context, "pair", {context.rank()}, {});
                              }),
               Error);
  EXPECT_THROW(run_in_process(3, watched(),
                              [](Context& context) {
                                Exchange delivery(context, "none", {}, {});
                                delivery.send((context.rank() + 1) % 3, {});
                              }),
               Error);
}

TEST(Failure, ReachesAllWhoWait) {
  for (const bool is_exchange : {false, true}) {
    const auto start = Clock::now();
    const auto texts = errors_of(5, watched(), [&](Context& context) {
      fold_in_rank_order(context);
      if (context.rank() == 2) throw Error(ErrorCode::input, "broken");
      if (is_exchange) {
        exchange_in_order(context);
      } else {
        fold_in_rank_order(context);
        fold_in_rank_order(context);
      }
    });
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(1));
    for (Rank r = 0; r < 5; ++r) {
      EXPECT_EQ(texts[index(r)], r == 2 ? "broken" : "rank 2: broken");
    }
  }
}

TEST(Failure, OfARankIsRethrownAsItWas) {
  struct Odd : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  EXPECT_THROW(run_in_process(4, watched(),
                              [](Context& context) {
                                if (context.rank() == 3) throw Odd("root");
                                all_gather(context, 1);
                                all_gather(context, 1);
                              }),
               Odd);
}

TEST(Failure, InACombinerOrReceiverReachesAll) {
  const auto folded = errors_of(4, watched(), [](Context& context) {
    context.fold("sum", {}, [&](Bytes, Bytes) -> Bytes {
      if (context.rank() == 2) throw std::bad_alloc();
      return {};
    });
  });
  for (const std::string& text : folded) EXPECT_EQ(text, "rank 2: memory ran out");

  const auto received = errors_of(4, watched(), [](Context& context) {
    Exchange delivery(context, "receive");
    delivery.close([](Batch) {});
    Exchange second(context, "receive");
    second.send(1, bytes_of("x"));
    second.close([&](Batch) {
      if (context.rank() == 1) throw Error(ErrorCode::input, "bad batch");
    });
    fold_in_rank_order(context);
  });
  for (const std::string& text : received) EXPECT_EQ(text, "rank 1: bad batch");
}

TEST(Failure, WithinAgreeThatLeftAnExchangeOpen) {
  const auto texts = errors_of(3, watched(), [](Context& context) {
    context.agree([&] {
      Exchange delivery(context, "inside");
      if (context.rank() == 1) throw Error(ErrorCode::input, "bad line");
      delivery.close([](Batch) {});
    });
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "rank 1: bad line");
}

TEST(Failure, ThatAllAgreedOnLeavesTheContextUsable) {
  run_in_process(3, watched(), [](Context& context) {
    for (int i = 0; i < 3; ++i) {
      try {
        Exchange delivery(context, "left open by all");
        delivery.send(0, bytes_of("x"));
        fold_in_rank_order(context);
        context.throw_agreed(Error(ErrorCode::program, "all saw it"));
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "all saw it");
      }
      exchange_in_order(context);
    }
    EXPECT_FALSE(context.failed_by().has_value());
  });
}

TEST(Failure, OfDifferentOperationsIsNoticed) {
  const auto texts = errors_of(2, watched(), [](Context& context) {
    if (context.rank() == 0) {
      context.fold("one", {}, concatenate);
    } else {
      context.fold("other", {}, concatenate);
    }
  });
  EXPECT_TRUE(contains(texts[0], "rank 0 is in \"one\"") ||
              contains(texts[0], "rank 1 is in \"other\""))
      << texts[0];
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Failure, OfAnExchangeLeftOpen) {
  const auto texts = errors_of(2, watched(), [](Context& context) {
    { Exchange delivery(context, "forgotten"); }
    fold_in_rank_order(context);
  });
  for (const std::string& text : texts) EXPECT_TRUE(contains(text, "\"forgotten\" was left open"));
}

TEST(Failure, WhenARankLeft) {
  const auto start = Clock::now();
  const auto texts = errors_of(3, watched(), [](Context& context) {
    if (context.rank() == 1) return;
    exchange_in_order(context);
  });
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(texts[1], "");
  for (const Rank r : {0, 2}) {
    EXPECT_TRUE(contains(texts[index(r)], "rank 1 left before operation 1 while rank "))
        << texts[index(r)];
    EXPECT_TRUE(contains(texts[index(r)], "waits in \"order\"")) << texts[index(r)];
  }
}

TEST(Failure, AfterTheDeadlineTellsWhoWaitsForWhom) {
  ContextOptions options;
  options.deadline = std::chrono::milliseconds(100);
  const auto texts = errors_of(2, options, [](Context& context) {
    context.set_superstep(7);
    if (context.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    Exchange delivery(context, "ghost values");
    delivery.send(1 - context.rank(), {});
    delivery.close([](Batch) {});
    fold_in_rank_order(context);
  });
  EXPECT_TRUE(
      contains(texts[0],
               "ms in \"ghost values\" (operation 1, superstep 7) for rank 1; rank 1 was last "
               "heard of in operation 0; received: 0 batches, and all from 0 of 1 ranks"))
      << texts[0];
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[0].rfind("rank 0 waited 1", 0), 0u) << texts[0];
}

TEST(Context, TwoJobsAtOnce) {
  std::vector<std::thread> jobs;
  for (int job = 0; job < 2; ++job) {
    jobs.emplace_back([] {
      run_in_process(3, watched(), [](Context& context) {
        for (int i = 0; i < 10; ++i) {
          fold_in_rank_order(context);
          exchange_in_order(context);
        }
      });
    });
  }
  for (auto& job : jobs) job.join();
}

TEST(Context, RunsAgainAndAgain) {
  for (int i = 0; i < 200; ++i) {
    run_in_process(i % 4 + 1, watched(), [](Context& context) { all_gather(context, 1); });
  }
}

TEST(Context, WarnsOfMoreThreadsThanCores) {
  struct Sink final : LogSink {
    void write(LogLevel level, std::string_view text) override {
      const std::lock_guard lock(mutex);
      if (level == LogLevel::warning) warnings.emplace_back(text);
    }
    std::mutex mutex;
    std::vector<std::string> warnings;
  } sink;
  ContextOptions options = watched();
  options.threads = 4096;
  options.log = &sink;
  run_in_process(2, options, [](Context& context) { EXPECT_EQ(context.num_threads(), 4096); });
  ASSERT_EQ(sink.warnings.size(), 1u);
  EXPECT_TRUE(contains(sink.warnings[0], "rank 0 has 4096 threads on ")) << sink.warnings[0];
}

}  // namespace
}  // namespace weir::test
