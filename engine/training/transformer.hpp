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

/// Networks of which each token visits a few, in the place of a layer's feed-forward network
/// ([Fedus22], [DeepSeek24]).
struct Experts {
  std::int64_t num_routed = 0;        ///< Of a layer; 0: the model has none.
  std::int64_t num_chosen = 0;        ///< Routed experts that a token visits.
  std::int64_t num_shared = 0;        ///< Experts that all tokens visit besides.
  std::int64_t feed_forward = 0;      ///< Width of each.
  std::int64_t num_dense_layers = 0;  ///< The first layers, with one ordinary network instead.
  std::int64_t most_nodes = 0;        ///< That a token is sent to; 0: not limited.
  bool has_selection_bias = false;    ///< One number an expert that balances the choice.
  /// Tokens of the busiest rank over the mean: the capacity factor where slots are padded up to it,
  /// the imbalance of the router where nothing is dropped.
  double load = 1;
};

/// Queries, keys and values made from low-rank latent vectors ([DeepSeek24]).
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: ordinary attention.
  std::int64_t kv_rank = 0;
  std::int64_t position_size = 0;  ///< Of a head's size, what positions are rotated into.
  std::int64_t value_size = 0;     ///< Of one head's values.
};

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
  Experts experts{};
  LatentAttention latent{};

  bool has_experts() const { return experts.num_routed > 0; }
  bool has_latent_attention() const { return latent.query_rank > 0; }

  /// Width of the queries, all heads.
  std::int64_t query_width() const { return num_heads * head_size; }
  /// Width of keys, all heads.
  std::int64_t key_width() const { return num_kv_heads * head_size; }
  /// Width of values, all heads.
  std::int64_t value_width() const {
    return has_latent_attention() ? num_heads * latent.value_size : key_width();
  }
  /// Width of what attention returns, all heads.
  std::int64_t attention_width() const {
    return has_latent_attention() ? value_width() : query_width();
  }
};

/// GPT: multi-head attention, GELU network of four times the hidden size, biases.
Transformer gpt(std::string name, std::int64_t num_layers, std::int64_t hidden,
                std::int64_t num_heads);

/// Llama 3: grouped-query attention over 8 key-value heads, SwiGLU, no biases, a projection of its
/// own, vocabulary 128,256 ([Dubey24]).
Transformer llama3(std::string name, std::int64_t num_layers, std::int64_t hidden,
                   std::int64_t feed_forward);

/// DeepSeek-V3 ([DeepSeek24]) without its module for multi-token prediction.
Transformer deepseek_v3();

/// Mixtral 8x7B ([Jiang24b]).
Transformer mixtral_8x7b();

/// The models known by name: GPT of [Narayanan21] and [Korthikanti22] (`gpt3-175b`, `megatron-22b`,
/// ...), of [Jiang24], Llama 3, `mixtral-8x7b` and `deepseek-v3`.
const std::vector<Transformer>& built_in_models();

/// The built-in model of that name. Throws Error{usage} with the list of names.
const Transformer& built_in_model(std::string_view name);

/// Throws Error{input} unless all sizes are positive and heads divide as they must.
void check(const Transformer& model);

/// What a layer has between its two normalisations and its output.
enum class LayerKind {
  dense,    ///< One feed-forward network.
  experts,  ///< Routed and shared experts.
};

/// Trainable parameters of one layer with its normalisations, exact.
struct LayerParameters {
  double common = 0;  ///< All but the routed experts.
  double routed = 0;  ///< The routed experts, all of them.

  double total() const { return common + routed; }
};
LayerParameters parameters_of(const Transformer& model, LayerKind kind);

/// Layers of a kind.
std::int64_t num_layers_of(const Transformer& model, LayerKind kind);

/// Trainable parameters of one dense layer, with its normalisations.
double parameters_per_layer(const Transformer& model);
/// All trainable parameters, exact.
double num_parameters(const Transformer& model);
/// Parameters that one token is computed with: all but the experts it does not visit and the
/// embedding, of which it reads one row, as [DeepSeek24] counts.
double num_active_parameters(const Transformer& model);

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
