// SPDX-License-Identifier: Apache-2.0
// Printed runs on hundreds to thousands of devices: published_runs.hpp.
#include <algorithm>
#include <array>
#include <cmath>

#include <weir/engine/training/published_runs.hpp>
#include <weir/engine/training/validation.hpp>

namespace weir::training {

namespace {

// ---- MegaScale: [Jiang24]

/// Which of its changes MegaScale's software has; all, or none as Megatron-LM.
struct MegaScaleSoftware {
  bool has_parallel_block = true;
  bool has_window = true;
  bool has_tensor_overlap = true;
  bool has_pipeline_overlap = true;
  bool has_data_overlap = true;
};

constexpr MegaScaleSoftware megatron_software = {false, false, false, false, false};

Software software_of(const MegaScaleSoftware& changes) {
  Software software;
  software.has_scattered_sends = true;
  software.has_fused_attention = true;
  software.tensor_backward_overlap = 1;
  software.has_parallel_block = changes.has_parallel_block;
  // The paper does not print the window; half the sequence.
  software.attention_window = changes.has_window ? 1024 : 0;
  software.tensor_forward_overlap = changes.has_tensor_overlap ? 0.8 : 0;
  software.has_pipeline_overlap = changes.has_pipeline_overlap;
  software.has_data_overlap = changes.has_data_overlap;
  return software;
}

Layout megascale_layout(std::int64_t num_devices, std::int64_t global_batch) {
  Layout layout;
  layout.tensor = 8;
  layout.pipeline = 8;
  layout.interleave = 6;
  layout.schedule = Schedule::interleaved;
  layout.data = num_devices / 64;
  layout.global_batch = global_batch;
  layout.has_sequence_parallelism = true;
  return layout;
}

/// Two constants from the runs on 256 and 3,072 devices; the rest is what eight adapters of
/// 200 Gb/s and an A100 usually do.
Machine megascale_machine(const Software& software, const std::string& oracle, bool is_megascale,
                          Validation& validation) {
  Machine machine;
  machine.network_bytes_per_second = 0.8 * 200e9;
  const std::vector<FreeConstant> constants = {
      {"matmul efficiency", &Machine::matmul_efficiency, {0.75, 1}},
      {"slowdown per doubling of nodes", &Machine::slowdown_per_doubling, {0.02, 1}}};
  std::vector<MeasuredRun> runs;
  for (const published::MegaScaleRun& run : published::megascale_runs) {
    if (run.num_devices != 256 && run.num_devices != 3072) continue;
    runs.push_back({"", built_in_model("megascale-175b"),
                    megascale_layout(run.num_devices, run.global_batch),
                    is_megascale ? run.megascale_seconds : run.megatron_seconds});
  }
  machine = calibrate(machine, constants, observations_of(runs, software), 0.002);
  validation.add(machine, oracle, constants);
  return machine;
}

Machine validate_megascale_column(bool is_megascale, Validation& validation) {
  const std::string oracle = is_megascale ? "Jiang24, MegaScale" : "Jiang24, Megatron-LM";
  const Software software = software_of(is_megascale ? MegaScaleSoftware{} : megatron_software);
  const Transformer& model = built_in_model("megascale-175b");
  const Machine machine = megascale_machine(software, oracle, is_megascale, validation);
  double largest_mfu = 0;
  for (const published::MegaScaleRun& run : published::megascale_runs) {
    const Layout layout = megascale_layout(run.num_devices, run.global_batch);
    const double seconds = is_megascale ? run.megascale_seconds : run.megatron_seconds;
    validation.rows.push_back({oracle, std::to_string(run.num_devices) + " devices", "s", seconds,
                               predict(model, layout, machine, software).total(),
                               run.num_devices == 256 || run.num_devices == 3072});
    if (is_megascale) continue;
    const double mfu = 100 * model_flops_utilisation(model, layout, seconds, 312e12);
    largest_mfu = std::max(largest_mfu, std::abs(mfu - run.megatron_mfu_percent));
    validation.rows.push_back({"Jiang24, utilisation",
                               std::to_string(run.num_devices) + " devices, MFU of the time", "%",
                               run.megatron_mfu_percent, mfu});
  }
  validation.goals.push_back({oracle, "largest error of the rows not fitted to, %",
                              errors_of(validation.rows, oracle).largest, 6.0});
  if (!is_megascale) {
    validation.goals.push_back(
        {"Jiang24, utilisation", "largest difference, points", largest_mfu, 0.3});
  }
  return machine;
}

/// Each change on top of those before it, with the constants of the Megatron-LM column.
void validate_megascale_steps(const Machine& machine, Validation& validation) {
  const std::string oracle = "Jiang24, ablation";
  const Layout layout = megascale_layout(256, 256);
  const Transformer& model = built_in_model("megascale-175b");
  MegaScaleSoftware changes = megatron_software;
  const std::array<bool MegaScaleSoftware::*, 5> switches = {
      &MegaScaleSoftware::has_parallel_block, &MegaScaleSoftware::has_window,
      &MegaScaleSoftware::has_tensor_overlap, &MegaScaleSoftware::has_pipeline_overlap,
      &MegaScaleSoftware::has_data_overlap};
  double num_right = 0;
  double before = 0;
  for (std::size_t i = 0; i < published::megascale_steps.size(); ++i) {
    if (i > 0) changes.*switches[i - 1] = true;
    const double seconds = predict(model, layout, machine, software_of(changes)).total();
    const double mfu = 100 * model_flops_utilisation(model, layout, seconds, 312e12);
    validation.rows.push_back({oracle, std::string(published::megascale_steps[i].label), "%",
                               published::megascale_steps[i].mfu_percent, mfu});
    if (i > 0 && mfu > before) num_right += 1;
    before = mfu;
  }
  validation.goals.push_back({oracle, "changes that raise MFU, of 5", num_right, 5, true});
}

// ---- H100: [Dubey24] and NVIDIA's recipes

/// An H100 node: 989 TF in BF16, NVLink, eight adapters of 400 Gb/s.
Machine h100_machine() {
  Machine machine;
  machine.peak_flops = 989e12;
  machine.memory_bytes_per_second = 2.5e12;
  machine.node_bytes_per_second = 370e9;
  machine.network_bytes_per_second = 0.8 * 400e9;
  machine.optimizer_seconds = 2e-11;
  return machine;
}

/// Operations of one sample as the papers on causal models count them: half of the attention.
double causal_model_flops(const Transformer& model, double num_samples) {
  const ForwardFlops forward = forward_flops(model);
  return 3 * num_samples * (forward.total() - forward.attention / 2);
}

void validate_llama3(Validation& validation) {
  const std::string oracle = "Dubey24, utilisation";
  Software software;
  software.has_fused_attention = true;
  software.has_pipeline_overlap = true;
  software.has_data_overlap = true;
  software.has_scattered_sends = true;

  std::vector<MeasuredRun> runs;
  for (const published::Llama3Run& run : published::llama3_runs) {
    MeasuredRun measured;
    measured.label =
        std::to_string(run.num_devices) + " devices, context ranks " + std::to_string(run.context);
    measured.model = built_in_model("llama3-405b");
    measured.model.sequence = run.sequence;
    Layout& layout = measured.layout;
    layout.tensor = 8;
    layout.pipeline = 16;
    layout.context = run.context;
    layout.data = run.data;
    layout.global_batch = run.data * run.samples_per_data;
    layout.schedule = Schedule::interleaved;
    layout.interleave = 8;  // one layer a chunk
    layout.zero_stage = 2;
    layout.has_sequence_parallelism = true;
    measured.seconds =
        causal_model_flops(measured.model, static_cast<double>(layout.global_batch)) /
        (run.teraflops_per_device * 1e12 * static_cast<double>(run.num_devices));
    runs.push_back(std::move(measured));
  }
  const std::vector<FreeConstant> constants = {
      {"matmul efficiency", &Machine::matmul_efficiency, {0.7, 1}}};
  const Machine machine =
      calibrate(h100_machine(), constants, observations_of({runs.front()}, software), 0.002);
  validation.add(machine, oracle, constants);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double seconds = predict(runs[i].model, runs[i].layout, machine, software).total();
    const double flops =
        causal_model_flops(runs[i].model, static_cast<double>(runs[i].layout.global_batch));
    const double devices = static_cast<double>(runs[i].layout.num_devices());
    validation.rows.push_back({oracle, runs[i].label, "%", published::llama3_runs[i].mfu_percent,
                               100 * flops / (devices * machine.peak_flops * seconds), i == 0});
  }
  validation.goals.push_back({oracle, "largest difference not fitted to, points",
                              errors_of(validation.rows, oracle).largest, 2.0});
}

MeasuredRun recipe_run(const published::RecipeFamily& family, const published::RecipeRun& run) {
  MeasuredRun measured;
  measured.label = std::string(family.family) + ", " + std::to_string(run.num_devices);
  measured.model = built_in_model(family.model);
  measured.model.sequence = family.sequence;
  Layout& layout = measured.layout;
  layout.tensor = family.tensor;
  layout.pipeline = family.pipeline;
  layout.context = family.context;
  layout.data = run.num_devices / (family.tensor * family.pipeline * family.context);
  layout.global_batch =
      static_cast<std::int64_t>(family.samples_per_device * static_cast<double>(run.num_devices));
  layout.micro_batch = family.micro_batch;
  layout.interleave = family.interleave;
  layout.schedule = family.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  layout.has_sequence_parallelism = family.tensor > 1;
  layout.zero_stage = 1;
  measured.seconds = run.seconds;
  return measured;
}

/// The share by which a step grows from a family's smallest to its largest run, in percent.
double growth_percent(double first, double last) { return 100 * (last / first - 1); }

void validate_recipes(Validation& validation) {
  const std::string oracle = "H100 recipes, time";
  Software software;
  software.has_fused_attention = true;
  software.tensor_forward_overlap = 0.9;
  software.tensor_backward_overlap = 0.9;
  software.has_pipeline_overlap = true;
  software.has_data_overlap = true;
  software.has_scattered_sends = true;
  constexpr std::int64_t most_devices_fitted = 512;

  // The smallest run of a family by its time, larger ones by how much longer they take.
  std::vector<Observation> observations;
  for (const published::RecipeFamily& family : published::recipe_families) {
    std::vector<MeasuredRun> runs;
    for (const published::RecipeRun& run : published::recipe_runs) {
      if (run.family == family.family && run.num_devices <= most_devices_fitted) {
        runs.push_back(recipe_run(family, run));
      }
    }
    const std::vector<Observation> times = observations_of(runs, software);
    observations.push_back(times.front());
    for (std::size_t i = 1; i < times.size(); ++i) {
      observations.push_back({[first = times.front(), later = times[i]](const Machine& candidate) {
                                return later.predicted(candidate) / first.predicted(candidate);
                              },
                              times[i].measured / times.front().measured});
    }
  }
  const std::vector<FreeConstant> constants = {
      {"matmul efficiency", &Machine::matmul_efficiency, {0.75, 1}},
      {"slowdown per doubling of nodes", &Machine::slowdown_per_doubling, {0.003, 1}}};
  const Machine machine = calibrate(h100_machine(), constants, observations, 0.01);
  validation.add(machine, oracle, constants);

  double largest = 0;
  for (const published::RecipeFamily& family : published::recipe_families) {
    std::vector<ValidationRow> rows;
    for (const published::RecipeRun& run : published::recipe_runs) {
      if (run.family != family.family) continue;
      const MeasuredRun measured = recipe_run(family, run);
      rows.push_back({oracle, measured.label, "s", run.seconds,
                      predict(measured.model, measured.layout, machine, software).total(),
                      run.num_devices <= most_devices_fitted});
    }
    validation.rows.insert(validation.rows.end(), rows.begin(), rows.end());
    validation.rows.push_back({"H100 recipes, growth", std::string(family.family), "%",
                               growth_percent(rows.front().measured, rows.back().measured),
                               growth_percent(rows.front().predicted, rows.back().predicted)});
    largest = std::max(largest, std::abs(validation.rows.back().error()));
  }
  validation.goals.push_back(
      {"H100 recipes, growth", "largest difference over a family, points", largest, 1.5});
}

}  // namespace

CalibratedRun largest_megascale_run() {
  const published::MegaScaleRun& run = published::megascale_runs.back();
  const Software software = software_of({});
  Validation unused;
  return {built_in_model("megascale-175b"), megascale_layout(run.num_devices, run.global_batch),
          megascale_machine(software, "", true, unused), software};
}

void validate_scaling(Validation& validation) {
  const Machine megatron = validate_megascale_column(false, validation);
  validate_megascale_column(true, validation);
  validate_megascale_steps(megatron, validation);
  validate_llama3(validation);
  validate_recipes(validation);
}

}  // namespace weir::training
