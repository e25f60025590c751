// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/profiled_plan.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include <nlohmann/json.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/memory.hpp>

namespace weir::training {

namespace {

using Json = nlohmann::json;

/// Parses a file and hands it to `take`; what is missing or of another type in it is an
/// Error{input}.
void read_json(const std::string& path, const std::function<void(const Json&)>& take) {
  std::ifstream file(path);
  WEIR_EXPECT(file.good(), input, path + ": cannot be opened");
  try {
    take(Json::parse(file));
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::input, path + ": " + error.what());
  }
}

std::int64_t whole_number(const std::string& text, const std::string& path) {
  WEIR_EXPECT(!text.empty() && text.size() < 10 &&
                  text.find_first_not_of("0123456789") == std::string::npos,
              input, path + ": found the key '" + text + "'; expected a whole number");
  return std::stoll(text);
}

/// A count or index of a plan, small enough to multiply with others. Throws Error{input}.
std::int64_t count_of(const Json& json, const std::string& path) {
  constexpr std::int64_t most = 1000000;
  const bool is_count =
      json.is_number_integer() && json.get<double>() >= 0 && json.get<double>() <= most;
  WEIR_EXPECT(is_count, input,
              path + ": found " + json.dump().substr(0, 40) +
                  "; expected a whole number of at most a million");
  return json.get<std::int64_t>();
}

/// A line through points, each weighted by the inverse square of its value.
struct WeightedLine {
  double weights = 0, x = 0, y = 0, xx = 0, xy = 0;

  void add(double at, double value) {
    const double weight = 1 / (value * value);
    weights += weight;
    x += weight * at;
    y += weight * value;
    xx += weight * at * at;
    xy += weight * at * value;
  }

  double value_at(double at) const {
    const double spread = weights * xx - x * x;
    if (!(spread > 1e-12 * weights * xx)) return y / weights;  // a single size
    const double slope = (weights * xy - x * y) / spread;
    return (y - slope * x) / weights + slope * at;
  }
};

}  // namespace

LayerProfile LayerProfile::read(const std::string& path) {
  LayerProfile profile;
  profile.path_ = path;
  read_json(path, [&](const Json& json) {
    for (const auto& [micro_batch, tensors] : json.items()) {
      for (const auto& [tensor, layers] : tensors.items()) {
        ByLayer& into =
            profile.by_tensor_[whole_number(tensor, path)][whole_number(micro_batch, path)];
        for (const auto& [layer, seconds] : layers.items()) {
          into[whole_number(layer, path)] = {seconds.at(0), seconds.at(1), seconds.at(2)};
        }
      }
    }
  });
  return profile;
}

const std::map<std::int64_t, LayerProfile::ByLayer>& LayerProfile::by_micro_batch(
    std::int64_t tensor) const {
  const auto found = by_tensor_.find(tensor);
  WEIR_EXPECT(found != by_tensor_.end(), input,
              path_ + ": no profile of tensor degree " + std::to_string(tensor));
  return found->second;
}

const LayerProfile::LayerSeconds& LayerProfile::at(const ByLayer& layers,
                                                   std::int64_t layer) const {
  const auto found = layers.find(layer);
  WEIR_EXPECT(found != layers.end(), input,
              path_ + ": no profile of layer " + std::to_string(layer));
  return found->second;
}

double LayerProfile::work_seconds(const std::vector<std::int64_t>& layers, std::int64_t tensor,
                                  std::int64_t micro_batch) const {
  WeightedLine line;
  for (const auto& [profiled, by_layer] : by_micro_batch(tensor)) {
    double seconds = 0;
    for (const std::int64_t layer : layers) {
      const LayerSeconds& found = at(by_layer, layer);
      seconds += found.forward + found.backward;
    }
    WEIR_EXPECT(seconds > 0, input, path_ + ": a layer takes no time");
    line.add(static_cast<double>(profiled), seconds);
  }
  return line.value_at(static_cast<double>(micro_batch));
}

double LayerProfile::update_seconds(const std::vector<std::int64_t>& layers,
                                    std::int64_t tensor) const {
  const ByLayer& by_layer = by_micro_batch(tensor).begin()->second;
  double seconds = 0;
  for (const std::int64_t layer : layers) seconds += at(by_layer, layer).update;
  return seconds;
}

FittedBandwidth FittedBandwidth::read(const std::string& path) {
  FittedBandwidth bandwidth;
  bandwidth.path_ = path;
  read_json(path, [&](const Json& json) {
    for (const auto& [device, by_count] : json.at("inter").items()) {
      const Json& fit = by_count.at("1");
      const Json& curve = fit.at(0);
      bandwidth.between_nodes_[device] = {curve.at(0), curve.at(1), curve.at(2), fit.at(1)};
    }
  });
  return bandwidth;
}

double FittedBandwidth::bytes_per_second(const std::string& device, double message_bytes) const {
  const auto found = between_nodes_.find(device);
  WEIR_EXPECT(found != between_nodes_.end(), input, path_ + ": no bandwidth of " + device);
  const Curve& curve = found->second;
  const double x = std::log2(std::max(1.0, message_bytes / (1 << 20)));
  const double fitted = 1e9 * (curve.square * x * x + curve.linear * x + curve.constant);
  return std::min(fitted > 0 ? fitted : curve.most, curve.most);
}

std::int64_t ProfiledPlan::num_devices() const {
  std::int64_t count = 0;
  for (const Stage& stage : stages) {
    count += stage.tensor * static_cast<std::int64_t>(stage.devices.size());
  }
  return count;
}

namespace {

ProfiledPlan::Stage stage_of(const Json& layers, const Json& replicas, const std::string& path) {
  ProfiledPlan::Stage stage;
  for (const Json& layer : layers) stage.layers.push_back(count_of(layer, path));
  for (const Json& replica : replicas) {
    stage.devices.push_back(replica.at(0).at(0).at(0).get<std::string>());
    stage.tensor = count_of(replica.at(1), path);
  }
  return stage;
}

}  // namespace

ProfiledPlan read_profiled_plan(const std::string& path) {
  ProfiledPlan plan;
  const std::string file = path.substr(path.find_last_of('/') + 1);
  plan.label = file.substr(0, file.rfind(".json"));
  plan.model = file.substr(0, file.find("_plan"));
  read_json(path, [&](const Json& json) {
    const Json& pipelines = json.at("pipeline_list");
    WEIR_EXPECT(pipelines.size() == 1, input,
                path + ": " + std::to_string(pipelines.size()) + " pipelines; expected one");
    const Json& layers = pipelines.at(0).at("layers_per_stage");
    const Json& replicas = pipelines.at(0).at("tmp_per_stage");
    for (std::size_t i = 0; i < layers.size(); ++i) {
      plan.stages.push_back(stage_of(layers.at(i), replicas.at(i), path));
    }
    plan.micro_batch = count_of(json.at("mbs"), path);
    plan.global_batch = count_of(json.at("gbs"), path);
    plan.measured_seconds = json.at("real");
    plan.measured_bytes = json.at("max_mem");
  });
  WEIR_EXPECT(!plan.stages.empty(), input, path + ": no stages");
  for (const ProfiledPlan::Stage& stage : plan.stages) {
    WEIR_EXPECT(!stage.devices.empty() && !stage.layers.empty() && stage.tensor > 0, input,
                path + ": a stage without devices or layers");
  }
  WEIR_EXPECT(plan.micro_batch > 0 && plan.num_micro_batches() > 0 && plan.measured_seconds > 0 &&
                  plan.measured_bytes > 0,
              input, path + ": batches, time and memory must be positive");
  return plan;
}

Transformer profiled_model(const std::string& name) {
  const auto sized = [&](std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                         std::int64_t vocabulary) {
    Transformer model = gpt(name, layers, hidden, heads);
    model.vocabulary = vocabulary;
    return model;
  };
  if (name == "OPT-350") return sized(24, 1024, 16, 50272);
  if (name == "GPT-Neo-2.7") return sized(32, 2560, 20, 50257);
  if (name == "OPT-30") return sized(48, 7168, 56, 50272);
  if (name == "LLAMA-3-8") return built_in_model("llama3-8b");
  throw Error(ErrorCode::input, "no sizes are known of the profiled model '" + name + "'");
}

namespace {

/// Layers between embedding and head.
double num_blocks(const ProfiledPlan::Stage& stage, const Transformer& model) {
  return static_cast<double>(
      std::count_if(stage.layers.begin(), stage.layers.end(),
                    [&](std::int64_t layer) { return layer > 0 && layer <= model.num_layers; }));
}

bool has_layer(const ProfiledPlan::Stage& stage, std::int64_t layer) {
  return std::find(stage.layers.begin(), stage.layers.end(), layer) != stage.layers.end();
}

double parameters_per_device(const ProfiledPlan::Stage& stage, const Transformer& model) {
  const auto embedding = static_cast<double>(model.vocabulary * model.hidden);
  double parameters = num_blocks(stage, model) * parameters_per_layer(model);
  if (has_layer(stage, 0)) {
    parameters += embedding;
    if (model.has_positions) parameters += static_cast<double>(model.sequence * model.hidden);
  } else if (has_layer(stage, model.num_layers + 1)) {
    parameters += embedding;
  }
  return parameters / static_cast<double>(stage.tensor);
}

/// Seconds of one activation into a stage, sent whole by each tensor rank.
double send_seconds(const ProfiledPlan& plan, const Transformer& model,
                    const FittedBandwidth& bandwidth, const std::string& device) {
  const auto bytes = static_cast<double>(2 * plan.micro_batch * model.sequence * model.hidden);
  return bytes / bandwidth.bytes_per_second(device, bytes);
}

double reduction_seconds(const ProfiledPlan::Stage& stage, const Transformer& model,
                         const FittedBandwidth& bandwidth) {
  const auto num_replicas = static_cast<double>(stage.devices.size());
  const double bytes = 4 * parameters_per_device(stage, model);
  double slowest = 0;
  for (const std::string& device : stage.devices) {
    slowest = std::max(slowest, 2 * (num_replicas - 1) / num_replicas * bytes /
                                    bandwidth.bytes_per_second(device, bytes));
  }
  return slowest;
}

}  // namespace

double predict_seconds(const ProfiledPlan& plan, const Profiles& profiles,
                       const FittedBandwidth& bandwidth) {
  const Transformer model = profiled_model(plan.model);
  double slowest = 0;
  double sum = 0;
  double end = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const ProfiledPlan::Stage& stage = plan.stages[i];
    const double num_neighbours = (i > 0 ? 1 : 0) + (i + 1 < plan.stages.size() ? 1 : 0);
    double work = 0;
    double update = 0;
    for (const std::string& device : stage.devices) {
      const auto profile = profiles.find(device);
      WEIR_EXPECT(profile != profiles.end(), input,
                  plan.label + ": no profile of " + plan.model + " on " + device);
      // An activation and its gradient to or from each neighbour.
      const double sends = num_neighbours > 0
                               ? 2 * num_neighbours * send_seconds(plan, model, bandwidth, device)
                               : 0;
      work = std::max(
          work, sends + profile->second.work_seconds(stage.layers, stage.tensor, plan.micro_batch));
      update = std::max(update, profile->second.update_seconds(stage.layers, stage.tensor));
    }
    slowest = std::max(slowest, work);
    sum += work;
    end = std::max(end, reduction_seconds(stage, model, bandwidth) + update);
  }
  return static_cast<double>(plan.num_micro_batches() - 1) * slowest + sum + end;
}

double predict_bytes(const ProfiledPlan& plan) {
  const Transformer model = profiled_model(plan.model);
  double most = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const ProfiledPlan::Stage& stage = plan.stages[i];
    Layout layout;
    layout.tensor = stage.tensor;
    layout.micro_batch = plan.micro_batch;
    const auto in_flight = static_cast<double>(std::min<std::int64_t>(
        plan.num_micro_batches(), static_cast<std::int64_t>(plan.stages.size() - i)));
    double bytes = 18 * parameters_per_device(stage, model) +
                   in_flight * num_blocks(stage, model) * activation_bytes_per_layer(model, layout);
    if (has_layer(stage, model.num_layers + 1)) {
      // Logits in 2 bytes; in 4 bytes a copy, its exponentials, their gradient; that in 2 again.
      constexpr double bytes_per_logit = 16;
      bytes += bytes_per_logit *
               static_cast<double>(plan.micro_batch * model.sequence * model.vocabulary) /
               static_cast<double>(stage.tensor);
    }
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace weir::training
