// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/engine/training/layout.hpp>

namespace weir::training {

/// What a cluster of equal nodes does per second. The facts are printed by its maker; the constants
/// are fitted to measured rows, and start at what is usual for the hardware.
struct Machine {
  // Facts.
  std::int64_t devices_per_node = 8;
  double peak_flops = 312e12;  ///< Of the matrix units at the precision in use.

  // Constants of one device.
  double matmul_efficiency = 0.8;  ///< Share of the peak that very large products reach.
  double tile = 64;  ///< Elements that a side of a product is rounded up by, on the mean.
  double memory_bytes_per_second = 1.5e12;
  double attention_efficiency = 0.5;  ///< Share of the peak in a fused attention core.
  double launch_seconds = 1e-5;       ///< Least time of one layer's kernels, one forward pass.
  double optimizer_seconds = 4e-11;   ///< Of one parameter.
  double iteration_seconds = 0;       ///< Once an iteration, whatever its size.

  // Constants between devices.
  double node_bytes_per_second = 230e9;           ///< Bus bandwidth of collectives inside a node.
  double node_latency_seconds = 20e-6;            ///< Of one collective inside a node.
  double network_bytes_per_second = 90e9;         ///< Of one node's adapters together.
  double network_tensor_bytes_per_second = 60e9;  ///< The same, reached by tensor collectives.
  /// Share by which all work gets slower as the nodes of the job double: the slowest sets the pace.
  double slowdown_per_doubling = 0;
  /// The same as the nodes of a data-parallel group that has several ranks on each double beyond
  /// two.
  double sharing_slowdown = 0;
};

/// What the software does, besides the layout.
struct Software {
  bool has_fused_attention = false;    ///< Scores never reach memory ([Dao22]).
  bool has_parallel_block = false;     ///< Attention and network side by side ([Wang21]).
  double attention_window = 0;         ///< Tokens; 0: all of them.
  double tensor_forward_overlap = 0;   ///< Hidden share of the forward passes' tensor collectives.
  double tensor_backward_overlap = 0;  ///< The same of the backward passes'.
  bool has_pipeline_overlap = false;   ///< Sends run beside the next micro-batch.
  bool has_data_overlap = false;       ///< Gradients travel beside the last backward passes.
  bool has_scattered_sends = false;    ///< Each tensor rank sends its share ([Narayanan21]).
  /// Keys and values travel around a ring while attention is computed ([Liu24]); otherwise all of
  /// them are gathered before ([Dubey24]).
  bool has_context_ring = false;
  double expert_overlap = 0;  ///< Hidden share of the exchange between experts.
  double gradient_bytes = 4;  ///< Of one parameter, as they are summed.
};

/// Seconds of one iteration on the stage that takes longest, by cause. They sum to the total.
struct IterationTime {
  double matrices = 0;
  double attention = 0;
  double elementwise = 0;
  double logits = 0;
  double launch = 0;   ///< Waiting for kernels to be launched.
  double tensor = 0;   ///< Exposed tensor collectives.
  double context = 0;  ///< Exposed exchange of keys and values.
  double experts = 0;  ///< Exposed exchange of tokens between experts.
  double sends = 0;    ///< Exposed sends between stages.
  double bubble = 0;
  double data = 0;  ///< Exposed reduction of gradients.
  double optimizer = 0;
  double slowdown = 0;  ///< Of many nodes waiting for the slowest.

  double total() const {
    return matrices + attention + elementwise + logits + launch + tensor + context + experts +
           sends + bubble + data + optimizer + slowdown;
  }
};

/// How many times as long exchanges inside a stage travel as between consecutive devices; what is
/// hidden behind computing hides as much as before.
struct ExchangeFactors {
  double context = 1;
  double experts = 1;
};

/// Predicts one iteration. Closed form, microseconds. The layout must have passed check().
IterationTime predict(const Transformer& model, const Layout& layout, const Machine& machine,
                      const Software& software, const ExchangeFactors& factors = {});

/// Seconds of one layer's forward and backward pass of one micro-batch; what is recomputed belongs
/// to the backward pass ([Korthikanti22]).
struct LayerTime {
  double forward = 0;
  double backward = 0;
};

LayerTime predict_layer(const Transformer& model, const Layout& layout, const Machine& machine,
                        const Software& software, LayerKind kind = LayerKind::dense);

/// Bytes that one rank hands to an exchange between experts for one micro-batch: a copy of each of
/// its tokens for each expert that it visits, 2-byte elements. A layer has two forward and two
/// backward; with expert ranks e, (e-1)/e of it travels.
double expert_exchange_bytes(const Transformer& model, const Layout& layout);

/// Share of the peak that the model's own operations get.
double model_flops_utilisation(const Transformer& model, const Layout& layout, double seconds,
                               double peak_flops);

}  // namespace weir::training
