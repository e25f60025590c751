// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/iteration_time.hpp>

#include <gtest/gtest.h>

namespace weir::training {

namespace {

/// A machine on which nothing but multiplying takes time, at half of 100 TF.
Machine ideal_machine() {
  Machine machine;
  machine.peak_flops = 100e12;
  machine.matmul_efficiency = 0.5;
  machine.tile = 0;
  machine.memory_bytes_per_second = 1e30;
  machine.launch_seconds = 1e-30;
  machine.optimizer_seconds = 0;
  machine.node_bytes_per_second = 1e30;
  machine.node_latency_seconds = 0;
  machine.network_bytes_per_second = 1e30;
  machine.network_tensor_bytes_per_second = 1e30;
  return machine;
}

Layout layout_of(std::int64_t tensor, std::int64_t pipeline, std::int64_t data) {
  Layout layout;
  layout.tensor = tensor;
  layout.pipeline = pipeline;
  layout.data = data;
  layout.global_batch = 512;
  layout.micro_batch = 2;
  layout.recompute = Recompute::full;
  return layout;
}

double seconds_of(const Layout& layout, const Machine& machine, const Software& software = {}) {
  return predict(built_in_model("megatron-18.4b"), layout, machine, software).total();
}

// The oracle is the count of operations, which knows nothing of layers and stages.
TEST(IterationTimeTest, IdealMachinesTakeTheTimeOfTheirOperations) {
  const Transformer& model = built_in_model("megatron-18.4b");
  for (const Layout& layout : {layout_of(1, 1, 1), layout_of(8, 1, 4), layout_of(2, 1, 64)}) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      Layout own = layout;
      own.recompute = recompute;
      const double expected =
          hardware_flops(model, 512, recompute) / (50e12 * static_cast<double>(own.num_devices()));
      EXPECT_NEAR(seconds_of(own, ideal_machine()), expected, 1e-9 * expected);
    }
  }
}

TEST(IterationTimeTest, APipelineWaitsAsItsScheduleSays) {
  Transformer model = built_in_model("megatron-18.4b");
  model.vocabulary = 1;  // all stages alike
  Layout layout = layout_of(1, 4, 1);
  const double busy = predict(model, layout_of(1, 1, 1), ideal_machine(), {}).total() / 4;
  const auto seconds = [&] { return predict(model, layout, ideal_machine(), {}).total(); };
  EXPECT_NEAR(seconds(), busy * (256 + 3) / 256, 1e-4 * busy);
  layout.schedule = Schedule::interleaved;
  layout.interleave = 5;
  EXPECT_NEAR(seconds(), busy * (256 + 0.6) / 256, 1e-4 * busy);
  layout.schedule = Schedule::zb_v;
  layout.interleave = 1;
  EXPECT_NEAR(seconds(), busy, 1e-4 * busy);
}

TEST(IterationTimeTest, TheBreakdownSumsToTheTotal) {
  const IterationTime time =
      predict(built_in_model("megatron-18.4b"), layout_of(8, 4, 2), Machine{}, {});
  EXPECT_DOUBLE_EQ(time.total(), time.matrices + time.attention + time.elementwise + time.logits +
                                     time.launch + time.tensor + time.context + time.sends +
                                     time.bubble + time.data + time.optimizer + time.slowdown);
  for (const double part : {time.matrices, time.attention, time.elementwise, time.logits,
                            time.tensor, time.sends, time.bubble, time.data, time.optimizer}) {
    EXPECT_GT(part, 0);
  }
}

TEST(IterationTimeTest, EachOverlapSavesTime) {
  Layout layout = layout_of(8, 4, 8);
  layout.schedule = Schedule::interleaved;
  layout.interleave = 2;
  Software software;
  double before = seconds_of(layout, Machine{}, software);
  const auto expect_faster = [&](const char* what) {
    const double now = seconds_of(layout, Machine{}, software);
    EXPECT_LT(now, before) << what;
    before = now;
  };
  software.tensor_forward_overlap = 0.5;
  expect_faster("tensor, forward");
  software.tensor_backward_overlap = 0.5;
  expect_faster("tensor, backward");
  software.has_scattered_sends = true;
  expect_faster("scattered sends");
  software.has_pipeline_overlap = true;
  expect_faster("pipeline");
  software.has_data_overlap = true;
  expect_faster("data");
  software.has_fused_attention = true;
  expect_faster("attention");
  software.attention_window = 512;
  expect_faster("window");
  software.has_parallel_block = true;
  expect_faster("parallel block");
}

TEST(IterationTimeTest, TensorGroupsAcrossNodesAreSlow) {
  EXPECT_GT(seconds_of(layout_of(16, 1, 4), Machine{}), 1.2 * seconds_of(layout_of(8, 1, 8), {}));
}

TEST(IterationTimeTest, SharedNodesSlowDownFromTheSecondDoubling) {
  Machine shared = ideal_machine();
  shared.sharing_slowdown = 0.1;
  const auto slowdown_of = [&](std::int64_t tensor, std::int64_t data) {
    const Layout layout = layout_of(tensor, 1, data);
    return seconds_of(layout, shared) / seconds_of(layout, ideal_machine());
  };
  EXPECT_NEAR(slowdown_of(8, 64), 1, 1e-9);    // one rank of the group on each node
  EXPECT_NEAR(slowdown_of(4, 4), 1, 1e-9);     // two nodes
  EXPECT_NEAR(slowdown_of(4, 32), 1.3, 1e-9);  // sixteen
}

TEST(IterationTimeTest, LaunchesSetThePaceOfSmallLayers) {
  const Transformer small = gpt("small", 12, 256, 4);
  Machine machine;
  machine.launch_seconds = 1e-3;
  Layout layout = layout_of(1, 1, 1);
  layout.micro_batch = 1;
  // Forward, again, and backward with its two halves: four passes over twelve layers.
  const double launches = 512 * 12 * 4 * 1e-3;
  const double seconds = predict(small, layout, machine, {}).total();
  EXPECT_GT(seconds, launches);
  EXPECT_LT(seconds, 1.2 * launches);
}

TEST(IterationTimeTest, UtilisationOfAnIdealMachineIsItsEfficiency) {
  const Transformer& model = built_in_model("megatron-18.4b");
  Layout layout = layout_of(8, 1, 1);
  layout.recompute = Recompute::none;
  EXPECT_NEAR(model_flops_utilisation(model, layout, seconds_of(layout, ideal_machine()), 100e12),
              0.5, 1e-9);
}

// The first and the last stage sum the gradients of the embedding that they share, cut by tensor
// ranks, over one adapter of the eight; in one stage there is nothing to sum.
TEST(IterationTimeTest, TiedEmbeddingsAreSummedBetweenStages) {
  Transformer tied = built_in_model("gpt3-175b");
  Transformer untied = tied;
  untied.has_tied_embedding = false;
  Layout layout;
  layout.tensor = 8;
  layout.pipeline = 8;
  layout.global_batch = 8;
  Machine machine;
  machine.network_bytes_per_second = 80e9;
  const auto data = [&](const Transformer& model) {
    return predict(model, layout, machine, {}).data;
  };
  EXPECT_NEAR(data(tied) - data(untied), 2 * 4 * 51200.0 * 12288 / 8 / 10e9, 1e-9);
  layout.pipeline = 1;
  EXPECT_EQ(data(tied), data(untied));
}

}  // namespace

}  // namespace weir::training
