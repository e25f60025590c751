// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weir/engine/training/transformer.hpp>

namespace weir::training {

/// Measured seconds of each layer on one type of device, as Sailor's profiler writes them
/// ([Strati25]): by micro-batch and tensor degree, the embedding first, the head last.
class LayerProfile {
 public:
  /// Throws Error{input} naming the file.
  static LayerProfile read(const std::string& path);

  /// Forward and backward seconds of some layers on one micro-batch: the line a + b * micro_batch
  /// that fits the profiled micro-batches best in relative error. Launches make the part that does
  /// not grow, and hiccups of single profiled sizes even out. Throws Error{input} where a layer or
  /// the tensor degree was not profiled.
  double work_seconds(const std::vector<std::int64_t>& layers, std::int64_t tensor,
                      std::int64_t micro_batch) const;
  /// Seconds of the optimizer on some layers, once an iteration.
  double update_seconds(const std::vector<std::int64_t>& layers, std::int64_t tensor) const;

 private:
  struct LayerSeconds {
    double forward = 0, backward = 0, update = 0;
  };
  using ByLayer = std::map<std::int64_t, LayerSeconds>;

  const std::map<std::int64_t, ByLayer>& by_micro_batch(std::int64_t tensor) const;
  const LayerSeconds& at(const ByLayer& layers, std::int64_t layer) const;

  std::string path_;
  std::map<std::int64_t, std::map<std::int64_t, ByLayer>> by_tensor_;
};

/// Bandwidth between nodes by type of device, a parabola over the logarithm of the message's size
/// (Sailor's `network_coeffs_all_homo.json`).
class FittedBandwidth {
 public:
  /// Throws Error{input} naming the file.
  static FittedBandwidth read(const std::string& path);

  /// Bytes per second of one device's messages of that size. Throws Error{input} for a type that is
  /// not in the file.
  double bytes_per_second(const std::string& device, double message_bytes) const;

 private:
  struct Curve {
    double square = 0, linear = 0, constant = 0;  ///< GB/s over log2 of MiB.
    double most = 0;                              ///< Bytes per second.
  };

  std::string path_;
  std::map<std::string, Curve> between_nodes_;
};

/// A pipeline plan of Sailor's, with what was measured when it ran.
struct ProfiledPlan {
  struct Stage {
    std::vector<std::int64_t> layers;
    std::vector<std::string> devices;  ///< Type of each replica's devices.
    std::int64_t tensor = 1;
  };

  std::string label;
  std::string model;
  std::vector<Stage> stages;
  std::int64_t micro_batch = 1;
  std::int64_t global_batch = 1;
  double measured_seconds = 0;
  double measured_bytes = 0;  ///< Of the device that used most.

  std::int64_t data() const { return static_cast<std::int64_t>(stages.front().devices.size()); }
  std::int64_t num_micro_batches() const { return global_batch / (data() * micro_batch); }
  std::int64_t num_devices() const;
};

/// Reads a plan; its file is named MODEL_plan_config_REST.json. Throws Error{input} naming the
/// file.
ProfiledPlan read_profiled_plan(const std::string& path);

/// The model that Sailor's profiles call by that name (`OPT-350`, ...). Throws Error{input}.
Transformer profiled_model(const std::string& name);

/// Profiles by type of device.
using Profiles = std::map<std::string, LayerProfile>;

/// Seconds of one 1F1B iteration: the slowest stage paces the micro-batches, the others' work fills
/// and drains the pipeline, then gradients are reduced in a ring and the optimizer runs.
double predict_seconds(const ProfiledPlan& plan, const Profiles& profiles,
                       const FittedBandwidth& bandwidth);

/// Bytes of the device that uses most, beyond what every process holds whatever it runs: 18 a
/// parameter, activations of the micro-batches in flight, logits on the last stage.
double predict_bytes(const ProfiledPlan& plan);

}  // namespace weir::training
