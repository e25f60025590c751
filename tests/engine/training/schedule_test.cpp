// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/schedule.hpp>

#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::training {

namespace {

Layout layout_of(Schedule kind, std::int64_t p, std::int64_t m, std::int64_t v = 1) {
  Layout layout;
  layout.pipeline = p;
  layout.global_batch = m;
  layout.interleave = v;
  layout.schedule = kind;
  return layout;
}

/// Layouts of all kinds, few and many ranks, micro-batches and chunks.
std::vector<Layout> many_layouts() {
  std::vector<Layout> layouts;
  for (const std::int64_t p : {1, 2, 3, 4, 7, 8, 16}) {
    for (const std::int64_t m : {std::int64_t{1}, p - 1, p, 2 * p - 1, 2 * p, 3 * p, 4 * p + 1}) {
      if (m == 0) continue;
      for (const Schedule kind :
           {Schedule::gpipe, Schedule::one_f_one_b, Schedule::zb_h1, Schedule::zb_v}) {
        layouts.push_back(layout_of(kind, p, m));
      }
    }
    for (const std::int64_t m : {p, 2 * p, 4 * p}) {
      for (const std::int64_t v : {1, 2, 3, 6}) {
        layouts.push_back(layout_of(Schedule::interleaved, p, m, v));
      }
    }
  }
  return layouts;
}

struct Seconds {
  double forward, backward_input, backward_weight;
};

/// A pass of a rank takes so long; one of its chunks takes a share.
double bubble_of(const Layout& layout, Seconds whole) {
  const PipelineSchedule schedule = make_schedule(layout);
  const auto share = 1 / static_cast<double>(schedule.num_chunks);
  return bubble_seconds(run_ticks(schedule, [&](std::size_t, Pass pass) {
    switch (pass) {
      case Pass::forward: return share * whole.forward;
      case Pass::backward: return share * (whole.backward_input + whole.backward_weight);
      case Pass::backward_input: return share * whole.backward_input;
      default: return share * whole.backward_weight;
    }
  }));
}

TEST(ScheduleTest, EveryStagePassesEveryMicroBatchOnceAndNothingWaitsInACircle) {
  for (const Layout& layout : many_layouts()) EXPECT_NO_THROW(check(make_schedule(layout)));
}

TEST(ScheduleTest, KeepsWhatTheMemoryModelSays) {
  for (const Layout& layout : many_layouts()) {
    const PipelineSchedule schedule = make_schedule(layout);
    const std::vector<std::size_t> most = most_in_flight(schedule);
    const double chunks = static_cast<double>(*std::max_element(most.begin(), most.end()));
    const double stages = chunks / static_cast<double>(schedule.num_chunks);
    SCOPED_TRACE(std::string(name_of(layout.schedule)) + " p " + std::to_string(layout.pipeline) +
                 " m " + std::to_string(layout.global_batch));
    EXPECT_DOUBLE_EQ(stages, micro_batches_in_flight(layout));
  }
}

TEST(ScheduleTest, WaitsAsLongAsTheTextbookSays) {
  const Seconds times{10, 11, 8};
  for (const std::int64_t p : {2, 3, 4, 8, 16}) {
    const auto others = static_cast<double>(p - 1);
    for (const std::int64_t m : {p, 2 * p, 5 * p}) {
      EXPECT_NEAR(bubble_of(layout_of(Schedule::gpipe, p, m), times), others * 29, 1e-9);
      EXPECT_NEAR(bubble_of(layout_of(Schedule::one_f_one_b, p, m), times), others * 29, 1e-9);
      EXPECT_NEAR(bubble_of(layout_of(Schedule::zb_h1, p, m), times), others * (10 + 11 - 8), 1e-9);
      for (const std::int64_t v : {2, 3, 6}) {
        EXPECT_NEAR(bubble_of(layout_of(Schedule::interleaved, p, m, v), times),
                    others * 29 / static_cast<double>(v), 1e-9);
      }
    }
    // In the units of the time model.
    for (const Schedule kind : {Schedule::gpipe, Schedule::one_f_one_b, Schedule::zb_h1}) {
      const Layout layout = layout_of(kind, p, 2 * p);
      EXPECT_NEAR(bubble_of(layout, {1, 1, 1}), 3 * bubble_micro_batches(layout), 1e-9);
    }
    EXPECT_EQ(bubble_of(layout_of(Schedule::zb_v, p, 2 * p - 1), {1, 1, 1}), 0);
    EXPECT_EQ(bubble_of(layout_of(Schedule::zb_v, p, 4 * p), {1, 1, 1}), 0);
    EXPECT_LT(bubble_of(layout_of(Schedule::zb_v, p, 4 * p), times),
              bubble_of(layout_of(Schedule::zb_h1, p, 4 * p), times));
  }
}

TEST(ScheduleTest, OrdersAsPublished) {
  const auto text = [](const std::vector<Tick>& ticks) {
    std::string line;
    for (const Tick& tick : ticks) {
      line += (tick.pass == Pass::forward           ? tick.chunk == 0 ? "F" : "f"
               : tick.pass == Pass::backward_weight ? tick.chunk == 0 ? "W" : "w"
               : tick.chunk == 0                    ? "B"
                                                    : "b") +
              std::to_string(tick.micro_batch) + ' ';
    }
    return line;
  };
  EXPECT_EQ(text(make_schedule(layout_of(Schedule::one_f_one_b, 4, 4)).ticks[2]),
            "F0 F1 B0 F2 B1 F3 B2 B3 ");
  EXPECT_EQ(text(make_schedule(layout_of(Schedule::interleaved, 2, 2, 2)).ticks[1]),
            "F0 F1 f0 b0 f1 b1 B0 B1 ");
  EXPECT_EQ(text(make_schedule(layout_of(Schedule::zb_h1, 3, 4)).ticks[2]),
            "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3 ");
  EXPECT_EQ(text(make_schedule(layout_of(Schedule::zb_v, 2, 3)).ticks[0]),
            "F0 F1 F2 f0 b0 w0 f1 b1 w1 B0 W0 f2 b2 w2 B1 W1 B2 W2 ");
}

TEST(ScheduleTest, ZbVGoesForthAndBack) {
  const PipelineSchedule schedule = make_schedule(layout_of(Schedule::zb_v, 4, 8));
  EXPECT_EQ(schedule.stage_of(0, 1), 7U);
  EXPECT_EQ(schedule.stage_of(3, 1), 4U);
  for (std::size_t stage = 0; stage < 8; ++stage) {
    EXPECT_EQ(schedule.stage_of(schedule.rank_of(stage), schedule.chunk_of(stage)), stage);
  }
}

void expect_refused(const PipelineSchedule& schedule, const std::string& part) {
  try {
    check(schedule);
    FAIL() << "expected an error with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// D108: two ranks that each wait for the other are named before anything runs.
TEST(ScheduleTest, NamesTicksThatWaitForEachOther) {
  PipelineSchedule schedule = make_schedule(layout_of(Schedule::one_f_one_b, 2, 2));
  std::swap(schedule.ticks[0][1], schedule.ticks[0][2]);  // F0 B0 F1 B1: still runs
  EXPECT_NO_THROW(check(schedule));
  std::swap(schedule.ticks[1][0], schedule.ticks[1][2]);  // rank 1 wants F1 before B0
  expect_refused(schedule,
                 "rank 0 at backward 0 of chunk 0 waits for rank 1 at forward 1 of chunk 0 waits "
                 "for rank 0");
  schedule = make_schedule(layout_of(Schedule::gpipe, 1, 1));
  std::swap(schedule.ticks[0][0], schedule.ticks[0][1]);
  expect_refused(schedule, "rank 0 at backward 0 of chunk 0 waits for rank 0");
}

// D106, astra-sim 137, 370: two exchanges in two chunks each, over two ranks that take them in
// opposite order, one at a time. Each rank's second chunk waits for what the other has put behind
// its own: said, not waited for.
TEST(ScheduleTest, ExchangesInOppositeOrderAreACircleThatIsNamed) {
  PipelineSchedule schedule;
  schedule.kind = Schedule::interleaved;
  schedule.num_chunks = 2;
  schedule.num_micro_batches = 2;
  const auto forward = [](std::uint32_t chunk, std::uint32_t exchange) {
    return Tick{Pass::forward, chunk, exchange};
  };
  const auto backward = [](std::uint32_t chunk, std::uint32_t exchange) {
    return Tick{Pass::backward, chunk, exchange};
  };
  const std::vector<Tick> backwards = {backward(1, 0), backward(1, 1), backward(0, 0),
                                       backward(0, 1)};
  const auto with_backwards = [&](std::vector<Tick> ticks) {
    ticks.insert(ticks.end(), backwards.begin(), backwards.end());
    return ticks;
  };
  const auto a_first = with_backwards({forward(0, 0), forward(1, 0), forward(0, 1), forward(1, 1)});
  const auto b_first = with_backwards({forward(0, 1), forward(1, 1), forward(0, 0), forward(1, 0)});
  schedule.ticks = {a_first, b_first};
  expect_refused(schedule,
                 "rank 0 at forward 0 of chunk 1 waits for rank 1 at forward 1 of chunk 0 waits "
                 "for rank 0");
  schedule.ticks = {a_first, a_first};
  EXPECT_NO_THROW(check(schedule));
}

TEST(ScheduleTest, RefusesWhatIsMissingTwiceOrNotThere) {
  PipelineSchedule schedule = make_schedule(layout_of(Schedule::zb_h1, 2, 2));
  schedule.ticks[1].pop_back();
  expect_refused(schedule, "rank 1: found no whole backward 1 of chunk 0");
  schedule.ticks[1].push_back(schedule.ticks[1].front());
  expect_refused(schedule, "rank 1: found forward 0 of chunk 0 twice");
  schedule.ticks[1].back() = {Pass::forward, 3, 0};
  expect_refused(schedule, "expected chunks below 1");
  EXPECT_THROW(make_schedule(layout_of(Schedule::interleaved, 4, 6, 2)), Error);
  EXPECT_THROW(make_schedule(layout_of(Schedule::one_f_one_b, 4, 6, 2)), Error);
}

}  // namespace

}  // namespace weir::training
