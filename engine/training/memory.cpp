// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/memory.hpp>

#include <cmath>

namespace weir::training {

double activation_bytes_per_layer(const Transformer& model, const Layout& layout) {
  const auto s = static_cast<double>(model.sequence);
  const auto h = static_cast<double>(model.hidden);
  const auto tokens =
      s * static_cast<double>(layout.micro_batch) / static_cast<double>(layout.context);
  const auto t = static_cast<double>(layout.tensor);
  if (layout.recompute == Recompute::full) return 2 * tokens * h;

  const auto query = static_cast<double>(model.query_width());
  const auto kv = static_cast<double>(model.kv_width());
  const auto network = static_cast<double>(model.feed_forward);
  // Inputs of both normalisations, of both blocks' first matrices, and two dropout masks.
  const double whole = 10 * tokens * h;
  // Queries, keys, values, the input of the projection; input and output of the activation
  // function.
  const double cut = tokens * (4 * query + 4 * kv + (model.is_gated ? 8 : 4) * network);
  // Scores and softmax, 2 bytes each, and the dropout mask of 1.
  const double core = layout.recompute == Recompute::none
                          ? 5 * tokens * s * static_cast<double>(model.num_heads)
                          : 0;
  return (layout.has_sequence_parallelism ? whole / t : whole) + (cut + core) / t;
}

namespace {

/// State and activations of one device; the mixed precision of [Micikevicius18] with Adam.
MemoryUse memory_of(double parameters, double activations, const Layout& layout) {
  const auto num_owners = static_cast<double>(layout.data * layout.context);
  MemoryUse use;
  use.weights_bytes = 2 * parameters / (layout.zero_stage >= 3 ? num_owners : 1);
  use.gradients_bytes = 4 * parameters / (layout.zero_stage >= 2 ? num_owners : 1);
  use.optimizer_bytes = 12 * parameters / (layout.zero_stage >= 1 ? num_owners : 1);
  use.activations_bytes = activations;
  return use;
}

double stage_activations(const Transformer& model, const Layout& layout, double num_layers) {
  return micro_batches_in_flight(layout) * num_layers * activation_bytes_per_layer(model, layout);
}

}  // namespace

MemoryUse layer_memory(const Transformer& model, const Layout& layout) {
  const auto h = static_cast<double>(model.hidden);
  const double num_layers =
      static_cast<double>(model.num_layers) / static_cast<double>(layout.pipeline);
  // The published tables count matrices only.
  const double matrices = parameters_per_layer(model) - (model.has_biases ? 13 : 2) * h;
  return memory_of(num_layers * matrices / static_cast<double>(layout.tensor),
                   stage_activations(model, layout, num_layers), layout);
}

MemoryUse device_memory(const Transformer& model, const Layout& layout) {
  const auto h = static_cast<double>(model.hidden);
  const auto vocabulary = static_cast<double>(model.vocabulary);
  const auto t = static_cast<double>(layout.tensor);
  const double num_layers =
      std::ceil(static_cast<double>(model.num_layers) / static_cast<double>(layout.pipeline));
  double parameters = num_layers * parameters_per_layer(model) + vocabulary * h;
  if (layout.pipeline == 1 && !model.has_tied_embedding) parameters += vocabulary * h;
  if (model.has_positions) parameters += static_cast<double>(model.sequence) * h;

  double activations = stage_activations(model, layout, num_layers);
  const double tokens = static_cast<double>(model.sequence * layout.micro_batch) /
                        static_cast<double>(layout.context);
  if (layout.recompute == Recompute::full) {
    // One layer at a time is computed again and kept for its backward pass.
    Layout kept = layout;
    kept.recompute = Recompute::none;
    activations += activation_bytes_per_layer(model, kept);
  }
  if (layout.pipeline == 1) {
    // Logits in 2 bytes; in 4 bytes a copy, its exponentials, their gradient; that in 2 again.
    activations += 16 * tokens * vocabulary / t;
  }
  return memory_of(parameters / t, activations, layout);
}

}  // namespace weir::training
