// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <weir/engine/training/layout.hpp>

// Figures as they are printed in papers and in vendors' recipes, to check predictions against. Each
// table names its source; nothing in them is computed.
namespace weir::training::published {

/// [Narayanan21], table 1: parameters in billions.
struct ParameterCount {
  std::string_view model;
  double billions;
};
inline constexpr std::array parameter_counts = {
    ParameterCount{"megatron-1.7b", 1.7},     ParameterCount{"megatron-3.6b", 3.6},
    ParameterCount{"megatron-7.5b", 7.5},     ParameterCount{"megatron-18.4b", 18.4},
    ParameterCount{"megatron-39.1b", 39.1},   ParameterCount{"megatron-76.1b", 76.1},
    ParameterCount{"megatron-145.6b", 145.6}, ParameterCount{"megatron-310b", 310.1},
    ParameterCount{"megatron-530b", 529.6},   ParameterCount{"megatron-1t", 1008.0},
};

/// [Korthikanti22], iteration times, utilisation and figure 7: 8 tensor ranks, sequence 2,048, no
/// data parallelism. Memory as the validation files of [Isaev23] carry it, GiB of one device.
struct RecomputeRun {
  std::string_view model;
  std::int64_t pipeline, interleave, global_batch, micro_batch;
  double full_seconds;
  double selective_seconds;         ///< With sequence parallelism.
  double mfu_percent, hfu_percent;  ///< Of the latter.
  double state_gib;
  double tensor_activations_gib;
  double selective_activations_gib;  ///< With sequence parallelism.
  /// Activations in percent of tensor parallelism alone: sequence parallelism, selective
  /// recomputation, both, full recomputation.
  std::array<double, 4> activation_percent;
};
inline constexpr std::array recompute_runs = {
    RecomputeRun{"megatron-22b",
                 1,
                 1,
                 4,
                 4,
                 1.42,
                 1.10,
                 41.5,
                 43.7,
                 45.5625,
                 59.25,
                 9.5625,
                 {66.84, 49.42, 16.18, 7.64}},
    RecomputeRun{"gpt3-175b",
                 8,
                 3,
                 64,
                 1,
                 18.13,
                 13.75,
                 51.4,
                 52.8,
                 45.5625,
                 66.84375,
                 12.3515625,
                 {62.04, 56.53, 18.49, 8.71}},
    RecomputeRun{"megatron-530b",
                 35,
                 3,
                 280,
                 1,
                 49.05,
                 37.83,
                 56.0,
                 57.0,
                 31.640625,
                 114.0234375,
                 23.076171875,
                 {58.31, 62.04, 20.27, 9.42}},
    RecomputeRun{"megatron-1t",
                 64,
                 1,
                 512,
                 1,
                 94.42,
                 71.49,
                 56.3,
                 57.0,
                 32.958984375,
                 131.25,
                 26.5625,
                 {58.31, 62.04, 20.27, 9.42}},
};
/// The same paper: the 530B model on 2,240 devices, 8 data ranks.
inline constexpr double recompute_530b_data8_seconds = 39.15;

/// [Korthikanti22]: one layer of the 22B model, milliseconds.
struct LayerRun {
  std::string_view label;
  Recompute recompute;
  bool has_sequence_parallelism;
  double forward_ms, backward_ms;
};
inline constexpr std::array layer_runs = {
    LayerRun{"no recomputation", Recompute::none, false, 7.7, 11.9},
    LayerRun{"sequence parallel", Recompute::none, true, 7.2, 11.8},
    LayerRun{"full", Recompute::full, false, 7.7, 19.5},
    LayerRun{"selective", Recompute::selective, false, 7.7, 13.2},
    LayerRun{"selective, sequence parallel", Recompute::selective, true, 7.2, 13.1},
};

/// [Jiang24], strong scaling: the 175B model on Ampere devices, 8 tensor ranks, 8 stages of 6
/// chunks.
struct MegaScaleRun {
  std::int64_t num_devices, global_batch;
  double megatron_seconds, megatron_mfu_percent;
  double megascale_seconds, megascale_mfu_percent;
};
inline constexpr std::array megascale_runs = {
    MegaScaleRun{256, 768, 40.0, 53.0, 32.0, 65.3},
    MegaScaleRun{512, 768, 21.2, 49.9, 16.5, 63.5},
    MegaScaleRun{768, 768, 15.2, 46.7, 11.5, 61.3},
    MegaScaleRun{1024, 768, 11.9, 44.7, 8.9, 59.0},
    MegaScaleRun{3072, 6144, 29.02, 48.7, 23.66, 59.1},
    MegaScaleRun{6144, 6144, 14.78, 47.8, 12.21, 57.3},
    MegaScaleRun{8192, 6144, 12.24, 43.3, 9.56, 54.9},
    MegaScaleRun{12288, 6144, 8.57, 41.2, 6.34, 55.2},
};

/// [Jiang24 §6.3]: points of utilisation gained, about, by taking away hosts that took 10 % longer
/// for the same forward passes. How many, and in which stages, is not said.
inline constexpr double megascale_straggler_factor = 1.1;
inline constexpr double megascale_straggler_points = 0.7;

/// [Jiang24], ablation: what each change adds, 256 devices, batch 256.
struct MegaScaleStep {
  std::string_view label;
  double mfu_percent;
};
inline constexpr std::array megascale_steps = {
    MegaScaleStep{"baseline", 47.7},           MegaScaleStep{"+ parallel block", 52.3},
    MegaScaleStep{"+ sliding window", 53.3},   MegaScaleStep{"+ tensor overlap", 55.5},
    MegaScaleStep{"+ pipeline overlap", 58.0}, MegaScaleStep{"+ data overlap", 59.5},
};

/// [Dubey24], table 4: Llama 3 405B on H100, 8 tensor ranks, 16 stages.
struct Llama3Run {
  std::int64_t num_devices, context, data, sequence, samples_per_data;
  double teraflops_per_device;
  double mfu_percent;
};
inline constexpr std::array llama3_runs = {
    Llama3Run{8192, 1, 64, 8192, 32, 430, 43},
    Llama3Run{16384, 1, 128, 8192, 16, 400, 41},
    Llama3Run{16384, 16, 8, 131072, 16, 380, 38},
};

/// NVIDIA's recipes (dgxc-benchmarking, tags v24.11 to v25.08): BF16 on H100 nodes of 8, seconds of
/// a step while batch and devices grow together.
struct RecipeRun {
  std::string_view family;
  std::int64_t num_devices;
  double seconds;
};
struct RecipeFamily {
  std::string_view family;
  std::string_view model;
  std::int64_t sequence, tensor, pipeline, context, interleave, micro_batch;
  double samples_per_device;
};
inline constexpr std::array recipe_families = {
    RecipeFamily{"Llama 3.1 8B", "llama3-8b", 8192, 1, 1, 2, 1, 1, 16},
    RecipeFamily{"Llama 3.1 70B", "llama3-70b", 8192, 4, 4, 2, 5, 1, 2},
    RecipeFamily{"Llama 3.1 405B", "llama3-405b", 8192, 8, 8, 2, 8, 1, 0.5},
    RecipeFamily{"GPT-3 175B", "gpt3-175b", 2048, 4, 8, 1, 12, 1, 2},
    RecipeFamily{"Llama 2 70B", "llama2-70b", 4096, 1, 1, 1, 1, 2, 2},
};
inline constexpr std::array recipe_runs = {
    RecipeRun{"Llama 3.1 8B", 8, 12.27},      RecipeRun{"Llama 3.1 8B", 16, 12.3},
    RecipeRun{"Llama 3.1 8B", 32, 12.32},     RecipeRun{"Llama 3.1 8B", 64, 12.33},
    RecipeRun{"Llama 3.1 8B", 128, 12.33},    RecipeRun{"Llama 3.1 70B", 64, 14.66},
    RecipeRun{"Llama 3.1 70B", 128, 14.67},   RecipeRun{"Llama 3.1 70B", 256, 14.68},
    RecipeRun{"Llama 3.1 70B", 512, 14.67},   RecipeRun{"Llama 3.1 70B", 1024, 14.65},
    RecipeRun{"Llama 3.1 70B", 2048, 14.66},  RecipeRun{"Llama 3.1 405B", 512, 19.78},
    RecipeRun{"Llama 3.1 405B", 1024, 19.84}, RecipeRun{"Llama 3.1 405B", 2048, 19.87},
    RecipeRun{"GPT-3 175B", 128, 8.309},      RecipeRun{"GPT-3 175B", 256, 8.408},
    RecipeRun{"GPT-3 175B", 512, 8.42},       RecipeRun{"GPT-3 175B", 1024, 8.453},
    RecipeRun{"GPT-3 175B", 2048, 8.49},      RecipeRun{"Llama 2 70B", 64, 6.999},
    RecipeRun{"Llama 2 70B", 128, 7.072},     RecipeRun{"Llama 2 70B", 256, 7.153},
    RecipeRun{"Llama 2 70B", 512, 7.091},     RecipeRun{"Llama 2 70B", 1024, 7.084},
    RecipeRun{"Llama 2 70B", 2048, 7.066},
};

}  // namespace weir::training::published
