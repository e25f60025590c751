// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/engine/training/layout.hpp>

namespace weir::training {

/// Bytes of one device of the stage that needs most.
struct MemoryUse {
  double weights_bytes = 0;
  double gradients_bytes = 0;
  double optimizer_bytes = 0;
  double activations_bytes = 0;
  bool is_first_stage = true;  ///< Or one of experts alone behind it.

  double model_state_bytes() const { return weights_bytes + gradients_bytes + optimizer_bytes; }
  double total_bytes() const { return model_state_bytes() + activations_bytes; }
};

/// Activations that one micro-batch leaves in one layer on one device, for its backward pass
/// ([Korthikanti22]): 2-byte elements, 1-byte dropout masks.
///
/// With t tensor ranks and c context ranks of a GPT: s b h / c (10 + 24/t + 5 a s/(h t)); with
/// sequence parallelism everything is divided by t; recomputed selectively the term in a is gone;
/// recomputed in full the layer's input is left, 2 s b h / c. Gated networks keep both factors,
/// grouped queries fewer keys and values, latent attention its latent vectors besides.
///
/// Fused attention never writes scores down and makes them again from queries, keys and one 4-byte
/// log-sum of exponentials a token and head ([Dao22]): 4 s b a / (c t) in the place of the term in
/// a.
///
/// A layer of experts keeps of every token k copies: what goes into the experts, inside them and
/// comes out, 4 h + 8 f bytes each where gated, divided by t. Expert ranks do not divide it.
double activation_bytes_per_layer(const Transformer& model, const Layout& layout,
                                  LayerKind kind = LayerKind::dense,
                                  bool has_fused_attention = false);

/// Memory of the layers on the first stage: mixed precision with Adam, 18 bytes a parameter (2
/// weight, 4 gradient, 4 master weight, 8 moments) before ZeRO shares them out, and the activations
/// of all micro-batches in flight, scores kept. Embeddings and logits are left out, as in the
/// published tables.
MemoryUse layer_memory(const Transformer& model, const Layout& layout);

/// Memory of the first stage, or of one of experts alone behind it where that needs more, with what
/// the tables leave out: embeddings, biases and normalisations,
/// the layer at work under full recomputation, logits where the first stage is the last. What
/// libraries and allocators hold besides is not in it. Routed experts are divided by expert ranks,
/// and by ZeRO over the ranks of a stage that hold the same.
MemoryUse device_memory(const Transformer& model, const Layout& layout,
                        bool has_fused_attention = false);

}  // namespace weir::training
