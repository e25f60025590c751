// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/placed_plan.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include <nlohmann/json.hpp>
#include <weir/engine/model/check.hpp>

namespace weir::training {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "weir-parallel-plan";
constexpr int format_version = 1;
/// Up to so many ranks each is a row of its own.
constexpr std::size_t most_listed_ranks = 1024;
constexpr std::int64_t most_ticks = std::int64_t{1} << 24;

/// A number of a struct and its key.
template <class Struct, class Value>
struct Member {
  const char* key;
  Value Struct::*at;
};

constexpr std::array degrees = {
    Member<Layout, std::int64_t>{"tensor", &Layout::tensor},
    Member<Layout, std::int64_t>{"context", &Layout::context},
    Member<Layout, std::int64_t>{"pipeline", &Layout::pipeline},
    Member<Layout, std::int64_t>{"data", &Layout::data},
    Member<Layout, std::int64_t>{"expert", &Layout::expert},
    Member<Layout, std::int64_t>{"global_batch", &Layout::global_batch},
    Member<Layout, std::int64_t>{"micro_batch", &Layout::micro_batch},
    Member<Layout, std::int64_t>{"chunks", &Layout::interleave},
};

constexpr std::array machine_constants = {
    Member<Machine, double>{"peak_flops", &Machine::peak_flops},
    Member<Machine, double>{"matmul_efficiency", &Machine::matmul_efficiency},
    Member<Machine, double>{"tile", &Machine::tile},
    Member<Machine, double>{"memory_bytes_per_second", &Machine::memory_bytes_per_second},
    Member<Machine, double>{"attention_efficiency", &Machine::attention_efficiency},
    Member<Machine, double>{"launch_seconds", &Machine::launch_seconds},
    Member<Machine, double>{"optimizer_seconds", &Machine::optimizer_seconds},
    Member<Machine, double>{"iteration_seconds", &Machine::iteration_seconds},
    Member<Machine, double>{"node_bytes_per_second", &Machine::node_bytes_per_second},
    Member<Machine, double>{"node_latency_seconds", &Machine::node_latency_seconds},
    Member<Machine, double>{"network_bytes_per_second", &Machine::network_bytes_per_second},
    Member<Machine, double>{"network_tensor_bytes_per_second",
                            &Machine::network_tensor_bytes_per_second},
    Member<Machine, double>{"slowdown_per_doubling", &Machine::slowdown_per_doubling},
    Member<Machine, double>{"sharing_slowdown", &Machine::sharing_slowdown},
};

constexpr std::array software_numbers = {
    Member<Software, double>{"attention_window", &Software::attention_window},
    Member<Software, double>{"tensor_forward_overlap", &Software::tensor_forward_overlap},
    Member<Software, double>{"tensor_backward_overlap", &Software::tensor_backward_overlap},
    Member<Software, double>{"expert_overlap", &Software::expert_overlap},
    Member<Software, double>{"gradient_bytes", &Software::gradient_bytes},
};

constexpr std::array software_switches = {
    Member<Software, bool>{"fused_attention", &Software::has_fused_attention},
    Member<Software, bool>{"parallel_block", &Software::has_parallel_block},
    Member<Software, bool>{"pipeline_overlap", &Software::has_pipeline_overlap},
    Member<Software, bool>{"data_overlap", &Software::has_data_overlap},
    Member<Software, bool>{"scattered_sends", &Software::has_scattered_sends},
    Member<Software, bool>{"context_ring", &Software::has_context_ring},
};

constexpr std::array schedules = {Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved,
                                  Schedule::zb_h1, Schedule::zb_v};
constexpr std::array recomputations = {Recompute::none, Recompute::selective, Recompute::full};

constexpr std::string_view pass_letters = "FBIW";  // in the order of Pass

// Writing.

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

Json json_of(const std::vector<NamedPart>& parts) {
  Json object;
  for (const NamedPart& part : parts) object[part.name] = part.value;
  return object;
}

// Reading.

/// A JSON value and where it stands, for errors.
class Node {
 public:
  Node(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw Error(ErrorCode::input, where_ + ": found " + found + "; expected " + expected);
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

RankCoordinates coordinates_of(const Layout& layout, std::size_t rank) {
  RankCoordinates at;
  const auto next = [&](std::int64_t size) {
    const std::size_t here = rank % static_cast<std::size_t>(size);
    rank /= static_cast<std::size_t>(size);
    return here;
  };
  at.tensor = next(layout.tensor);
  at.context = next(layout.context);
  at.pipeline = next(layout.pipeline);
  at.data = rank;
  return at;
}

std::size_t rank_at(const Layout& layout, const RankCoordinates& at) {
  return ((at.data * static_cast<std::size_t>(layout.pipeline) + at.pipeline) *
              static_cast<std::size_t>(layout.context) +
          at.context) *
             static_cast<std::size_t>(layout.tensor) +
         at.tensor;
}

PlacedPlan place_in_order(const ParallelPlanRequest& request, const ParallelPlans& found,
                          const schedule::Topology& cluster) {
  const Layout& layout = found.best.front().layout;
  const auto num_ranks = static_cast<std::size_t>(layout.num_devices());
  WEIR_EXPECT(num_ranks <= cluster.num_devices(), input,
              cluster.name() + ": found " + std::to_string(cluster.num_devices()) +
                  " devices; expected " + std::to_string(num_ranks));
  std::vector<std::uint32_t> devices(num_ranks);
  std::iota(devices.begin(), devices.end(), std::uint32_t{0});
  const std::int64_t num_ticks =
      layout.global_batch / layout.micro_batch / layout.data * layout.pipeline * layout.interleave;
  WEIR_EXPECT(num_ticks <= most_ticks, input,
              request.model.name + ": found " + std::to_string(num_ticks) +
                  " passes of an iteration; expected at most 2^24, by a larger micro-batch");
  return {request.model,
          found.best.front(),
          request.machine,
          request.software,
          cluster,
          std::move(devices),
          make_schedule(layout),
          request.memory_bytes,
          found.num_considered,
          found.num_fitting};
}

std::vector<std::int64_t> layers_of_stages(const PlacedPlan& plan) {
  const auto num_stages = static_cast<std::int64_t>(plan.schedule.num_stages());
  std::vector<std::int64_t> layers(plan.schedule.num_stages(), plan.model.num_layers / num_stages);
  for (std::int64_t i = 0; i < plan.model.num_layers % num_stages; ++i) {
    ++layers[static_cast<std::size_t>(num_stages - 1 - i)];
  }
  return layers;
}

std::string to_json(const PlacedPlan& plan) {
  const Layout& layout = plan.layout();
  Json file = {{"format", format_name},          {"version", format_version},
               {"model", plan.model.name},       {"sequence", plan.model.sequence},
               {"cluster", plan.cluster.name()}, {"devices", layout.num_devices()}};
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
  file["ranks"] = json_of_ranks(plan);
  Json ticks = Json::array();
  for (const auto& each : plan.schedule.ticks) {
    ticks.push_back(text_of(each, plan.schedule.num_chunks));
  }
  file["ticks"] = std::move(ticks);
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

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

  const auto& models = built_in_models();
  const auto model = std::find_if(models.begin(), models.end(), [&](const Transformer& each) {
    return each.name == file.at("model").text();
  });
  if (model == models.end()) file.at("model").refuse(file.at("model").text(), "a built-in model");
  ParallelPlan parallel{read_layout(file), {}, {}};
  PlacedPlan plan{*model,
                  parallel,
                  read_machine(file.at("machine")),
                  read_software(file.at("software")),
                  read_cluster(file.at("topology")),
                  {},
                  {}};
  plan.model.sequence = file.at("sequence").whole(1, std::int64_t{1} << 30);
  const Layout& layout = plan.layout();
  constexpr double most_ranks = 1 << 20;
  if (static_cast<double>(layout.tensor) * static_cast<double>(layout.context) *
          static_cast<double>(layout.pipeline) * static_cast<double>(layout.data) >
      most_ranks) {
    file.refuse("over 2^20 ranks", "fewer");
  }
  check(plan.model);
  check(layout, plan.model);
  if (layout.pipeline * layout.interleave * (layout.schedule == Schedule::zb_v ? 2 : 1) >
      plan.model.num_layers) {
    file.refuse("more stages than layers", "at most as many");
  }
  plan.plan.time = predict(plan.model, layout, plan.machine, plan.software);
  plan.plan.memory = device_memory(plan.model, layout);
  plan.device_of_rank = read_ranks(file.at("ranks"), plan);
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
