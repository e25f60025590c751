// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/layout.hpp>

#include <algorithm>
#include <string>

#include <weir/engine/model/check.hpp>

namespace weir::training {

std::string_view name_of(Schedule schedule) noexcept {
  switch (schedule) {
    case Schedule::gpipe: return "gpipe";
    case Schedule::one_f_one_b: return "1f1b";
    case Schedule::interleaved: return "interleaved";
    case Schedule::zb_h1: return "zb-h1";
    case Schedule::zb_v: return "zb-v";
  }
  return "?";
}

namespace {

void expect_divides(std::int64_t part, std::int64_t whole, std::string_view what) {
  WEIR_EXPECT(whole % part == 0, input,
              "layout: " + std::string(what) + ": " + std::to_string(whole) +
                  " is no multiple of " + std::to_string(part));
}

void check_experts(const Layout& layout, const Transformer& model) {
  if (!model.has_experts()) {
    WEIR_EXPECT(
        layout.expert == 1, input,
        "layout: " + std::to_string(layout.expert) + " expert ranks for a model without experts");
    return;
  }
  WEIR_EXPECT(layout.expert > 0, input, "layout: degrees and batches must be positive");
  expect_divides(layout.tensor, layout.expert, "expert ranks over tensor parallelism");
  expect_divides(layout.expert, layout.num_stage_devices(), "ranks of a stage over expert ranks");
  expect_divides(layout.expert, model.experts.num_routed, "routed experts over expert ranks");
  WEIR_EXPECT(layout.tensor == 1 || layout.has_sequence_parallelism, input,
              "layout: experts on several tensor ranks need sequence parallelism");
}

}  // namespace

void check(const Layout& layout, const Transformer& model) {
  WEIR_EXPECT(layout.tensor > 0 && layout.context > 0 && layout.pipeline > 0 && layout.data > 0 &&
                  layout.global_batch > 0 && layout.micro_batch > 0 && layout.interleave > 0,
              input, "layout: degrees and batches must be positive");
  WEIR_EXPECT(
      layout.zero_stage >= 0 && layout.zero_stage <= 3, input,
      "layout: found ZeRO stage " + std::to_string(layout.zero_stage) + "; expected 0 to 3");
  expect_divides(layout.tensor, model.num_heads, "heads over tensor parallelism");
  expect_divides(layout.context, model.sequence, "sequence over context parallelism");
  expect_divides(layout.data * layout.micro_batch, layout.global_batch,
                 "global batch over data parallelism times micro-batch");
  check_experts(layout, model);
  WEIR_EXPECT(layout.pipeline <= model.num_layers, input,
              "layout: " + std::to_string(layout.pipeline) + " stages for " +
                  std::to_string(model.num_layers) + " layers");
  WEIR_EXPECT(layout.interleave == 1 || layout.schedule == Schedule::interleaved, input,
              "layout: several chunks per stage need the schedule 'interleaved'");
  if (layout.schedule == Schedule::interleaved) {
    expect_divides(layout.pipeline, layout.global_batch / (layout.data * layout.micro_batch),
                   "micro-batches over stages, as the interleaved schedule needs it");
  }
}

double bubble_micro_batches(const Layout& layout) {
  const auto others = static_cast<double>(layout.pipeline - 1);
  switch (layout.schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b: return others;
    case Schedule::interleaved: return others / static_cast<double>(layout.interleave);
    case Schedule::zb_h1:
      return others / 3;  // forward, gradient of input, of weights: one third each
    case Schedule::zb_v: return 0;
  }
  return others;
}

double micro_batches_in_flight(const Layout& layout) {
  const auto p = static_cast<double>(layout.pipeline);
  const double m = layout.num_micro_batches();
  switch (layout.schedule) {
    case Schedule::gpipe: return m;
    case Schedule::interleaved:
      return std::min(m, p * (1 + (p - 1) / (p * static_cast<double>(layout.interleave))));
    default: return std::min(m, p);
  }
}

}  // namespace weir::training
