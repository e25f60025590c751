// SPDX-License-Identifier: Apache-2.0
// Printed parameter counts, memory and times with activation recomputation: published_runs.hpp.
#include <algorithm>
#include <cmath>

#include <weir/engine/training/memory.hpp>
#include <weir/engine/training/published_runs.hpp>
#include <weir/engine/training/validation.hpp>

namespace weir::training {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

// ---- parameter counts

void validate_parameter_counts(Validation& validation) {
  const std::string oracle = "Narayanan21, parameters";
  double largest = 0;
  for (const published::ParameterCount& count : published::parameter_counts) {
    const double billions = 1e-9 * num_parameters(built_in_model(count.model));
    validation.rows.push_back({oracle, std::string(count.model), "e9", count.billions, billions});
    largest = std::max(largest, std::abs(billions - count.billions));
  }
  validation.goals.push_back({oracle, "largest difference, 1e9 (printed to 0.1)", largest, 0.05});
}

// ---- activation recomputation: [Korthikanti22]

Layout recompute_layout(const published::RecomputeRun& run, Recompute recompute,
                        bool has_sequence_parallelism) {
  Layout layout;
  layout.tensor = 8;
  layout.pipeline = run.pipeline;
  layout.interleave = run.interleave;
  layout.schedule = run.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  layout.global_batch = run.global_batch;
  layout.micro_batch = run.micro_batch;
  layout.recompute = recompute;
  layout.has_sequence_parallelism = has_sequence_parallelism;
  return layout;
}

void validate_memory(Validation& validation) {
  const std::string oracle = "Korthikanti22, memory";
  double largest = 0;
  for (const published::RecomputeRun& run : published::recompute_runs) {
    const Transformer& model = built_in_model(run.model);
    const MemoryUse whole = layer_memory(model, recompute_layout(run, Recompute::none, false));
    const MemoryUse less = layer_memory(model, recompute_layout(run, Recompute::selective, true));
    const auto add = [&](const std::string& label, double published_gib, double bytes) {
      validation.rows.push_back(
          {oracle, std::string(run.model) + ", " + label, "GiB", published_gib, bytes / gib});
      largest = std::max(largest, std::abs(bytes / gib - published_gib));
    };
    add("weights, gradients, Adam", run.state_gib, whole.model_state_bytes());
    add("activations", run.tensor_activations_gib, whole.activations_bytes);
    add("activations, selective", run.selective_activations_gib, less.activations_bytes);
  }
  validation.goals.push_back({oracle, "largest difference, GiB", largest, 0});
}

void validate_activation_shares(Validation& validation) {
  const std::string oracle = "Korthikanti22, figure 7";
  double largest = 0;
  for (const published::RecomputeRun& run : published::recompute_runs) {
    const Transformer& model = built_in_model(run.model);
    const auto bytes = [&](Recompute recompute, bool has_sequence_parallelism) {
      return activation_bytes_per_layer(model,
                                        recompute_layout(run, recompute, has_sequence_parallelism));
    };
    const double whole = bytes(Recompute::none, false);
    const std::array shares = {bytes(Recompute::none, true), bytes(Recompute::selective, false),
                               bytes(Recompute::selective, true), bytes(Recompute::full, false)};
    const std::array labels = {"sequence", "selective", "both", "full"};
    for (std::size_t i = 0; i < shares.size(); ++i) {
      validation.rows.push_back({oracle, std::string(run.model) + ", " + labels[i], "share",
                                 run.activation_percent[i], 100 * shares[i] / whole});
      largest = std::max(largest, std::abs(validation.rows.back().error()));
    }
  }
  validation.goals.push_back({oracle, "largest error, %", largest, 1.2});
}

void validate_utilisation(Validation& validation) {
  const std::string oracle = "Korthikanti22, utilisation";
  double largest = 0;
  for (const published::RecomputeRun& run : published::recompute_runs) {
    const Transformer& model = built_in_model(run.model);
    const Layout layout = recompute_layout(run, Recompute::selective, true);
    const auto batch = static_cast<double>(run.global_batch);
    const double peak = 312e12 * static_cast<double>(layout.num_devices()) * run.selective_seconds;
    const std::string name(run.model);
    validation.rows.push_back({oracle, name + ", MFU of the printed time", "%", run.mfu_percent,
                               100 * model_flops(model, batch) / peak});
    validation.rows.push_back({oracle, name + ", HFU of the printed time", "%", run.hfu_percent,
                               100 * hardware_flops(model, batch, Recompute::selective) / peak});
  }
  largest = errors_of(validation.rows, oracle).largest;
  validation.goals.push_back({oracle, "largest difference, points", largest, 0.3});
}

/// What the 22B model alone says of a Selene node; the network is its eight 200 Gb/s adapters.
Machine recompute_machine(const Software& software, const std::string& oracle,
                          Validation& validation) {
  Machine machine;
  machine.tile = 192;  // between the sides of the 256 x 128 blocks that A100 multiplies by
  machine.network_bytes_per_second = 0.9 * 200e9;
  const std::vector<FreeConstant> constants = {
      {"matmul efficiency", &Machine::matmul_efficiency, {0.75, 0.2}},
      {"memory, bytes/s", &Machine::memory_bytes_per_second, {1.4e12, 0.2}},
      {"collectives inside nodes, bytes/s", &Machine::node_bytes_per_second, {230e9, 0.15}},
      {"optimizer, s/parameter", &Machine::optimizer_seconds, {4e-11, 0.5}}};

  const published::RecomputeRun& run = published::recompute_runs.front();
  const Transformer& model = built_in_model(run.model);
  std::vector<Observation> observations;
  for (const published::LayerRun& layer : published::layer_runs) {
    const Layout layout = recompute_layout(run, layer.recompute, layer.has_sequence_parallelism);
    observations.push_back({[=](const Machine& candidate) {
                              return predict_layer(model, layout, candidate, software).forward;
                            },
                            layer.forward_ms * 1e-3});
    observations.push_back({[=](const Machine& candidate) {
                              return predict_layer(model, layout, candidate, software).backward;
                            },
                            layer.backward_ms * 1e-3});
  }
  const std::vector<MeasuredRun> whole = {
      {"full", model, recompute_layout(run, Recompute::full, false), run.full_seconds},
      {"selective", model, recompute_layout(run, Recompute::selective, true),
       run.selective_seconds}};
  for (const Observation& observation : observations_of(whole, software)) {
    observations.push_back(observation);
  }
  machine = calibrate(machine, constants, observations, 0.02);
  validation.add(machine, oracle, constants);
  return machine;
}

void add_layer_rows(const Machine& machine, const Software& software, Validation& validation) {
  const published::RecomputeRun& run = published::recompute_runs.front();
  for (const published::LayerRun& layer : published::layer_runs) {
    const LayerTime time = predict_layer(
        built_in_model(run.model),
        recompute_layout(run, layer.recompute, layer.has_sequence_parallelism), machine, software);
    const std::string label = std::string(layer.label);
    validation.rows.push_back({"Korthikanti22, 22B layer", label + ", forward", "ms",
                               layer.forward_ms, 1e3 * time.forward, true});
    validation.rows.push_back({"Korthikanti22, 22B layer", label + ", backward", "ms",
                               layer.backward_ms, 1e3 * time.backward, true});
  }
}

void validate_recompute_times(Validation& validation) {
  const std::string oracle = "Korthikanti22, time";
  Software software;
  software.has_scattered_sends = true;
  software.tensor_backward_overlap = 0.5;  // the all-reduce of gradients, beside those of weights
  const Machine machine = recompute_machine(software, oracle, validation);
  add_layer_rows(machine, software, validation);

  double sum = 0;
  double largest = 0;
  for (const published::RecomputeRun& run : published::recompute_runs) {
    const bool is_fitted = &run == &published::recompute_runs.front();
    for (const Recompute recompute : {Recompute::full, Recompute::selective}) {
      const bool is_full = recompute == Recompute::full;
      const Layout layout = recompute_layout(run, recompute, !is_full);
      validation.rows.push_back(
          {oracle, std::string(run.model) + (is_full ? ", full" : ", selective, sequence parallel"),
           "s", is_full ? run.full_seconds : run.selective_seconds,
           predict(built_in_model(run.model), layout, machine, software).total(), is_fitted});
      const double error = std::abs(validation.rows.back().error());
      sum += error;
      largest = std::max(largest, error);
    }
  }
  Layout data8 = recompute_layout(published::recompute_runs[2], Recompute::selective, true);
  data8.data = 8;
  data8.global_batch *= 8;
  validation.rows.push_back(
      {oracle + ", data 8", "megatron-530b, 2,240 devices", "s",
       published::recompute_530b_data8_seconds,
       predict(built_in_model("megatron-530b"), data8, machine, software).total()});
  validation.goals.push_back({oracle, "mean error of the eight, %", sum / 8, 3.0});
  validation.goals.push_back({oracle, "largest error of the eight, %", largest, 6.0});
}

}  // namespace

void validate_recompute(Validation& validation) {
  validate_parameter_counts(validation);
  validate_memory(validation);
  validate_activation_shares(validation);
  validate_utilisation(validation);
  validate_recompute_times(validation);
}

}  // namespace weir::training
