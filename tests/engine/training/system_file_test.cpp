// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/system_file.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/parallel_plan.hpp>

namespace weir::training {

namespace {

const std::string text = R"({
  "matrix": {"float16": {"tflops": 312, "gflops_efficiency": [[128, 0.95], [16, 0.9], [0, 0.1]]}},
  "vector": {"float16": {"tflops": 78, "gflops_efficiency": [[0, 0.1]]}},
  "mem1": {"GiB": 80, "GBps": 2000, "MB_efficiency": [[0, 0.3], [100, 0.9]]},
  "networks": [
    {"bandwidth": 300, "efficiency": 0.65, "size": 8, "latency": 1e-5},
    {"bandwidth": 25, "efficiency": 0.9, "size": 64, "latency": 2e-5}
  ]})";

std::string replaced(std::string whole, const std::string& from, const std::string& to) {
  const auto at = whole.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return whole.replace(at, from.size(), to);
}

void expect_refused(const std::string& file, const std::string& part) {
  try {
    parse_system_file("system.json", file);
    FAIL() << "expected an error with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(SystemFileTest, CalculonsNetworksAreLevels) {
  const auto system = parse_system_file("system.json", text);
  ASSERT_TRUE(system);
  const schedule::Topology& cluster = system->cluster;
  EXPECT_EQ(cluster.num_devices(), 64U);
  ASSERT_EQ(cluster.levels().size(), 2U);
  EXPECT_EQ(cluster.link_between(0, 7).bandwidth, 300e9);
  EXPECT_EQ(cluster.link_between(7, 8).bandwidth, 25e9);
  EXPECT_EQ(cluster.link_between(7, 8).latency_seconds, 2e-5);
  EXPECT_EQ(cluster.devices()[63].memory_bytes, 80 * 1073741824.0);
}

TEST(SystemFileTest, TheMachineReachesTheFilesShares) {
  const auto system = parse_system_file("system.json", text);
  ASSERT_TRUE(system);
  Machine machine = machine_of(*system, system->cluster.first(16), {});
  EXPECT_EQ(machine.devices_per_node, 8);
  EXPECT_EQ(machine.peak_flops, 312e12);
  EXPECT_EQ(machine.matmul_efficiency, 0.95);
  EXPECT_DOUBLE_EQ(machine.memory_bytes_per_second, 0.9 * 2000e9);
  EXPECT_DOUBLE_EQ(machine.node_bytes_per_second, 0.65 * 300e9);
  EXPECT_DOUBLE_EQ(machine.node_latency_seconds, 1e-5);
  EXPECT_DOUBLE_EQ(machine.network_bytes_per_second, 8 * 0.9 * 25e9);
  EXPECT_DOUBLE_EQ(machine.network_tensor_bytes_per_second, 8 * 0.9 * 25e9);
  machine = machine_of(*system, system->cluster, 400e12);
  EXPECT_EQ(machine.peak_flops, 400e12);
  schedule::Topology slow = system->cluster;
  slow.scale_speed(3, 0.5);
  EXPECT_EQ(machine_of(*system, slow, {}).peak_flops, 156e12);
  EXPECT_DOUBLE_EQ(machine_of(*system, slow, {}).memory_bytes_per_second, 0.5 * 0.9 * 2000e9);
}

TEST(SystemFileTest, WhatIsNoSystemIsLeftToOthers) {
  EXPECT_FALSE(parse_system_file("a", "topology: [ Ring ]\nnpus_count: [ 8 ]\n"));
  EXPECT_FALSE(parse_system_file("a", "{\"num_blocks\": 3}"));
  EXPECT_FALSE(parse_system_file("a", "{broken"));
  EXPECT_FALSE(parse_system_file("a", ""));
}

TEST(SystemFileTest, SaysWhichKeyCannotBe) {
  expect_refused(replaced(text, "\"tflops\": 312", "\"tflops\": -1"),
                 "system.json: matrix/float16/tflops: found -1; expected a number above 0");
  expect_refused(replaced(text, "\"GiB\": 80, ", ""), "mem1/GiB: found nothing");
  expect_refused(replaced(text, "\"efficiency\": 0.9", "\"efficiency\": 1.5"),
                 "networks/1/efficiency: found 1.5; expected a number above 0, at most 1");
  expect_refused(replaced(text, "\"size\": 64", "\"size\": 60"),
                 "networks/1/size: found 60; expected a multiple of 8");
  expect_refused(replaced(text, "[128, 0.95]", "[128]"), "gflops_efficiency/0/1: found nothing");
  expect_refused("{\"networks\": []}", "networks: found none");
}

TEST(SystemFileTest, CalculonsOwnFileIsRead) {
  const char* const data = std::getenv("WEIR_TEST_DATA");
  const std::string path =
      (data == nullptr ? std::string() : data) + "/training/calculon/system-a100_80g.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto system = read_system_file(path);
  ASSERT_TRUE(system);
  EXPECT_EQ(system->cluster.num_devices(), 65536U);
  EXPECT_DOUBLE_EQ(system->memory_bytes_per_second, 0.9 * 2048e9);
  ParallelPlanRequest request;
  request.model = built_in_model("gpt3-175b");
  request.num_devices = 64;
  request.global_batch = 64;
  request.memory_bytes = system->cluster.devices().front().memory_bytes;
  request.machine = machine_of(*system, system->cluster.first(64), {});
  EXPECT_GT(plan_parallel(request, 1).best.front().time.total(), 1);
}

}  // namespace

}  // namespace weir::training
