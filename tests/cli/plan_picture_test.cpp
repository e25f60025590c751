// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/plan_picture.hpp>

#include <string>

#include <gtest/gtest.h>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::cli {

namespace {

using simulation::PlanSimulation;
using training::PlacedPlan;

PlacedPlan plan_of(const std::string& cluster, training::Schedule schedule) {
  training::ParallelPlanRequest request;
  request.model = training::built_in_model("gpt3-175b");
  const schedule::Topology topology = schedule::parse_cluster(cluster);
  request.num_devices = static_cast<std::int64_t>(topology.num_devices());
  request.global_batch = request.num_devices;
  request.machine = training::machine_of(topology, {});
  request.constraints.tensor = 8;
  request.constraints.pipeline = 4;
  request.constraints.micro_batch = 1;
  request.constraints.schedule = schedule;
  return place_in_order(request, plan_parallel(request, 1), topology);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t number = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++number;
  return number;
}

/// Every element is closed in its turn, attributes are quoted, nothing is left over.
void expect_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (auto at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const auto end = xml.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    ASSERT_EQ(count(tag, "\"") % 2, 0U) << tag;
    const std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
    if (tag.starts_with('/')) {
      ASSERT_FALSE(open.empty()) << tag;
      ASSERT_EQ('/' + open.back(), name);
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(PlanPictureTest, HasARectangleForEachTickAndDevice) {
  const PlacedPlan plan = plan_of("a100-8x16", training::Schedule::zb_h1);
  const std::string svg = svg_of(plan, simulation::simulate(plan));
  expect_well_formed(svg);
  // 32 micro-batches on each of 4 ranks.
  EXPECT_EQ(count(svg, ": forward of micro-batch "), 128U);
  EXPECT_EQ(count(svg, ": backward-input of micro-batch "), 128U);
  EXPECT_EQ(count(svg, ": backward-weight of micro-batch "), 128U);
  EXPECT_EQ(count(svg, "<title>device "), 128U);
  EXPECT_EQ(count(svg, "device 8: rank 8, pipeline rank 1, data 0, context 0, tensor 0"), 1U);
  for (const char* part :
       {"<title id=\"plan-title\">gpt3-175b on a100-8x16, 128 devices</title>",
        "<desc id=\"plan-description\">", "role=\"img\"", ">rank 3<", ">time in s<", ">forward<",
        ">backward, gradients of weights<", ">waiting and sending<", ">exchange of gradients<",
        ">node 15<", "node: 16, 300.0 GB/s per device inside"}) {
    EXPECT_EQ(count(svg, part), 1U) << part;
  }
}

TEST(PlanPictureTest, IsAlikeForLikePlansAndNeedsNothingElse) {
  const PlacedPlan plan = plan_of("a100-8x16", training::Schedule::zb_v);
  const std::string page = html_of(plan, simulation::simulate(plan));
  EXPECT_EQ(page, html_of(plan, simulation::simulate(plan)));
  EXPECT_EQ(count(page, "http"), 1U);  // the namespace of SVG
  EXPECT_EQ(count(page, "<script"), 0U);
  EXPECT_EQ(count(page, "<html lang=\"en\">"), 1U);
  EXPECT_EQ(count(page, "<caption>Seconds of an iteration by cause</caption>"), 1U);
  const auto svg = page.find("<svg");
  expect_well_formed(page.substr(svg, page.find("</svg>") + 6 - svg));
}

// Many ticks and devices are drawn as one path for each colour.
TEST(PlanPictureTest, StaysSmallForManyDevices) {
  const PlacedPlan plan = plan_of("a100-8x64x24", training::Schedule::one_f_one_b);
  const std::string svg = svg_of(plan, simulation::simulate(plan));
  expect_well_formed(svg);
  EXPECT_LT(svg.size(), 1'000'000U);
  EXPECT_EQ(count(svg, ">switch 23<"), 1U);
  EXPECT_EQ(count(svg, "<title>device "), 0U);
}

TEST(PlanPictureTest, NamesCannotBreakIt) {
  PlacedPlan plan = plan_of("a100-8x16", training::Schedule::one_f_one_b);
  plan.cluster = schedule::Topology("<a> & \"b\"", plan.cluster.levels(), plan.cluster.devices());
  const std::string svg = svg_of(plan, simulation::simulate(plan));
  expect_well_formed(svg);
  EXPECT_NE(svg.find("&lt;a&gt; &amp; &quot;b&quot;"), std::string::npos);
}

}  // namespace

}  // namespace weir::cli

namespace weir::test {

namespace {

using PlanPictureCommandTest = Workplace;

TEST_F(PlanPictureCommandTest, IsWrittenByItsName) {
  const std::string plan = "plan gpt3-175b --cluster a100-8x16 --batch 128 --picture ";
  auto run = weir(plan + "plan.svg");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(read("plan.svg").starts_with("<svg"));
  run = weir(plan + "plan.html --json -");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("{")) << run.out;
  EXPECT_TRUE(read("plan.html").starts_with("<!DOCTYPE html>"));
  run = weir(plan + "plan.png");
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("--picture: found plan.png"), std::string::npos) << run.err;
  write("layers.txt", "a 4\nb 3\n");
  run = weir("plan layers.txt --cluster 2@1 --picture plan.svg");
  EXPECT_EQ(run.code, 2);
}

}  // namespace

}  // namespace weir::test
