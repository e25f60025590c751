// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/port.hpp>

#include <memory>
#include <string>
#include <thread>
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

/// Runs `body` on threads over ports with faults.
void run_with_faults(Rank ranks, const Faults& faults, const std::function<void(Context&)>& body) {
  auto ports = make_thread_ports(ranks);
  std::vector<std::thread> threads;
  for (auto& port : ports) {
    threads.emplace_back([&] {
      ContextOptions options;
      options.max_piece_bytes = 1000;
      options.deadline = std::chrono::seconds(60);
      Context context(make_faulty_port(std::move(port), faults), options);
      body(context);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Port, SplitsAtTheLimitAndJoins) {
  auto ports = make_thread_ports(2);
  ports[0]->limit_pieces(1000);
  const std::vector<std::size_t> lengths = {0, 1, 999, 1000, 1001, 1000000};
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    ports[0]->submit(1, frame_of(payload(0, 1, i, lengths[i]), i));
  }
  Collect sink;
  EXPECT_TRUE(ports[1]->progress(sink));
  EXPECT_FALSE(ports[1]->progress(sink));
  ASSERT_EQ(sink.frames.size(), lengths.size());
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(sink.frames[i].header.source, 0);
    EXPECT_EQ(sink.frames[i].header.sequence, i);
    EXPECT_EQ(sink.frames[i].header.payload_bytes, lengths[i]);
    EXPECT_TRUE(sink.frames[i].payload == payload(0, 1, i, lengths[i]));
  }
}

TEST(Port, RefusesWrongLimitsAndRanks) {
  auto ports = make_thread_ports(2);
  EXPECT_THROW(ports[0]->limit_pieces(0), Error);
  EXPECT_THROW(ports[0]->limit_pieces(Port::default_max_piece_bytes + 1), Error);
  EXPECT_THROW(ports[0]->submit(0, frame_of({}, 0)), Error);
  EXPECT_THROW(ports[0]->submit(2, frame_of({}, 0)), Error);
  EXPECT_THROW(make_thread_ports(0), Error);
}

TEST(Port, FaultyPortLosesNothing) {
  auto ports = make_thread_ports(2);
  Faults faults;
  faults.drop_probability = 0.5;
  faults.retry_after = std::chrono::microseconds(500);
  auto sender = make_faulty_port(std::move(ports[0]), faults);
  for (std::uint32_t i = 0; i < 100; ++i) sender->submit(1, frame_of(payload(0, 1, i, 10), i));
  EXPECT_FALSE(sender->is_idle());
  Collect sink;
  while (!sender->is_idle()) sender->progress(sink);
  while (ports[1]->progress(sink)) {
  }
  EXPECT_EQ(sink.frames.size(), 100u);
}

TEST(Port, FaultyPortRepeatsAndReorders) {
  auto ports = make_thread_ports(2);
  Faults faults;
  faults.duplicate_probability = 1;
  faults.reorder_probability = 1;
  auto sender = make_faulty_port(std::move(ports[0]), faults);
  for (std::uint32_t i = 0; i < 50; ++i) sender->submit(1, frame_of({}, i));
  Collect sink;
  while (!sender->is_idle()) sender->progress(sink);
  while (ports[1]->progress(sink)) {
  }
  ASSERT_EQ(sink.frames.size(), 100u);
  bool is_in_order = true;
  for (std::size_t i = 1; i < 100; ++i) {
    if (sink.frames[i].header.sequence < sink.frames[i - 1].header.sequence) is_in_order = false;
  }
  EXPECT_FALSE(is_in_order);
}

class PortFaults : public testing::TestWithParam<std::string> {
 protected:
  static Faults faults() {
    Faults faults;
    const std::string& name = GetParam();
    const bool is_all = name == "All";
    if (is_all || name == "Drop") faults.drop_probability = 0.05;
    if (is_all || name == "Duplicate") faults.duplicate_probability = 0.2;
    if (is_all || name == "Delay") faults.delay = std::chrono::microseconds(100);
    if (is_all || name == "Reorder") faults.reorder_probability = 1;
    return faults;
  }
};

TEST_P(PortFaults, DoNotReachTheContext) {
  for (const Rank ranks : {2, 3, 5}) {
    run_with_faults(ranks, faults(), [](Context& context) {
      exchange_lengths(context);
      exchange_in_order(context);
      fold_in_rank_order(context);
      exchange_with_next(context);
      agree_on_lowest(context);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Each, PortFaults,
                         testing::Values("None", "Drop", "Duplicate", "Delay", "Reorder", "All"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace weir::test
