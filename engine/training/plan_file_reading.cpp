// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/plan_file.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include <nlohmann/json.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/training/plan_file_keys.hpp>

namespace weir::training {

namespace {

using namespace plan_file;
using Json = nlohmann::ordered_json;

/// A JSON value and where it stands, for errors.
class Node {
 public:
  Node(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw Error(ErrorCode::input, where_ + ": found " + found + "; expected " + expected);
  }

  /// Runs a check, whose error gets the place.
  template <class Check>
  void expect(Check run) const {
    try {
      run();
    } catch (const Error& error) {
      throw Error(error.code(), where_ + ": " + error.what());
    }
  }

  Node at(const char* key) const {
    if (!json_->is_object() || !json_->contains(key)) refuse(std::string("no ") + key, "one");
    return {(*json_)[key], where_ + ": " + key};
  }
  Node at(std::size_t i) const {
    if (!json_->is_array() || i >= json_->size()) {
      refuse(shown(), "a list of more than " + std::to_string(i));
    }
    return {(*json_)[i], where_ + " " + std::to_string(i)};
  }
  bool has(const char* key) const { return json_->is_object() && json_->contains(key); }
  std::size_t size() const {
    if (!json_->is_array()) refuse(shown(), "a list");
    return json_->size();
  }
  bool is_object() const { return json_->is_object(); }
  bool is_text() const { return json_->is_string(); }

  double real() const {
    if (!json_->is_number() || !std::isfinite(json_->get<double>())) refuse(shown(), "a number");
    return json_->get<double>();
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    if (!json_->is_number_integer() || json_->get<std::int64_t>() < least ||
        json_->get<std::int64_t>() > most) {
      refuse(shown(),
             "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return json_->get<std::int64_t>();
  }
  bool flag() const {
    if (!json_->is_boolean()) refuse(shown(), "true or false");
    return json_->get<bool>();
  }
  const std::string& text() const {
    if (!json_->is_string()) refuse(shown(), "a text");
    return json_->get_ref<const std::string&>();
  }

 private:
  std::string shown() const {
    constexpr std::size_t most_shown = 40;
    std::string text = json_->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > most_shown) text = text.substr(0, most_shown) + "...";
    return text;
  }

  const Json* json_;
  std::string where_;
};

template <class Enum, std::size_t size>
Enum enumerator(const Node& node, const std::array<Enum, size>& all) {
  std::string names;
  for (const Enum each : all) {
    if (name_of(each) == node.text()) return each;
    names += (names.empty() ? "" : ", ") + std::string(name_of(each));
  }
  node.refuse(node.text(), "one of " + names);
}

Transformer read_model(const Node& file) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const Node sizes = file.at("transformer");
  Transformer model;
  model.name = file.at("model").text();
  model.sequence = file.at("sequence").whole(1, most);
  for (const auto& [key, at] : transformer_sizes) model.*at = sizes.at(key).whole(1, most);
  for (const auto& [key, at] : transformer_switches) model.*at = sizes.at(key).flag();
  if (sizes.has("experts")) {
    const Node experts = sizes.at("experts");
    for (const auto& [key, at] : expert_sizes) model.experts.*at = experts.at(key).whole(0, most);
    model.experts.has_selection_bias = experts.at("selection_bias").flag();
    model.experts.load = experts.at("load").real();
  }
  if (sizes.has("latent_attention")) {
    const Node latent = sizes.at("latent_attention");
    for (const auto& [key, at] : latent_sizes) model.latent.*at = latent.at(key).whole(1, most);
  }
  sizes.expect([&] { check(model); });
  return model;
}

Layout read_layout(const Node& file) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  Layout layout;
  for (const auto& [key, at] : degrees) layout.*at = file.at(key).whole(1, most);
  layout.schedule = enumerator(file.at("schedule"), schedules);
  layout.recompute = enumerator(file.at("recompute"), recomputations);
  layout.has_sequence_parallelism = file.at("sequence_parallel").flag();
  layout.zero_stage = static_cast<int>(file.at("zero_stage").whole(0, 3));
  return layout;
}

Machine read_machine(const Node& file) {
  Machine machine;
  machine.devices_per_node = file.at("devices_per_node").whole(1, std::int64_t{1} << 20);
  for (const auto& [key, at] : machine_constants) {
    machine.*at = file.at(key).real();
    if (machine.*at < 0) file.at(key).refuse(std::to_string(machine.*at), "no negative number");
  }
  // What times are divided by.
  for (const char* key :
       {"peak_flops", "matmul_efficiency", "memory_bytes_per_second", "attention_efficiency",
        "node_bytes_per_second", "network_bytes_per_second", "network_tensor_bytes_per_second"}) {
    if (file.at(key).real() == 0) file.at(key).refuse("0", "a number above 0");
  }
  return machine;
}

Software read_software(const Node& file) {
  Software software;
  for (const auto& [key, at] : software_numbers) {
    software.*at = file.at(key).real();
    if (software.*at < 0) file.at(key).refuse(std::to_string(software.*at), "no negative number");
  }
  for (const auto& [key, at] : software_switches) software.*at = file.at(key).flag();
  return software;
}

schedule::Topology read_cluster(const Node& file) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  const Node list = file.at("levels");
  std::vector<schedule::Level> levels;
  for (std::size_t l = 0; l < list.size(); ++l) {
    const Node item = list.at(l);
    schedule::Level level;
    level.name = item.at("name").text();
    level.link = {item.at("bytes_per_second").real(), item.at("latency_seconds").real()};
    const Node groups = item.at("groups");
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::int64_t count = groups.at(i).at(std::size_t{0}).whole(1, most);
      const std::int64_t size = groups.at(i).at(std::size_t{1}).whole(1, most);
      const auto before = static_cast<std::int64_t>(level.group_of_device.size());
      if (count * size > most - before) groups.refuse("over 2^20 devices", "fewer");
      for (std::int64_t g = 0; g < count; ++g) {
        level.group_of_device.insert(level.group_of_device.end(), static_cast<std::size_t>(size),
                                     group++);
      }
    }
    levels.push_back(std::move(level));
  }
  if (levels.empty()) list.refuse("no level", "at least one");
  const std::size_t num_devices = levels.front().group_of_device.size();
  std::vector<schedule::Device> devices(num_devices);
  for (std::size_t d = 0; d < num_devices; ++d) devices[d].name = "device" + std::to_string(d);
  schedule::Topology cluster(file.at("name").text(), std::move(levels), std::move(devices));
  const Node speeds = file.at("speeds");
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const std::int64_t device =
        speeds.at(i).at(std::size_t{0}).whole(0, static_cast<std::int64_t>(num_devices) - 1);
    const double speed = speeds.at(i).at(std::size_t{1}).real();
    if (speed <= 0) speeds.at(i).refuse(std::to_string(speed), "a speed above 0");
    cluster.scale_speed(static_cast<std::size_t>(device), speed);
  }
  return cluster;
}

std::vector<std::uint32_t> read_ranks(const Node& ranks, const PlacedPlan& plan) {
  const auto num_ranks = static_cast<std::size_t>(plan.layout().num_devices());
  const auto last_device = static_cast<std::int64_t>(plan.cluster.num_devices()) - 1;
  std::vector<std::uint32_t> devices(num_ranks);
  if (ranks.is_object() && ranks.at("devices").is_text()) {
    if (ranks.at("devices").text() != "in order") {
      ranks.at("devices").refuse(ranks.at("devices").text(), "\"in order\" or a list");
    }
    if (num_ranks > plan.cluster.num_devices()) {
      ranks.refuse(std::to_string(num_ranks) + " ranks",
                   "at most the " + std::to_string(plan.cluster.num_devices()) + " devices");
    }
    std::iota(devices.begin(), devices.end(), std::uint32_t{0});
    return devices;
  }
  const Node list = ranks.is_object() ? ranks.at("devices") : ranks;
  if (list.size() != num_ranks) {
    list.refuse(std::to_string(list.size()) + " ranks", std::to_string(num_ranks));
  }
  std::vector<bool> is_taken(plan.cluster.num_devices(), false);
  for (std::size_t r = 0; r < num_ranks; ++r) {
    const Node device = ranks.is_object() ? list.at(r) : list.at(r).at("device");
    devices[r] = static_cast<std::uint32_t>(device.whole(0, last_device));
    if (is_taken[devices[r]])
      device.refuse(std::to_string(devices[r]) + " again", "another device");
    is_taken[devices[r]] = true;
  }
  return devices;
}

std::vector<PlacementScore> read_placements(const Node& list) {
  std::vector<PlacementScore> scores;
  for (std::size_t i = 0; i < list.size(); ++i) {
    PlacementScore score;
    score.source = list.at(i).at("source").text();
    for (const auto& [key, at] : placement_scores) score.*at = list.at(i).at(key).real();
    scores.push_back(std::move(score));
  }
  return scores;
}

std::vector<Tick> read_ticks(const Node& node) {
  const std::string& text = node.text();
  std::vector<Tick> ticks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const char* const begin = at;
    const auto refuse = [&] {
      const std::string rest(begin, std::find(begin, end, ' '));
      node.refuse("\"" + rest.substr(0, 20) + "\"", "a pass such as F0, B0, I0, W0 or F0.1");
    };
    Tick tick;
    const std::size_t letter = pass_letters.find(*at++);
    if (letter == std::string_view::npos) refuse();
    tick.pass = static_cast<Pass>(letter);
    const auto number = std::from_chars(at, end, tick.micro_batch);
    if (number.ec != std::errc{}) refuse();
    at = number.ptr;
    if (at != end && *at == '.') {
      const auto chunk = std::from_chars(at + 1, end, tick.chunk);
      if (chunk.ec != std::errc{}) refuse();
      at = chunk.ptr;
    }
    if (at != end && *at++ != ' ') refuse();
    ticks.push_back(tick);
  }
  return ticks;
}

PipelineSchedule read_schedule(const Node& file, const Layout& layout) {
  PipelineSchedule schedule;
  schedule.kind = layout.schedule;
  schedule.num_chunks =
      static_cast<std::size_t>(layout.schedule == Schedule::zb_v ? 2 : layout.interleave);
  const std::int64_t m = layout.global_batch / (layout.data * layout.micro_batch);
  schedule.num_micro_batches = static_cast<std::size_t>(m);
  const Node ticks = file.at("ticks");
  if (ticks.size() != static_cast<std::size_t>(layout.pipeline)) {
    ticks.refuse(std::to_string(ticks.size()) + " ranks",
                 std::to_string(layout.pipeline) + " of a pipeline");
  }
  std::size_t num_ticks = 0;
  for (std::size_t r = 0; r < ticks.size(); ++r) {
    schedule.ticks.push_back(read_ticks(ticks.at(r)));
    num_ticks += schedule.ticks.back().size();
  }
  // Fewer ticks than forward and backward passes: refused before anything is sized by the batch.
  if (num_ticks / 2 < schedule.num_stages() ||
      num_ticks / 2 / schedule.num_stages() < schedule.num_micro_batches) {
    ticks.refuse(std::to_string(num_ticks) + " passes", "two or more of each micro-batch");
  }
  check(schedule);
  return schedule;
}

}  // namespace

PlacedPlan parse_plan(std::string_view text, const std::string& name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    throw Error(ErrorCode::input, name + ':' +
                                      std::to_string(1 + std::count(text.begin(), end, '\n')) +
                                      ": found what is no JSON; expected a plan");
  } catch (const Json::exception&) {
    throw Error(ErrorCode::input, name + ": found a number that is too large; expected a plan");
  }
  const Node file(json, name);
  if (file.at("format").text() != format_name) {
    file.at("format").refuse(file.at("format").text(),
                             std::string(format_name) + ", as weir plan MODEL --json writes it");
  }
  file.at("version").whole(format_version, format_version);

  ParallelPlan parallel{read_layout(file), {}, {}};
  PlacedPlan plan{read_model(file),
                  parallel,
                  read_machine(file.at("machine")),
                  read_software(file.at("software")),
                  read_cluster(file.at("topology")),
                  {},
                  {}};
  const Layout& layout = plan.layout();
  constexpr double most_ranks = 1 << 20;
  if (static_cast<double>(layout.tensor) * static_cast<double>(layout.context) *
          static_cast<double>(layout.pipeline) * static_cast<double>(layout.data) >
      most_ranks) {
    file.refuse("over 2^20 ranks", "fewer");
  }
  file.expect([&] { check(layout, plan.model); });
  if (layout.pipeline * layout.interleave * (layout.schedule == Schedule::zb_v ? 2 : 1) >
      plan.model.num_layers) {
    file.refuse("more stages than layers", "at most as many");
  }
  plan.plan.time = predict(plan.model, layout, plan.machine, plan.software);
  plan.plan.memory = device_memory(plan.model, layout, plan.software.has_fused_attention);
  plan.device_of_rank = read_ranks(file.at("ranks"), plan);
  plan.placements = read_placements(file.at("placements"));
  plan.schedule = read_schedule(file, layout);
  plan.memory_limit_bytes = file.at("memory_limit_bytes").real();
  plan.num_considered = file.at("layouts_considered").whole(0, INT64_MAX);
  plan.num_fitting = file.at("layouts_fitting").whole(0, INT64_MAX);
  return plan;
}

PlacedPlan read_plan(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  WEIR_EXPECT(stream.good(), input,
              path.string() + ": found no file that can be read; expected a plan");
  return parse_plan(text.view(), path.string());
}

}  // namespace weir::training
