// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/layout.hpp>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::training {

namespace {

Layout pipeline_of(Schedule schedule, std::int64_t interleave = 1) {
  Layout layout;
  layout.pipeline = 4;
  layout.global_batch = 32;
  layout.schedule = schedule;
  layout.interleave = interleave;
  return layout;
}

TEST(LayoutTest, IdleTimeOfEachSchedule) {
  EXPECT_EQ(bubble_micro_batches(pipeline_of(Schedule::gpipe)), 3);
  EXPECT_EQ(bubble_micro_batches(pipeline_of(Schedule::one_f_one_b)), 3);
  EXPECT_EQ(bubble_micro_batches(pipeline_of(Schedule::interleaved, 2)), 1.5);
  EXPECT_EQ(bubble_micro_batches(pipeline_of(Schedule::zb_h1)), 1);
  EXPECT_EQ(bubble_micro_batches(pipeline_of(Schedule::zb_v)), 0);
}

TEST(LayoutTest, MicroBatchesInFlight) {
  EXPECT_EQ(micro_batches_in_flight(pipeline_of(Schedule::gpipe)), 32);
  EXPECT_EQ(micro_batches_in_flight(pipeline_of(Schedule::one_f_one_b)), 4);
  EXPECT_EQ(micro_batches_in_flight(pipeline_of(Schedule::interleaved, 2)), 5.5);
  EXPECT_EQ(micro_batches_in_flight(pipeline_of(Schedule::zb_h1)), 4);
  Layout few = pipeline_of(Schedule::one_f_one_b);
  few.global_batch = 2;
  EXPECT_EQ(micro_batches_in_flight(few), 2);
}

TEST(LayoutTest, RefusesWhatDoesNotDivide) {
  const Transformer model = gpt("m", 8, 64, 8);
  EXPECT_NO_THROW(check(pipeline_of(Schedule::interleaved, 2), model));

  const auto refused = [&](const Layout& layout, const std::string& part) {
    try {
      check(layout, model);
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      EXPECT_NE(error.text().find(part), std::string::npos) << error.text();
    }
  };
  Layout layout = pipeline_of(Schedule::one_f_one_b);
  layout.tensor = 3;
  refused(layout, "8 is no multiple of 3");
  layout = pipeline_of(Schedule::one_f_one_b);
  layout.micro_batch = 5;
  refused(layout, "32 is no multiple of 5");
  layout = pipeline_of(Schedule::one_f_one_b);
  layout.pipeline = 9;
  refused(layout, "9 stages for 8 layers");
  layout = pipeline_of(Schedule::one_f_one_b, 2);
  refused(layout, "interleaved");
  layout = pipeline_of(Schedule::interleaved, 2);
  layout.global_batch = 30;
  refused(layout, "30 is no multiple of 4");
  layout = pipeline_of(Schedule::gpipe);
  layout.data = 0;
  refused(layout, "positive");
  layout = pipeline_of(Schedule::gpipe);
  layout.zero_stage = 4;
  refused(layout, "ZeRO");
}

}  // namespace

}  // namespace weir::training
