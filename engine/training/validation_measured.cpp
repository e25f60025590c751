// SPDX-License-Identifier: Apache-2.0
// The oracles that are files: vTrain's measured iterations and Sailor's measured plans.
#include <algorithm>
#include <filesystem>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/profiled_plan.hpp>
#include <weir/engine/training/validation.hpp>
#include <weir/engine/training/vtrain_runs.hpp>

namespace weir::training {

namespace {

/// One of vTrain's two files, and how its rows are split.
struct VtrainFile {
  std::string oracle;
  std::string name;
  bool has_several_nodes = false;  ///< Then a first column has the parameters.
  std::size_t stride = 2;          ///< Rows 0, stride, 2 stride, ... are fitted to.
  double mean_error_limit = 0;
  double rank_correlation_limit = 0;  ///< 0: none.
  double row_error = 0.02;
};

/// What is usual for A100 nodes with 800 Gb/s into the network, and how sure that is.
std::vector<FreeConstant> vtrain_constants(const VtrainFile& file) {
  std::vector<FreeConstant> constants = {
      {"matmul efficiency", &Machine::matmul_efficiency, {0.75, 0.1}},
      {"tile, elements", &Machine::tile, {64, 0.4}},
      {"memory, bytes/s", &Machine::memory_bytes_per_second, {1.5e12, 0.5}},
      {"optimizer, s/parameter", &Machine::optimizer_seconds, {4e-11, 1}},
      {"once an iteration, s", &Machine::iteration_seconds, {1e-3, 2}},
      {"collectives inside nodes, bytes/s", &Machine::node_bytes_per_second, {230e9, 0.1}},
      {"collective latency, s", &Machine::node_latency_seconds, {20e-6, 1}}};
  if (!file.has_several_nodes) {
    // Its layers are so small that launching them is what takes time.
    constants.push_back({"launches of a layer pass, s", &Machine::launch_seconds, {8e-4, 1.5}});
    return constants;
  }
  constants.push_back(
      {"network of a node, bytes/s", &Machine::network_bytes_per_second, {80e9, 0.15}});
  constants.push_back(
      {"the same, tensor groups, bytes/s", &Machine::network_tensor_bytes_per_second, {60e9, 0.7}});
  constants.push_back({"slowdown of shared nodes", &Machine::sharing_slowdown, {0.01, 1.5}});
  return constants;
}

bool is_same(const MeasuredRun& a, const MeasuredRun& b) {
  return a.label == b.label && a.seconds == b.seconds && a.model.sequence == b.model.sequence &&
         a.model.num_heads == b.model.num_heads;
}

void validate_vtrain_file(const VtrainFile& file, const std::string& fit_folder,
                          const std::string& data_folder, Validation& validation) {
  const std::string data_path = data_folder + "/vtrain/" + file.name;
  const std::string fit_path = fit_folder + "/vtrain/" + file.name;
  for (const std::string& path : {fit_path, data_path}) {
    if (std::filesystem::exists(path)) continue;
    validation.left_out.push_back(path + " does not exist");
    return;
  }
  const std::vector<MeasuredRun> known = read_vtrain_runs(fit_path, file.has_several_nodes);
  std::vector<MeasuredRun> fitted;
  for (std::size_t i = 0; i < known.size(); i += file.stride) fitted.push_back(known[i]);

  Software software;
  software.has_scattered_sends = true;
  const std::vector<FreeConstant> constants = vtrain_constants(file);
  const Machine machine =
      calibrate({}, constants, observations_of(fitted, software), file.row_error);
  validation.add(machine, file.oracle, constants);

  std::vector<double> measured;
  std::vector<double> predicted;
  for (const MeasuredRun& run : read_vtrain_runs(data_path, file.has_several_nodes)) {
    measured.push_back(run.seconds);
    predicted.push_back(predict(run.model, run.layout, machine, software).total());
    const bool is_fitted = std::any_of(fitted.begin(), fitted.end(), [&](const MeasuredRun& other) {
      return is_same(run, other);
    });
    validation.rows.push_back(
        {file.oracle, run.label, "s", measured.back(), predicted.back(), is_fitted});
  }
  validation.goals.push_back({file.oracle, "mean error of the rows not fitted to, %",
                              errors_of(validation.rows, file.oracle).mean, file.mean_error_limit});
  if (file.rank_correlation_limit > 0 && measured.size() > 2) {
    validation.goals.push_back({file.oracle, "rank correlation over all rows",
                                rank_correlation(measured, predicted), file.rank_correlation_limit,
                                true});
  }
}

}  // namespace

void validate_vtrain(const std::string& fit_folder, const std::string& data_folder,
                     Validation& validation) {
  const VtrainFile several{
      "vTrain, several nodes", "multi_nodes_measured.csv", true, 2, 6.0, 0.95, 0.02};
  const VtrainFile one{"vTrain, one node", "single_node_measured.csv", false, 3, 10.0, 0, 0.03};
  validate_vtrain_file(several, fit_folder, data_folder, validation);
  validate_vtrain_file(one, fit_folder, data_folder, validation);
}

namespace {

std::vector<ProfiledPlan> read_plans(const std::string& folder,
                                     std::vector<std::string>& left_out) {
  std::vector<std::string> paths;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ProfiledPlan> plans;
  for (const std::string& path : paths) {
    try {
      plans.push_back(read_profiled_plan(path));
    } catch (const Error& error) {
      left_out.emplace_back(error.text());
    }
  }
  return plans;
}

/// The profiles of all devices of a plan that either folder has.
Profiles profiles_of(const ProfiledPlan& plan, const std::vector<std::string>& folders) {
  Profiles profiles;
  for (const ProfiledPlan::Stage& stage : plan.stages) {
    for (const std::string& device : stage.devices) {
      for (const std::string& folder : folders) {
        std::string path = folder + "/sailor/profiles/";
        path += plan.model + '_';
        path += device + ".json";
        if (profiles.contains(device) || !std::filesystem::exists(path)) continue;
        profiles.emplace(device, LayerProfile::read(path));
      }
    }
  }
  return profiles;
}

/// What a process holds before it holds anything of the plan: libraries, context, buffers of
/// collectives. From the smallest measured plan.
struct ProcessMemory {
  std::string label;  ///< Of that plan.
  double bytes = 0;
};

ProcessMemory process_memory(const std::vector<ProfiledPlan>& plans) {
  const auto smallest = std::min_element(plans.begin(), plans.end(),
                                         [](const ProfiledPlan& a, const ProfiledPlan& b) {
                                           return std::pair(a.num_devices(), a.global_batch) <
                                                  std::pair(b.num_devices(), b.global_batch);
                                         });
  return {smallest->label, smallest->measured_bytes - predict_bytes(*smallest)};
}

}  // namespace

void validate_sailor(const std::string& fit_folder, const std::string& data_folder,
                     Validation& validation) {
  const std::string network = "/sailor/network_coeffs_all_homo.json";
  std::vector<std::string> unknown;
  const std::vector<ProfiledPlan> known = read_plans(fit_folder + "/sailor/measured", unknown);
  if (known.empty() || !std::filesystem::exists(fit_folder + network)) {
    validation.left_out.push_back(fit_folder + "/sailor has no measured plans or no network file");
    return;
  }
  const FittedBandwidth bandwidth = FittedBandwidth::read(fit_folder + network);
  const ProcessMemory process = process_memory(known);
  validation.constants.push_back(
      {"Sailor, memory", "held by every process, bytes", 0, process.bytes});
  std::vector<ValidationRow> times;
  std::vector<ValidationRow> memory;
  for (const ProfiledPlan& plan :
       read_plans(data_folder + "/sailor/measured", validation.left_out)) {
    const std::string of_model = plan.model == "OPT-350" ? "" : " " + plan.model;
    try {
      const Profiles profiles = profiles_of(plan, {data_folder, fit_folder});
      times.push_back({"Sailor, time" + of_model, plan.label, "s", plan.measured_seconds,
                       predict_seconds(plan, profiles, bandwidth), false});
      memory.push_back({"Sailor, memory" + of_model, plan.label, "GB", plan.measured_bytes * 1e-9,
                        (predict_bytes(plan) + process.bytes) * 1e-9, plan.label == process.label});
    } catch (const Error& error) {
      validation.left_out.emplace_back(error.text());
    }
  }
  validation.rows.insert(validation.rows.end(), times.begin(), times.end());
  validation.rows.insert(validation.rows.end(), memory.begin(), memory.end());
  for (const auto& [oracle, limit] : {std::pair("Sailor, time", 8.0), {"Sailor, memory", 10.0}}) {
    const ErrorSummary errors = errors_of(validation.rows, oracle);
    if (errors.num_rows == 0) {
      validation.left_out.push_back(data_folder + "/sailor has no row of OPT-350 to predict");
      continue;
    }
    validation.goals.push_back({oracle, "mean error, OPT-350, %", errors.mean, limit});
  }
}

}  // namespace weir::training
