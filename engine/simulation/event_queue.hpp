// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weir/engine/model/check.hpp>

namespace weir::simulation {

/// The future of a discrete-event simulation, and its clock: events leave in the order of their
/// times, those of one time in the order in which they were scheduled. So a simulation that draws
/// its random numbers by key is a function of its input and seed.
///
///     for (EventQueue<Event> events = start(); !events.empty();) handle(events.pop());
///
/// No event is taken back: whoever receives one that has lost its meaning (the end of a task whose
/// worker died before) recognises it.
template <class Event>
class EventQueue {
 public:
  /// The time of the last event that left, in seconds; 0 at the start.
  double now() const { return now_; }
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }

  /// Puts an event at a time in seconds. Throws Error{internal} for a time before now() and for one
  /// that is not a number.
  void at(double time, Event event) {
    WEIR_EXPECT(time >= now_, internal, "simulation: an event lies in the past");
    waiting_.push_back({time, num_scheduled_++, std::move(event)});
    std::push_heap(waiting_.begin(), waiting_.end(), IsLater());
  }
  /// Puts an event `delay` seconds after now().
  void after(double delay, Event event) { at(now_ + delay, std::move(event)); }

  /// Takes out the next event and moves the clock to it. The queue must not be empty.
  Event pop() {
    std::pop_heap(waiting_.begin(), waiting_.end(), IsLater());
    Waiting next = std::move(waiting_.back());
    waiting_.pop_back();
    now_ = next.time;
    return std::move(next.event);
  }

 private:
  struct Waiting {
    double time;
    std::uint64_t sequence;
    Event event;
  };
  struct IsLater {
    bool operator()(const Waiting& one, const Waiting& other) const {
      return one.time != other.time ? one.time > other.time : one.sequence > other.sequence;
    }
  };

  std::vector<Waiting> waiting_;  // A heap, the next event first.
  std::uint64_t num_scheduled_ = 0;
  double now_ = 0;
};

}  // namespace weir::simulation
