// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/parallel_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::training {

namespace {

ParallelPlanRequest request_of(const std::string& model, std::int64_t num_nodes,
                               std::int64_t batch) {
  ParallelPlanRequest request;
  request.model = built_in_model(model);
  request.num_devices = 8 * num_nodes;
  request.global_batch = batch;
  request.memory_bytes = 80e9;
  request.software.has_scattered_sends = true;
  return request;
}

ParallelPlan plan_of(const ParallelPlanRequest& request, const Layout& layout) {
  return {layout, predict(request.model, layout, request.machine, request.software),
          device_memory(request.model, layout, request.software.has_fused_attention)};
}

bool fits(const ParallelPlanRequest& request, const Layout& layout) {
  return plan_of(request, layout).memory.total_bytes() <= request.memory_bytes;
}

/// All layouts by counting through every number: the oracle.
std::optional<ParallelPlan> best_by_brute_force(const ParallelPlanRequest& request) {
  std::optional<ParallelPlan> best;
  const std::int64_t n = request.num_devices;
  Layout layout;
  layout.global_batch = request.global_batch;
  const auto take = [&] {
    if (!is_considered(request, layout)) return;
    EXPECT_NO_THROW(check(layout, request.model)) << describe(layout);
    if (!fits(request, layout)) return;
    const ParallelPlan plan = plan_of(request, layout);
    if (!best || is_better(plan, *best)) best = plan;
  };
  for (layout.tensor = 1; layout.tensor <= n; ++layout.tensor)
    for (layout.context = 1; layout.tensor * layout.context <= n; ++layout.context)
      for (layout.pipeline = 1; layout.tensor * layout.context * layout.pipeline <= n;
           ++layout.pipeline)
        for (layout.data = 1; layout.num_devices() <= n; ++layout.data)
          for (layout.micro_batch = 1; layout.micro_batch <= layout.global_batch;
               ++layout.micro_batch)
            for (layout.interleave = 1; layout.interleave <= request.model.num_layers;
                 ++layout.interleave)
              for (int schedule = 0; schedule <= 4; ++schedule)
                for (int recompute = 0; recompute <= 2; ++recompute)
                  for (layout.zero_stage = 0; layout.zero_stage <= 3; ++layout.zero_stage) {
                    layout.schedule = static_cast<Schedule>(schedule);
                    layout.recompute = static_cast<Recompute>(recompute);
                    layout.has_sequence_parallelism = layout.tensor > 1;
                    for (layout.expert = 1;
                         layout.expert <=
                         std::max<std::int64_t>(request.model.experts.num_routed, 1);
                         ++layout.expert) {
                      take();
                    }
                  }
  return best;
}

TEST(ParallelPlan, EqualsBruteForce) {
  std::mt19937 random(7);
  int num_feasible = 0;
  for (int i = 0; i < 120; ++i) {
    ParallelPlanRequest request;
    request.model =
        gpt("small", 2 + 2 * static_cast<std::int64_t>(random() % 4), 1024, 8 << (random() % 2));
    request.machine.devices_per_node = 1 << (random() % 3);
    request.num_devices = request.machine.devices_per_node * (1 + random() % 3);
    request.global_batch = 1 + static_cast<std::int64_t>(random() % 12);
    request.memory_bytes = 1e9 * static_cast<double>(1 + random() % 8);
    if (i % 3 == 2) {
      request.model.experts = {.num_routed = 4, .num_chosen = 2, .feed_forward = 2048};
    }
    request.software.has_context_ring = i % 5 == 0;
    // The best of each schedule too, not of the best schedule alone.
    if (i % 2 == 1) request.constraints.schedule = static_cast<Schedule>(i / 2 % 5);
    const auto expected = best_by_brute_force(request);
    if (!expected) {
      EXPECT_THROW(plan_parallel(request, 1), Error);
      continue;
    }
    ++num_feasible;
    const ParallelPlan found = plan_parallel(request, 1).best.front();
    EXPECT_EQ(describe(found.layout), describe(expected->layout));
    EXPECT_EQ(found.time.total(), expected->time.total());
  }
  EXPECT_GE(num_feasible, 60);
}

/// The rules of [Narayanan21, 3]: tensor ranks within a node, no more model parallelism than memory
/// asks for, data parallelism with the rest, the micro-batch by the pipeline's length, interleaving
/// where micro-batches come in multiples of the stages.
std::optional<Layout> by_megatrons_rules(const ParallelPlanRequest& request, Recompute recompute) {
  std::optional<Layout> chosen;
  Layout layout;
  layout.global_batch = request.global_batch;
  layout.recompute = recompute;
  for (layout.tensor = 1; layout.tensor <= request.machine.devices_per_node; layout.tensor *= 2) {
    layout.has_sequence_parallelism = layout.tensor > 1;
    // As many experts to a rank as its tensor group needs.
    layout.expert = request.model.has_experts() ? layout.tensor : 1;
    for (layout.pipeline = 1; layout.tensor * layout.pipeline <= request.num_devices;
         ++layout.pipeline) {
      layout.data = request.num_devices / (layout.tensor * layout.pipeline);
      const std::int64_t size = layout.tensor * layout.pipeline;
      // Of equal products the one with more tensor ranks, which the loop comes to later.
      if (is_considered(request, layout) && fits(request, layout) &&
          (!chosen || size <= chosen->tensor * chosen->pipeline)) {
        chosen = layout;
      }
    }
  }
  if (!chosen) return chosen;
  const auto seconds = [&](const Layout& each) {
    const LayerTime time = predict_layer(request.model, each, request.machine, request.software);
    return (each.num_micro_batches() + static_cast<double>(each.pipeline) - 1) *
           (time.forward + time.backward);
  };
  Layout best = *chosen;
  for (layout = *chosen; layout.micro_batch <= request.global_batch; ++layout.micro_batch) {
    if (is_considered(request, layout) && fits(request, layout) &&
        seconds(layout) < seconds(best)) {
      best = layout;
    }
  }
  layout = best;
  layout.schedule = Schedule::interleaved;
  for (layout.interleave = request.model.num_layers; layout.interleave > 1; --layout.interleave) {
    if (is_considered(request, layout) && fits(request, layout)) return layout;
  }
  return best;
}

TEST(ParallelPlan, NeverWorseThanMegatronsRules) {
  std::mt19937 random(1);
  int num_compared = 0;
  while (num_compared < 500) {
    const auto& models = built_in_models();
    ParallelPlanRequest request =
        request_of(models[random() % models.size()].name, std::int64_t{1} << (random() % 8),
                   std::int64_t{32} << (random() % 6));
    request.memory_bytes = 1e9 * static_cast<double>(40 + random() % 100);
    request.machine.devices_per_node = 4 << (random() % 2);
    request.machine.network_bytes_per_second = 10e9 * static_cast<double>(1 + random() % 30);
    const auto rules = by_megatrons_rules(request, static_cast<Recompute>(random() % 3));
    if (!rules) continue;
    ++num_compared;
    const double seconds = plan_of(request, *rules).time.total();
    EXPECT_LE(plan_parallel(request, 1).best.front().time.total(), seconds)
        << request.model.name << " on " << request.num_devices << ": " << describe(*rules);
  }
}

TEST(ParallelPlan, AlternativesAreOrderedAndFit) {
  const ParallelPlanRequest request = request_of("gpt3-175b", 64, 1536);
  const ParallelPlans plans = plan_parallel(request, 10);
  ASSERT_EQ(plans.best.size(), 10U);
  EXPECT_GT(plans.num_considered, plans.num_fitting);
  for (std::size_t i = 0; i < plans.best.size(); ++i) {
    const ParallelPlan& plan = plans.best[i];
    EXPECT_NO_THROW(check(plan.layout, request.model));
    EXPECT_EQ(plan.layout.num_devices(), 512);
    EXPECT_LE(plan.memory.total_bytes(), request.memory_bytes);
    if (i > 0) {
      EXPECT_TRUE(is_better(plans.best[i - 1], plan));
    }
    double seconds = 0;
    for (const NamedPart& part : parts_of(plan.time)) seconds += part.value;
    EXPECT_NEAR(seconds, plan.time.total(), 1e-9 * seconds);
    double bytes = 0;
    for (const NamedPart& part : parts_of(plan.memory)) bytes += part.value;
    EXPECT_NEAR(bytes, plan.memory.total_bytes(), 1e-9 * bytes);
  }
}

TEST(ParallelPlan, EveryConstraintIsKept) {
  const ParallelPlanRequest free = request_of("megatron-22b", 4, 64);
  ParallelPlanRequest request = free;
  request.constraints.tensor = 4;
  EXPECT_EQ(plan_parallel(request, 1).best.front().layout.tensor, 4);
  request.constraints.pipeline = 4;
  EXPECT_EQ(plan_parallel(request, 1).best.front().layout.pipeline, 4);
  request.constraints.schedule = Schedule::gpipe;
  EXPECT_EQ(plan_parallel(request, 1).best.front().layout.schedule, Schedule::gpipe);
  request.constraints.recompute = Recompute::full;
  EXPECT_EQ(plan_parallel(request, 1).best.front().layout.recompute, Recompute::full);
  request.constraints.zero_stage = 1;
  EXPECT_EQ(plan_parallel(request, 1).best.front().layout.zero_stage, 1);
  request = free;
  request.constraints.data = 2;
  request.constraints.context = 2;
  request.constraints.micro_batch = 2;
  const Layout layout = plan_parallel(request, 1).best.front().layout;
  EXPECT_EQ(layout.data, 2);
  EXPECT_EQ(layout.context, 2);
  EXPECT_EQ(layout.micro_batch, 2);
}

TEST(ParallelPlan, WhatCannotBeIsRefused) {
  ParallelPlanRequest request = request_of("megatron-1t", 1, 8);
  try {
    plan_parallel(request, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    const std::string text = error.what();
    EXPECT_NE(text.find("most are optimizer"), std::string::npos) << text;
    EXPECT_NE(text.find("which has 80000000000"), std::string::npos) << text;
  }
  request.constraints.tensor = 7;
  try {
    plan_parallel(request, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
  }
}

/// A number up to `most`, small ones as likely as large ones, mostly a power of two: others divide
/// hardly anything.
std::int64_t any_size(std::mt19937_64& random, std::int64_t most) {
  const double exponent = std::uniform_real_distribution<>(0, std::log2(most))(random);
  return std::min(most, static_cast<std::int64_t>(
                            std::exp2(random() % 5 == 0 ? exponent : std::floor(exponent))));
}

Transformer any_model(std::mt19937_64& random) {
  const auto& models = built_in_models();
  if (random() % 2 == 0) return models[random() % models.size()];
  Transformer model = gpt("any", any_size(random, 200), any_size(random, 65536), 1);
  model.head_size = any_size(random, 512);
  model.num_kv_heads = any_size(random, 64);
  model.num_heads = model.num_kv_heads * any_size(random, 32);
  model.feed_forward = any_size(random, 1 << 18);
  model.vocabulary = any_size(random, 1 << 20);
  model.sequence = any_size(random, 1 << 24);
  model.is_gated = random() % 2 == 0;
  model.has_tied_embedding = random() % 2 == 0;
  if (random() % 3 == 0) {
    model.experts.num_routed = any_size(random, 512);
    model.experts.num_chosen = any_size(random, 16);  // more than there are: refused
    model.experts.num_shared = static_cast<std::int64_t>(random() % 3);
    model.experts.feed_forward = any_size(random, 1 << 16);
    model.experts.num_dense_layers = static_cast<std::int64_t>(random() % 4);
    model.experts.most_nodes = static_cast<std::int64_t>(random() % 5);
    model.experts.load = 1 + static_cast<double>(random() % 3);
  }
  if (random() % 4 == 0) {
    model.latent = {any_size(random, 2048), any_size(random, 1024), any_size(random, 128),
                    any_size(random, 256)};
    model.num_kv_heads = model.num_heads;
  }
  return model;
}

ParallelPlanRequest any_request(std::mt19937_64& random) {
  ParallelPlanRequest request;
  request.model = any_model(random);
  request.machine.devices_per_node = any_size(random, 72);
  request.num_devices = request.machine.devices_per_node * any_size(random, 1536);
  request.global_batch = any_size(random, 1 << 14);
  request.memory_bytes = random() % 4 == 0 ? 0 : 1e9 * static_cast<double>(any_size(random, 300));
  request.machine.network_bytes_per_second = 1e9 * static_cast<double>(any_size(random, 800));
  request.machine.node_bytes_per_second = 1e9 * static_cast<double>(any_size(random, 900));
  request.software.has_context_ring = random() % 2 == 0;
  request.software.has_fused_attention = random() % 2 == 0;
  request.software.has_data_overlap = random() % 2 == 0;
  const auto perhaps = [&](auto& wanted, std::int64_t most) {
    if (random() % 6 == 0) wanted = any_size(random, most);
  };
  perhaps(request.constraints.tensor, 16);
  perhaps(request.constraints.context, 64);
  perhaps(request.constraints.pipeline, 64);
  perhaps(request.constraints.data, 1024);
  perhaps(request.constraints.expert, 256);
  perhaps(request.constraints.micro_batch, 16);
  if (random() % 6 == 0) request.constraints.schedule = static_cast<Schedule>(random() % 5);
  if (random() % 6 == 0) request.constraints.recompute = static_cast<Recompute>(random() % 3);
  if (random() % 6 == 0) request.constraints.zero_stage = static_cast<int>(random() % 4);
  return request;
}

// Scores of 131,072 tokens with each other fill any device; fused attention does not keep them.
TEST(ParallelPlan, FusedAttentionPlansLongSamples) {
  ParallelPlanRequest request = request_of("llama3-8b", 4, 8);
  request.model.sequence = 131072;
  request.constraints.recompute = Recompute::none;
  EXPECT_THROW(plan_parallel(request, 1), Error);
  request.software.has_fused_attention = true;
  request.software.has_context_ring = true;
  const ParallelPlan plan = plan_parallel(request, 1).best.front();
  EXPECT_EQ(plan.memory.total_bytes(),
            device_memory(request.model, plan.layout, true).total_bytes());
  EXPECT_LE(plan.memory.total_bytes(), request.memory_bytes);
}

// WEIR_NUM_FUZZED=10000 takes more of them.
TEST(ParallelPlan, AnyRequestIsPlannedOrRefused) {
  const char* wanted = std::getenv("WEIR_NUM_FUZZED");
  const int num_requests = wanted ? std::atoi(wanted) : 1000;
  std::mt19937_64 random(11);
  int num_planned = 0;
  int num_too_large = 0;
  for (int i = 0; i < num_requests; ++i) {
    const ParallelPlanRequest request = any_request(random);
    try {
      const ParallelPlans plans = plan_parallel(request, 3);
      ++num_planned;
      for (const ParallelPlan& plan : plans.best) {
        EXPECT_TRUE(is_considered(request, plan.layout)) << i;
        EXPECT_NO_THROW(check(plan.layout, request.model)) << i;
        EXPECT_TRUE(std::isfinite(plan.time.total()) && plan.time.total() > 0) << i;
        EXPECT_TRUE(request.memory_bytes == 0 || plan.memory.total_bytes() <= request.memory_bytes)
            << i;
      }
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::input || error.code() == ErrorCode::usage) << i;
      const std::string text = error.what();
      if (text.find("fits in memory") == std::string::npos) continue;
      ++num_too_large;
      EXPECT_NE(text.find("bytes on a device of its "), std::string::npos) << text;
      EXPECT_NE(text.find(" stage, which has "), std::string::npos) << text;
    }
  }
  RecordProperty("planned", num_planned);
  RecordProperty("too_large", num_too_large);
  EXPECT_GT(num_planned, num_requests / 20);
  EXPECT_GT(num_too_large, num_requests / 50);
}

TEST(ParallelPlan, ExpertRanksAreSearchedAndKept) {
  ParallelPlanRequest request = request_of("deepseek-v3", 256, 15360);
  request.constraints.pipeline = 16;
  const Layout free = plan_parallel(request, 1).best.front().layout;
  EXPECT_GT(free.expert, 1);
  request.constraints.expert = 64;
  const Layout kept = plan_parallel(request, 1).best.front().layout;
  EXPECT_EQ(kept.expert, 64);
  request.constraints.expert = 3;
  EXPECT_THROW(plan_parallel(request, 1), Error);
}

TEST(ParallelPlan, MachineOfACluster) {
  schedule::Topology cluster = schedule::parse_cluster("a100-8x4");
  const Machine machine = machine_of(cluster, {});
  EXPECT_EQ(machine.devices_per_node, 8);
  EXPECT_DOUBLE_EQ(machine.node_bytes_per_second, 231e9);
  EXPECT_DOUBLE_EQ(machine.network_bytes_per_second, 160e9);
  cluster.scale_speed(5, 0.5);
  EXPECT_DOUBLE_EQ(machine_of(cluster, {}).peak_flops, 156e12);
  EXPECT_THROW(machine_of(cluster.first(12), {}), Error);  // nodes of 8 and of 4
  EXPECT_THROW(machine_of(schedule::parse_cluster("8x2@25,3"), {}), Error);
  EXPECT_EQ(machine_of(schedule::parse_cluster("8x2@25,3"), 1e12).peak_flops, 1e12);
}

}  // namespace

}  // namespace weir::training
