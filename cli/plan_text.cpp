// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/plan_text.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::cli {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += (c == 0 ? "" : "  ") + std::string(widths[c] - row[c].size(), ' ') + row[c];
    }
    text += '\n';
  }
  return text;
}

namespace {

using training::Partition;
using training::Stage;

std::string milliseconds(double seconds) { return fixed(seconds * 1e3, 3); }
std::string gigabytes(double bytes) { return fixed(bytes / 1e9, 3); }

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string heading(const PlanInput& input) {
  std::string text = "graph    " + input.path + ": " + counted(input.graph.size(), "operator") +
                     ", " + counted(input.graph.num_edges(), "edge") + '\n';
  text +=
      "cluster  " + input.cluster.name() + ": " + counted(input.cluster.num_devices(), "device");
  for (const schedule::Level& level : input.cluster.levels()) {
    text += ", " + level.name + " " + fixed(level.link.bandwidth / 1e9, 3) + " GB/s";
  }
  return text + '\n';
}

/// `0-7`: of the first pipeline.
std::string devices_of(const Stage& stage) {
  const std::size_t last = stage.first_device + stage.num_replicas - 1;
  return std::to_string(stage.first_device) +
         (stage.num_replicas > 1 ? "-" + std::to_string(last) : std::string());
}

std::string micro_batches(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " micro-batch" : " micro-batches");
}

}  // namespace

std::string table_of(const PlanInput& input, const Partition& plan) {
  std::string text = heading(input);
  text += "plan     " + counted(plan.num_pipelines, "pipeline") + " of " +
          counted(plan.devices_per_pipeline, "device") + ", " +
          counted(plan.stages.size(), "stage") + "; " + counted(plan.num_idle(), "device") +
          " idle\n";
  text += "time     " + milliseconds(plan.seconds) + " ms per micro-batch, " +
          fixed(plan.one_device_seconds / plan.seconds, 3) + " times as fast as one device\n";
  if (input.num_micro_batches) {
    text += "batch    " + milliseconds(batch_seconds(plan, *input.num_micro_batches)) + " ms for " +
            micro_batches(*input.num_micro_batches) + ", filling the pipeline included\n";
  }
  std::vector<std::vector<std::string>> rows = {
      {"stage", "operators", "devices", "replicas", "compute_ms", "gradients_ms", "input_ms",
       "output_ms", "turn_ms", "bound", "parameters_GB", "memory_GB"}};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    rows.push_back({std::to_string(s), std::to_string(stage.operators.size()), devices_of(stage),
                    std::to_string(stage.num_replicas * plan.num_pipelines),
                    milliseconds(stage.compute_seconds), milliseconds(stage.gradient_seconds),
                    milliseconds(stage.input_seconds), milliseconds(stage.output_seconds),
                    milliseconds(stage.seconds), name_of(stage.bound),
                    gigabytes(stage.parameter_bytes), gigabytes(stage.memory_bytes)});
  }
  return text + '\n' + aligned(rows);
}

std::string table_of(const PlanInput& input, const training::PipeDreamPlan& plan) {
  std::string text = heading(input);
  text += "plan     by PipeDream's objective, " + std::to_string(plan.num_states) + " states\n";
  text += "time     " + milliseconds(plan.slowest_stage_seconds) + " ms per micro-batch, " +
          fixed(plan.one_device_seconds / plan.slowest_stage_seconds, 3) +
          " times as fast as one device, " +
          fixed(plan.data_parallel_seconds / plan.slowest_stage_seconds, 3) +
          " times as fast as replicas of the whole\n\n";
  std::vector<std::vector<std::string>> rows = {{"level", "states", "replicas"}};
  for (std::size_t l = 0; l < plan.levels.size(); ++l) {
    for (const training::PipeDreamStage& stage : plan.levels[l]) {
      rows.push_back({input.cluster.levels()[l].name,
                      std::to_string(stage.begin) + "-" + std::to_string(stage.end),
                      std::to_string(stage.num_replicas)});
    }
  }
  return text + aligned(rows);
}

std::string explain(const PlanInput& input, const Partition& plan) {
  std::string text = "\nwhy\n";
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const std::string& first = input.graph[stage.operators.front()].name;
    const std::string& last = input.graph[stage.operators.back()].name;
    text.append("  stage ").append(std::to_string(s));
    text.append(" (").append(first).append(" to ").append(last).append(") is bound by ");
    text += name_of(stage.bound);
    text += stage.seconds == plan.seconds
                ? "; it is the slowest, and no other cut makes the slowest faster"
                : "; it waits " + fixed(100 * (1 - stage.seconds / plan.seconds), 1) +
                      " % of the time for the slowest";
    text += ". A device holds " + gigabytes(stage.memory_bytes) + " GB, with activations of " +
            micro_batches(stage.num_in_flight) + '\n';
  }
  if (plan.data_parallel_seconds) {
    text += "  replicas of the whole graph on all devices would take " +
            milliseconds(*plan.data_parallel_seconds) + " ms per micro-batch\n";
  } else {
    text += "  replicas of the whole graph do not fit in memory\n";
  }
  const double ideal = plan.one_device_seconds / static_cast<double>(plan.num_devices);
  text += "  " + milliseconds(ideal) +
          " ms would be an even share of the computing; the plan is at " +
          fixed(100 * ideal / plan.seconds, 1) + " % of that speed\n";
  text += "  " + counted(plan.num_downsets, "cut") +
          (plan.is_exact
               ? " and all numbers of devices were considered: no plan of this form is faster\n"
               : " were considered, not all that there are\n");
  return text;
}

std::string json_of(const PlanInput& input, const Partition& plan) {
  using Json = nlohmann::ordered_json;
  Json stages = Json::array();
  for (const Stage& stage : plan.stages) {
    Json operators = Json::array();
    for (const std::size_t i : stage.operators) operators.push_back(input.graph[i].name);
    stages.push_back({{"operators", std::move(operators)},
                      {"replicas", stage.num_replicas * plan.num_pipelines},
                      {"in_flight", stage.num_in_flight},
                      {"compute_seconds", stage.compute_seconds},
                      {"gradient_seconds", stage.gradient_seconds},
                      {"input_seconds", stage.input_seconds},
                      {"output_seconds", stage.output_seconds},
                      {"turn_seconds", stage.seconds},
                      {"bound", name_of(stage.bound)},
                      {"parameter_bytes", stage.parameter_bytes},
                      {"memory_bytes", stage.memory_bytes}});
  }
  Json ranks = Json::array();
  for (std::size_t p = 0; p < plan.num_pipelines; ++p) {
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      for (std::size_t r = 0; r < plan.stages[s].num_replicas; ++r) {
        const std::size_t device = p * plan.devices_per_pipeline + plan.stages[s].first_device + r;
        ranks.push_back({{"device", input.cluster.devices()[device].name},
                         {"pipeline", p},
                         {"stage", s},
                         {"replica", r}});
      }
    }
  }
  Json file = {{"format", "weir-plan"},
               {"version", 1},
               {"graph", input.path},
               {"cluster", input.cluster.name()},
               {"seconds_per_micro_batch", plan.seconds},
               {"one_device_seconds", plan.one_device_seconds},
               {"pipelines", plan.num_pipelines},
               {"devices_per_pipeline", plan.devices_per_pipeline},
               {"idle_devices", plan.num_idle()},
               {"exact", plan.is_exact},
               {"stages", std::move(stages)},
               {"ranks", std::move(ranks)}};
  if (input.num_micro_batches) {
    file["micro_batches"] = *input.num_micro_batches;
    file["batch_seconds"] = batch_seconds(plan, *input.num_micro_batches);
  }
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace weir::cli
