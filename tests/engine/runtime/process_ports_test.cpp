// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/process_ports.hpp>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/engine/runtime/transport_cases.hpp>

namespace weir::test {
namespace {

struct Collect final : FrameSink {
  void deliver(Frame frame) override { frames.push_back(std::move(frame)); }
  std::vector<Frame> frames;
};

Frame frame_of(Bytes bytes, std::uint32_t sequence) {
  Frame frame;
  frame.header.sequence = sequence;
  frame.payload = std::move(bytes);
  return frame;
}

/// The ports of processes in the order of their numbers, each with another rank.
std::vector<std::unique_ptr<Port>> renumbered_ports(const std::vector<Rank>& process_of_rank) {
  auto ports = make_thread_ports(static_cast<Rank>(process_of_rank.size()));
  for (auto& port : ports) port = make_renumbered_port(std::move(port), process_of_rank);
  return ports;
}

TEST(RenumberedPort, GivesEachProcessItsRank) {
  const auto ports = renumbered_ports({2, 0, 1});
  EXPECT_EQ(ports[2]->rank(), 0);
  EXPECT_EQ(ports[0]->rank(), 1);
  EXPECT_EQ(ports[1]->rank(), 2);
  EXPECT_EQ(ports[0]->size(), 3);
  ports[2]->submit(1, frame_of(payload(0, 1, 0, 10), 0));
  Collect sink;
  EXPECT_FALSE(ports[1]->progress(sink));
  EXPECT_TRUE(ports[0]->progress(sink));
  ASSERT_EQ(sink.frames.size(), 1u);
  EXPECT_TRUE(sink.frames[0].payload == payload(0, 1, 0, 10));
}

TEST(RenumberedPort, ContextsSeeRanksAlone) {
  for (const std::vector<Rank>& processes :
       {std::vector<Rank>{1, 0}, {0, 2, 1}, {2, 0, 1}, {3, 1, 4, 0, 2}}) {
    auto ports = renumbered_ports(processes);
    std::vector<std::thread> threads;
    for (auto& port : ports) {
      threads.emplace_back([&] {
        ContextOptions options;
        options.max_piece_bytes = 1000;
        options.deadline = std::chrono::seconds(60);
        Context context(std::move(port), options);
        exchange_lengths(context);
        exchange_in_order(context);
        fold_in_rank_order(context);
        exchange_with_next(context);
        agree_on_lowest(context);
      });
    }
    for (auto& thread : threads) thread.join();
  }
}

TEST(RenumberedPort, RefusesWhatIsNoPermutation) {
  for (const std::vector<Rank>& wrong : {std::vector<Rank>{0}, {0, 0}, {0, 2}, {0, 1, 2}, {}}) {
    auto ports = make_thread_ports(2);
    EXPECT_THROW(make_renumbered_port(std::move(ports[0]), wrong), Error);
  }
}

TEST(CountingPort, CountsPayloadsAndTheHeaderOfEveryPiece) {
  auto ports = make_thread_ports(3);
  std::vector<std::uint64_t> sent(3);
  auto port = make_counting_port(std::move(ports[1]), sent);
  EXPECT_EQ(port->rank(), 1);
  port->limit_pieces(1000);
  port->submit(0, frame_of(payload(1, 0, 0, 10), 0));
  port->submit(0, frame_of({}, 1));
  port->submit(2, frame_of(payload(1, 2, 0, 2500), 0));
  EXPECT_EQ(sent, (std::vector<std::uint64_t>{10 + 2 * 64, 0, 2500 + 3 * 64}));
  Collect sink;
  EXPECT_TRUE(ports[2]->progress(sink));
  ASSERT_EQ(sink.frames.size(), 1u);
  EXPECT_TRUE(sink.frames[0].payload == payload(1, 2, 0, 2500));
}

TEST(CountingPort, RefusesCountsOfOtherRanks) {
  auto ports = make_thread_ports(2);
  std::vector<std::uint64_t> sent(3);
  EXPECT_THROW(make_counting_port(std::move(ports[0]), sent), Error);
}

}  // namespace
}  // namespace weir::test
