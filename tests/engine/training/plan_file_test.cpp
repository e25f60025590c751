// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/plan_file.hpp>

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>

namespace weir::training {

namespace {

/// The best plan of GPT-3 175B with the given schedule.
PlacedPlan plan_of(const std::string& cluster, Schedule schedule) {
  ParallelPlanRequest request;
  request.model = built_in_model("gpt3-175b");
  const schedule::Topology topology = schedule::parse_cluster(cluster);
  request.num_devices = static_cast<std::int64_t>(topology.num_devices());
  request.global_batch = 192;
  request.memory_bytes = 80e9;
  request.machine = machine_of(topology, {});
  request.software.has_scattered_sends = true;
  request.constraints.schedule = schedule;
  request.constraints.pipeline = 8;
  return place_in_order(request, plan_parallel(request, 1), topology);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

void expect_refused(const std::string& text, const std::string& part) {
  try {
    parse_plan(text, "plan.json");
    FAIL() << "expected an error with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(PlanFileTest, IsReadAsItWasWritten) {
  for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved,
                                  Schedule::zb_h1, Schedule::zb_v}) {
    PlacedPlan plan = plan_of("a100-8x16", schedule);
    plan.placements = {{"Scotch, refined", 1.5, 2e12, 0.25}, {"tensor-data", 1.75, 3e12, 0.5}};
    const std::string text = to_json(plan);
    const PlacedPlan read = parse_plan(text, "plan.json");
    EXPECT_EQ(to_json(read), text);
    EXPECT_EQ(read.schedule.ticks, plan.schedule.ticks);
    EXPECT_EQ(read.device_of_rank, plan.device_of_rank);
    ASSERT_EQ(read.placements.size(), 2U);
    EXPECT_EQ(read.placements[1].source, "tensor-data");
    EXPECT_EQ(read.placements[1].hop_bytes, 3e12);
    EXPECT_EQ(read.plan.time.total(), plan.plan.time.total());
    EXPECT_EQ(read.plan.memory.total_bytes(), plan.plan.memory.total_bytes());
    EXPECT_EQ(read.cluster.common_level(0, 8), 0U);
    EXPECT_EQ(read.cluster.common_level(0, 7), 1U);
  }
}

TEST(PlanFileTest, ManyRanksAreWrittenAsAnOrder) {
  PlacedPlan plan = plan_of("a100-8x192", Schedule::one_f_one_b);
  const std::string in_order = to_json(plan);
  EXPECT_NE(in_order.find("\"in order\""), std::string::npos);
  EXPECT_LT(in_order.size(), 20000U);
  std::reverse(plan.device_of_rank.begin(), plan.device_of_rank.end());
  plan.cluster.scale_speed(17, 0.5);
  const PlacedPlan read = parse_plan(to_json(plan), "plan.json");
  EXPECT_EQ(read.device_of_rank, plan.device_of_rank);
  EXPECT_EQ(read.cluster.devices()[17].speed, 0.5);
  EXPECT_EQ(read.cluster.devices()[16].speed, 1);
}

TEST(PlanFileTest, SaysWhereAFileIsNoPlan) {
  const std::string text = to_json(plan_of("a100-8x16", Schedule::zb_h1));
  expect_refused("{\n\"format\": \n!", "plan.json:3: found what is no JSON");
  expect_refused("[1]", "plan.json: found no format");
  expect_refused("{\"format\": \"weir-plan\"}", "expected weir-parallel-plan");
  expect_refused(replaced(text, "\"version\": 2", "\"version\": 9"), "plan.json: version: found 9");
  expect_refused(replaced(text, "\"heads\": 96", "\"heads\": 0"), "heads: found 0");
  expect_refused(replaced(text, "\"kv_heads\": 96", "\"kv_heads\": 7"), "heads");
  expect_refused(replaced(text, "\"transformer\"", "\"sizes\""), "found no transformer");
  expect_refused(replaced(text, "\"pipeline\": 8", "\"pipeline\": 0"), "pipeline: found 0");
  expect_refused(replaced(text, "\"pipeline\": 8", "\"pipeline\": 8.5"), "pipeline: found 8.5");
  expect_refused(replaced(text, "\"schedule\": \"zb-h1\"", "\"schedule\": \"fast\""),
                 "one of gpipe, 1f1b, interleaved, zb-h1, zb-v");
  expect_refused(replaced(text, "\"rank\": 1,\n   \"device\": 1", "\"rank\": 1,\n   \"device\": 0"),
                 "ranks 1: device: found 0 again");
  expect_refused(replaced(text, "\"device\": 127", "\"device\": 128"), "from 0 to 127");
  expect_refused(replaced(text, "\"F0 F1 F2", "\"F0 X1 F2"), "ticks 0: found \"X1\"");
  expect_refused(replaced(text, "\"F0 I0 F1", "\"I0 F0 F1"), "wait for each other");
  expect_refused(replaced(text, "\"F0 F1 F2", "\"F0 F2"), "found no forward 1");
  expect_refused(replaced(text, "\"peak_flops\"", "\"peak\""), "machine: found no peak_flops");
  expect_refused(replaced(text, "\"global_batch\": 192", "\"global_batch\": 1073741824"), "passes");
}

// A model that is not built in comes back as it was: its name tells nothing.
TEST(PlanFileTest, CarriesItsModel) {
  for (const char* name : {"deepseek-v3", "mixtral-8x7b", "llama3-8b"}) {
    PlacedPlan plan = plan_of("a100-8x16", Schedule::one_f_one_b);
    plan.model = built_in_model(name);
    plan.model.name = "imported";
    plan.model.sequence = 1024;
    plan.model.vocabulary = 1000;
    if (plan.model.has_experts()) {
      plan.model.experts.load = 1.25;
      plan.plan.layout.expert = 8;
    }
    const PlacedPlan read = parse_plan(to_json(plan), "plan.json");
    EXPECT_EQ(read.model.name, "imported");
    EXPECT_EQ(num_parameters(read.model), num_parameters(plan.model));
    EXPECT_EQ(num_active_parameters(read.model), num_active_parameters(plan.model));
    EXPECT_EQ(read.model.experts.most_nodes, plan.model.experts.most_nodes);
    EXPECT_EQ(predict(read.model, plan.layout(), plan.machine, plan.software).total(),
              predict(plan.model, plan.layout(), plan.machine, plan.software).total());
    plan.model.vocabulary = 2000;
    EXPECT_NE(num_parameters(read.model), num_parameters(plan.model));
  }
}

// What is changed at random is read, or refused with an error; nothing else happens.
TEST(PlanFileTest, DamagedFilesAreReadOrRefused) {
  const std::string text = to_json(plan_of("a100-8x8", Schedule::zb_v));
  std::mt19937_64 random(7);
  const std::string_view bytes = "0123456789-.eFBIW \"[]{},:\n\xff";
  int num_refused = 0;
  constexpr int num_files = 600;
  for (int i = 0; i < num_files; ++i) {
    std::string damaged = text;
    for (std::size_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0: damaged[at] = bytes[random() % bytes.size()]; break;
        case 1: damaged.erase(at, 1 + random() % 40); break;
        default: damaged.insert(at, 1, bytes[random() % bytes.size()]);
      }
    }
    try {
      to_json(parse_plan(damaged, "plan.json"));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++num_refused;
    }
  }
  EXPECT_GT(num_refused, num_files / 2);
}

}  // namespace

}  // namespace weir::training
