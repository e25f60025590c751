// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/memory.hpp>

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

MemoryUse layer_memory(const Transformer& model, const Layout& layout) {
  const auto h = static_cast<double>(model.hidden);
  const auto layers_per_stage =
      static_cast<double>(model.num_layers) / static_cast<double>(layout.pipeline);
  const double matrices = parameters_per_layer(model) -
                          (model.has_biases ? 13 : 2) * h;  // the tables count matrices only
  const double parameters = layers_per_stage * matrices / static_cast<double>(layout.tensor);
  MemoryUse use;
  use.weights_bytes = 2 * parameters;
  use.gradients_bytes = 4 * parameters;
  use.optimizer_bytes = 12 * parameters;
  use.activations_bytes = micro_batches_in_flight(layout) * layers_per_stage *
                          activation_bytes_per_layer(model, layout);
  return use;
}

}  // namespace weir::training
