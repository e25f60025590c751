// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::training {

/// What is computed a second time in the backward pass instead of being kept.
enum class Recompute {
  none,
  selective,  ///< The attention core: scores, softmax, weighted sum ([Korthikanti22]).
  full,       ///< Every layer from its input.
};

std::string_view name_of(Recompute recompute) noexcept;

/// A decoder-only transformer: `num_layers` equal blocks of attention and feed-forward network, an
/// embedding before them and a projection to the vocabulary after them. All sizes are counts of
/// elements.
struct Transformer {
  std::string name;
  std::int64_t num_layers = 0;
  std::int64_t hidden = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;  ///< Fewer than heads: grouped-query attention.
  std::int64_t head_size = 0;
  std::int64_t feed_forward = 0;  ///< Width of the feed-forward network.
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;  ///< Tokens per sample.
  bool is_gated = false;   ///< SwiGLU: two matrices into the feed-forward network instead of one.
  bool has_biases = true;  ///< Of matrices and normalisations.
  bool has_positions = true;       ///< Learned embedding of positions.
  bool has_tied_embedding = true;  ///< The projection to the vocabulary is the embedding's matrix.

  /// Width of the queries, all heads.
  std::int64_t query_width() const { return num_heads * head_size; }
  /// Width of keys and of values, all heads, each.
  std::int64_t kv_width() const { return num_kv_heads * head_size; }
};

/// GPT: multi-head attention, GELU network of four times the hidden size, biases.
Transformer gpt(std::string name, std::int64_t num_layers, std::int64_t hidden,
                std::int64_t num_heads);

/// Llama 3: grouped-query attention over 8 key-value heads, SwiGLU, no biases, a projection of its
/// own, vocabulary 128,256 ([Dubey24]).
Transformer llama3(std::string name, std::int64_t num_layers, std::int64_t hidden,
                   std::int64_t feed_forward);

/// The models known by name: GPT of [Narayanan21] and [Korthikanti22] (`gpt3-175b`, `megatron-22b`,
/// ...), of [Jiang24] and Llama 3.
const std::vector<Transformer>& built_in_models();

/// The built-in model of that name. Throws Error{usage} with the list of names.
const Transformer& built_in_model(std::string_view name);

/// Throws Error{input} unless all sizes are positive and heads divide as they must.
void check(const Transformer& model);

/// Trainable parameters of one layer, with its normalisations.
double parameters_per_layer(const Transformer& model);
/// All trainable parameters, exact.
double num_parameters(const Transformer& model);

/// Floating-point operations (a multiply and an add are two) of one forward pass over one sample.
struct ForwardFlops {
  double matrices = 0;   ///< Products with weights, all layers.
  double attention = 0;  ///< Scores and weighted sum, all layers, the causal half not left out.
  double logits = 0;     ///< Projection to the vocabulary.

  double total() const { return matrices + attention + logits; }
};

ForwardFlops forward_flops(const Transformer& model);

/// Operations of an iteration over `num_samples` that the model asks for: three forward passes. For
/// a GPT 72 B s L h^2 (1 + s/(6h) + V/(12 L h)), [Narayanan21] without recomputation.
double model_flops(const Transformer& model, double num_samples);
/// Operations that the hardware does: those of the model and what is recomputed. Selective
/// recomputation counts as in [Korthikanti22], whose s/(3h) takes the whole share of the attention
/// twice, though one pass of three is repeated.
double hardware_flops(const Transformer& model, double num_samples, Recompute recompute);

}  // namespace weir::training
