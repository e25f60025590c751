// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/plan_file.hpp>

#include <nlohmann/json.hpp>
#include <weir/engine/training/plan_file_keys.hpp>

namespace weir::training {

namespace {

using namespace plan_file;
using Json = nlohmann::ordered_json;

/// Up to so many ranks each is a row of its own.
constexpr std::size_t most_listed_ranks = 1024;

/// `F0 F1 B0 B1`; with several chunks `F0.1` is of chunk 1.
std::string text_of(const std::vector<Tick>& ticks, std::size_t num_chunks) {
  std::string text;
  for (const Tick& tick : ticks) {
    if (!text.empty()) text += ' ';
    text += pass_letters[static_cast<std::size_t>(tick.pass)];
    text += std::to_string(tick.micro_batch);
    if (num_chunks > 1) text += '.' + std::to_string(tick.chunk);
  }
  return text;
}

Json json_of(const schedule::Topology& cluster) {
  Json levels = Json::array();
  for (const schedule::Level& level : cluster.levels()) {
    Json groups = Json::array();  // [how many, of how many devices]
    std::size_t first = 0;
    for (std::size_t d = 1; d <= level.group_of_device.size(); ++d) {
      if (d < level.group_of_device.size() &&
          level.group_of_device[d] == level.group_of_device[first]) {
        continue;
      }
      const std::size_t size = d - first;
      if (!groups.empty() && groups.back()[1] == size) {
        groups.back()[0] = groups.back()[0].get<std::size_t>() + 1;
      } else {
        groups.push_back({1, size});
      }
      first = d;
    }
    levels.push_back({{"name", level.name},
                      {"bytes_per_second", level.link.bandwidth},
                      {"latency_seconds", level.link.latency_seconds},
                      {"groups", std::move(groups)}});
  }
  Json speeds = Json::array();
  for (std::size_t d = 0; d < cluster.num_devices(); ++d) {
    if (cluster.devices()[d].speed != 1) speeds.push_back({d, cluster.devices()[d].speed});
  }
  return {{"name", cluster.name()}, {"levels", std::move(levels)}, {"speeds", std::move(speeds)}};
}

bool is_in_order(const std::vector<std::uint32_t>& device_of_rank) {
  for (std::size_t r = 0; r < device_of_rank.size(); ++r) {
    if (device_of_rank[r] != r) return false;
  }
  return true;
}

Json json_of_ranks(const PlacedPlan& plan) {
  const Layout& layout = plan.layout();
  const std::size_t num_ranks = plan.device_of_rank.size();
  if (num_ranks > most_listed_ranks) {
    Json ranks = {{"order", {"tensor", "context", "pipeline", "data"}}};
    if (is_in_order(plan.device_of_rank)) {
      ranks["devices"] = "in order";
    } else {
      ranks["devices"] = plan.device_of_rank;
    }
    return ranks;
  }
  Json ranks = Json::array();
  for (std::size_t r = 0; r < num_ranks; ++r) {
    const RankCoordinates at = coordinates_of(layout, r);
    Json stages = Json::array();
    for (std::size_t chunk = 0; chunk < plan.schedule.num_chunks; ++chunk) {
      stages.push_back(plan.schedule.stage_of(at.pipeline, chunk));
    }
    ranks.push_back({{"rank", r},
                     {"device", plan.device_of_rank[r]},
                     {"stages", std::move(stages)},
                     {"tensor", at.tensor},
                     {"context", at.context},
                     {"pipeline", at.pipeline},
                     {"data", at.data}});
  }
  return ranks;
}

Json json_of(const Transformer& model) {
  Json json;
  for (const auto& [key, at] : transformer_sizes) json[key] = model.*at;
  for (const auto& [key, at] : transformer_switches) json[key] = model.*at;
  if (model.has_experts()) {
    Json experts;
    for (const auto& [key, at] : expert_sizes) experts[key] = model.experts.*at;
    experts["selection_bias"] = model.experts.has_selection_bias;
    experts["load"] = model.experts.load;
    json["experts"] = std::move(experts);
  }
  if (model.has_latent_attention()) {
    Json latent;
    for (const auto& [key, at] : latent_sizes) latent[key] = model.latent.*at;
    json["latent_attention"] = std::move(latent);
  }
  return json;
}

Json json_of(const std::vector<NamedPart>& parts) {
  Json object;
  for (const NamedPart& part : parts) object[part.name] = part.value;
  return object;
}

}  // namespace

std::string to_json(const PlacedPlan& plan) {
  const Layout& layout = plan.layout();
  Json file = {{"format", format_name},          {"version", format_version},
               {"model", plan.model.name},       {"sequence", plan.model.sequence},
               {"cluster", plan.cluster.name()}, {"devices", layout.num_devices()}};
  file["transformer"] = json_of(plan.model);
  for (const auto& [key, at] : degrees) file[key] = layout.*at;
  file["micro_batches"] = plan.schedule.num_micro_batches;
  file["schedule"] = name_of(layout.schedule);
  file["recompute"] = name_of(layout.recompute);
  file["sequence_parallel"] = layout.has_sequence_parallelism;
  file["zero_stage"] = layout.zero_stage;
  file["seconds"] = plan.plan.time.total();
  file["seconds_by_cause"] = json_of(parts_of(plan.plan.time));
  file["peak_share"] =
      model_flops_utilisation(plan.model, layout, plan.plan.time.total(), plan.machine.peak_flops);
  file["memory_bytes"] = plan.plan.memory.total_bytes();
  file["memory_bytes_by_use"] = json_of(parts_of(plan.plan.memory));
  file["memory_limit_bytes"] = plan.memory_limit_bytes;
  file["layouts_considered"] = plan.num_considered;
  file["layouts_fitting"] = plan.num_fitting;
  Json machine = {{"devices_per_node", plan.machine.devices_per_node}};
  for (const auto& [key, at] : machine_constants) machine[key] = plan.machine.*at;
  file["machine"] = std::move(machine);
  Json software;
  for (const auto& [key, at] : software_numbers) software[key] = plan.software.*at;
  for (const auto& [key, at] : software_switches) software[key] = plan.software.*at;
  file["software"] = std::move(software);
  file["topology"] = json_of(plan.cluster);
  file["layers_of_stages"] = layers_of_stages(plan);
  Json placements = Json::array();
  for (const PlacementScore& each : plan.placements) {
    Json score = {{"source", each.source}};
    for (const auto& [key, at] : placement_scores) score[key] = each.*at;
    placements.push_back(std::move(score));
  }
  file["placements"] = std::move(placements);
  file["ranks"] = json_of_ranks(plan);
  Json ticks = Json::array();
  for (const auto& each : plan.schedule.ticks) {
    ticks.push_back(text_of(each, plan.schedule.num_chunks));
  }
  file["ticks"] = std::move(ticks);
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace weir::training
