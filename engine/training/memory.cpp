// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/memory.hpp>

#include <algorithm>

namespace weir::training {

double activation_bytes_per_layer(const Transformer& model, const Layout& layout, LayerKind kind,
                                  bool has_fused_attention) {
  const auto s = static_cast<double>(model.sequence);
  const auto h = static_cast<double>(model.hidden);
  const auto tokens =
      s * static_cast<double>(layout.micro_batch) / static_cast<double>(layout.context);
  const auto t = static_cast<double>(layout.tensor);
  if (layout.recompute == Recompute::full) return 2 * tokens * h;

  const auto query = static_cast<double>(model.query_width());
  const auto kv = static_cast<double>(model.key_width() + model.value_width());
  const auto out = static_cast<double>(model.attention_width());
  // Input and output of the activation function.
  const double per_width = model.is_gated ? 8 : 4;
  // Inputs of both normalisations, of both blocks' first matrices, and two dropout masks.
  double whole = 10 * tokens * h;
  if (model.has_latent_attention()) {
    // The latent vectors before and after their normalisations.
    whole += 4 * tokens * static_cast<double>(model.latent.query_rank + model.latent.kv_rank);
  }
  // Queries, keys, values, the input of the projection.
  double cut = tokens * (2 * query + 2 * kv + 2 * out);
  if (kind == LayerKind::dense) {
    cut += tokens * per_width * static_cast<double>(model.feed_forward);
  } else {
    const Experts& experts = model.experts;
    const auto width = static_cast<double>(experts.feed_forward);
    cut += tokens * static_cast<double>(experts.num_shared) * per_width * width;
    cut += tokens * experts.load * static_cast<double>(experts.num_chosen) *
           (4 * h + per_width * width);
  }
  // Scores and softmax, 2 bytes each, and the dropout mask of 1; or what they are made from again.
  const double per_query = has_fused_attention ? 4 : 5 * s;
  const double core = layout.recompute == Recompute::none
                          ? per_query * tokens * static_cast<double>(model.num_heads)
                          : 0;
  return (layout.has_sequence_parallelism ? whole / t : whole) + (cut + core) / t;
}

namespace {

/// Layers of one stage.
struct StageLayers {
  double dense = 0;
  double experts = 0;
};

/// Parameters of one device, by who holds the same: those of its tensor rank, those of its experts.
struct DeviceParameters {
  double common = 0;
  double routed = 0;
};

/// `uncounted` parameters of each layer are left out.
DeviceParameters parameters_of_layers(const Transformer& model, const Layout& layout,
                                      const StageLayers& layers, double uncounted = 0) {
  const LayerParameters dense = parameters_of(model, LayerKind::dense);
  const LayerParameters experts = parameters_of(model, LayerKind::experts);
  const double common =
      layers.dense * (dense.common - uncounted) + layers.experts * (experts.common - uncounted);
  return {common / static_cast<double>(layout.tensor),
          layers.experts * experts.routed / static_cast<double>(layout.expert)};
}

/// State and activations of one device; the mixed precision of [Micikevicius18] with Adam.
MemoryUse memory_of(const DeviceParameters& parameters, double activations, const Layout& layout) {
  const auto shared_out = [&](int from_stage) {
    if (layout.zero_stage < from_stage) return parameters.common + parameters.routed;
    return parameters.common / static_cast<double>(layout.data * layout.context) +
           parameters.routed * static_cast<double>(layout.expert) /
               static_cast<double>(layout.num_stage_devices());
  };
  MemoryUse use;
  use.weights_bytes = 2 * shared_out(3);
  use.gradients_bytes = 4 * shared_out(2);
  use.optimizer_bytes = 12 * shared_out(1);
  use.activations_bytes = activations;
  return use;
}

double stage_activations(const Transformer& model, const Layout& layout, const StageLayers& layers,
                         bool has_fused_attention) {
  const auto of_layer = [&](LayerKind kind) {
    return activation_bytes_per_layer(model, layout, kind, has_fused_attention);
  };
  const double in_flight = micro_batches_in_flight(layout);
  return in_flight * layers.dense * of_layer(LayerKind::dense) +
         in_flight * layers.experts * of_layer(LayerKind::experts);
}

/// Memory of a stage of these layers; the first has the embedding.
MemoryUse stage_memory(const Transformer& model, const Layout& layout, const StageLayers& layers,
                       bool is_first, bool has_fused_attention) {
  const auto h = static_cast<double>(model.hidden);
  const auto vocabulary = static_cast<double>(model.vocabulary);
  const auto t = static_cast<double>(layout.tensor);
  DeviceParameters parameters = parameters_of_layers(model, layout, layers);
  if (is_first) {
    parameters.common += vocabulary * h / t;
    if (layout.pipeline == 1 && !model.has_tied_embedding) {
      parameters.common += vocabulary * h / t;
    }
    if (model.has_positions) parameters.common += static_cast<double>(model.sequence) * h / t;
  }
  double activations = stage_activations(model, layout, layers, has_fused_attention);
  const double tokens = static_cast<double>(model.sequence * layout.micro_batch) /
                        static_cast<double>(layout.context);
  if (layout.recompute == Recompute::full) {
    // One layer at a time is computed again and kept for its backward pass.
    Layout kept = layout;
    kept.recompute = Recompute::none;
    activations += activation_bytes_per_layer(
        model, kept, layers.experts > 0 ? LayerKind::experts : LayerKind::dense,
        has_fused_attention);
  }
  if (layout.pipeline == 1) {
    // Logits in 2 bytes; in 4 bytes a copy, its exponentials, their gradient; that in 2 again.
    activations += 16 * tokens * vocabulary / t;
  }
  return memory_of(parameters, activations, layout);
}

}  // namespace

MemoryUse layer_memory(const Transformer& model, const Layout& layout) {
  const auto p = static_cast<double>(layout.pipeline);
  const StageLayers layers = {static_cast<double>(num_layers_of(model, LayerKind::dense)) / p,
                              static_cast<double>(num_layers_of(model, LayerKind::experts)) / p};
  // The published tables count matrices only.
  const double vectors = (model.has_biases ? 13 : 2) * static_cast<double>(model.hidden);
  const DeviceParameters parameters = parameters_of_layers(model, layout, layers, vectors);
  return memory_of(parameters, stage_activations(model, layout, layers, false), layout);
}

MemoryUse device_memory(const Transformer& model, const Layout& layout, bool has_fused_attention) {
  const std::int64_t num_layers = (model.num_layers + layout.pipeline - 1) / layout.pipeline;
  const std::int64_t num_dense = std::min(num_layers, num_layers_of(model, LayerKind::dense));
  const MemoryUse first = stage_memory(
      model, layout, {static_cast<double>(num_dense), static_cast<double>(num_layers - num_dense)},
      true, has_fused_attention);
  if (!model.has_experts() || layout.pipeline == 1) return first;
  MemoryUse second =
      stage_memory(model, layout, {0, static_cast<double>(num_layers)}, false, has_fused_attention);
  second.is_first_stage = false;
  return first.total_bytes() >= second.total_bytes() ? first : second;
}

}  // namespace weir::training
