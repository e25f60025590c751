// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/model/random.hpp>
#include <weir/engine/simulation/event_queue.hpp>

namespace weir::simulation {

namespace {

TEST(EventQueueTest, LeavesInOrderOfTimeThenOfScheduling) {
  struct Event {
    double time;
    int number;
  };
  EventQueue<Event> events;
  CounterRandom random(1, 0, 0);
  for (int i = 0; i < 1000; ++i) {
    const double time = static_cast<double>(random.next() % 50);  // Many at one time.
    events.at(time, {time, i});
  }
  EXPECT_EQ(events.size(), 1000U);
  Event last{-1, -1};
  for (int i = 0; i < 1000; ++i) {
    const Event event = events.pop();
    EXPECT_EQ(event.time, events.now());
    EXPECT_TRUE(last.time < event.time || (last.time == event.time && last.number < event.number));
    last = event;
  }
  EXPECT_TRUE(events.empty());
}

TEST(EventQueueTest, DelaysCountFromNow) {
  EventQueue<int> events;
  EXPECT_EQ(events.now(), 0);
  events.after(2, 1);
  EXPECT_EQ(events.pop(), 1);
  events.after(0, 2);
  events.after(3, 3);
  EXPECT_EQ(events.pop(), 2);
  EXPECT_EQ(events.now(), 2);
  EXPECT_EQ(events.pop(), 3);
  EXPECT_EQ(events.now(), 5);
}

TEST(EventQueueTest, RefusesThePast) {
  EventQueue<int> events;
  events.at(1, 1);
  events.pop();
  EXPECT_THROW(events.at(0.5, 2), Error);
  EXPECT_THROW(events.at(std::numeric_limits<double>::quiet_NaN(), 2), Error);
  EXPECT_TRUE(events.empty());
}

TEST(EventQueueTest, MovesEvents) {
  EventQueue<std::unique_ptr<int>> events;
  events.at(2, std::make_unique<int>(2));
  events.at(1, std::make_unique<int>(1));
  EXPECT_EQ(*events.pop(), 1);
  EXPECT_EQ(*events.pop(), 2);
}

}  // namespace

}  // namespace weir::simulation
