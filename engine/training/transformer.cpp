// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/transformer.hpp>

#include <cmath>

#include <weir/engine/model/check.hpp>

namespace weir::training {

std::string_view name_of(Recompute recompute) noexcept {
  switch (recompute) {
    case Recompute::none: return "none";
    case Recompute::selective: return "selective";
    case Recompute::full: return "full";
  }
  return "?";
}

Transformer gpt(std::string name, std::int64_t num_layers, std::int64_t hidden,
                std::int64_t num_heads) {
  Transformer model;
  model.name = std::move(name);
  model.num_layers = num_layers;
  model.hidden = hidden;
  model.num_heads = num_heads;
  model.num_kv_heads = num_heads;
  model.head_size = num_heads > 0 ? hidden / num_heads : 0;
  model.feed_forward = 4 * hidden;
  model.vocabulary = 51200;
  model.sequence = 2048;
  return model;
}

Transformer llama3(std::string name, std::int64_t num_layers, std::int64_t hidden,
                   std::int64_t feed_forward) {
  Transformer model = gpt(std::move(name), num_layers, hidden, hidden / 128);
  model.num_kv_heads = 8;
  model.feed_forward = feed_forward;
  model.vocabulary = 128256;
  model.sequence = 8192;
  model.is_gated = true;
  model.has_biases = false;
  model.has_positions = false;
  model.has_tied_embedding = false;
  return model;
}

Transformer deepseek_v3() {
  Transformer model = llama3("deepseek-v3", 61, 7168, 18432);
  model.num_heads = 128;
  model.num_kv_heads = 128;
  model.head_size = 192;
  model.vocabulary = 129280;
  model.sequence = 4096;
  model.latent = {.query_rank = 1536, .kv_rank = 512, .position_size = 64, .value_size = 128};
  model.experts = {.num_routed = 256,
                   .num_chosen = 8,
                   .num_shared = 1,
                   .feed_forward = 2048,
                   .num_dense_layers = 3,
                   .most_nodes = 4,
                   .has_selection_bias = true};
  return model;
}

Transformer mixtral_8x7b() {
  Transformer model = llama3("mixtral-8x7b", 32, 4096, 14336);
  model.vocabulary = 32000;
  model.experts = {.num_routed = 8, .num_chosen = 2, .feed_forward = 14336};
  return model;
}

const std::vector<Transformer>& built_in_models() {
  static const std::vector<Transformer> models = [] {
    std::vector<Transformer> all = {gpt("megatron-1.7b", 24, 2304, 24),
                                    gpt("megatron-3.6b", 30, 3072, 32),
                                    gpt("megatron-7.5b", 36, 4096, 32),
                                    gpt("megatron-18.4b", 40, 6144, 48),
                                    gpt("megatron-22b", 48, 6144, 64),
                                    gpt("megatron-39.1b", 48, 8192, 64),
                                    gpt("megatron-76.1b", 60, 10240, 80),
                                    gpt("megatron-145.6b", 80, 12288, 96),
                                    gpt("gpt3-175b", 96, 12288, 96),
                                    gpt("megatron-310b", 96, 16384, 128),
                                    gpt("megatron-530b", 105, 20480, 128),
                                    gpt("megatron-1t", 128, 25600, 160),
                                    gpt("megascale-175b", 96, 12288, 128),
                                    gpt("megascale-530b", 105, 20480, 160),
                                    llama3("llama3-8b", 32, 4096, 14336),
                                    llama3("llama3-70b", 80, 8192, 28672),
                                    llama3("llama3-405b", 126, 16384, 53248),
                                    llama3("llama2-70b", 80, 8192, 28672),
                                    mixtral_8x7b(),
                                    deepseek_v3()};
    for (Transformer& model : all) {
      if (model.name.starts_with("megascale")) model.vocabulary = 64000;
      if (model.name.starts_with("llama2")) {
        model.vocabulary = 32000;
        model.sequence = 4096;
      }
    }
    return all;
  }();
  return models;
}

const Transformer& built_in_model(std::string_view name) {
  std::string names;
  for (const Transformer& model : built_in_models()) {
    if (model.name == name) return model;
    names += (names.empty() ? "" : ", ") + model.name;
  }
  throw Error(ErrorCode::usage,
              "model '" + std::string(name) + "' is not built in; there are " + names);
}

namespace {

void check_latent(const LatentAttention& latent, const Transformer& model,
                  const std::string& where) {
  if (!model.has_latent_attention()) return;
  WEIR_EXPECT(latent.kv_rank > 0 && latent.value_size > 0 && latent.position_size >= 0 &&
                  latent.position_size < model.head_size,
              input, where + "latent sizes must be positive, positions less than a head");
  WEIR_EXPECT(model.num_kv_heads == model.num_heads, input,
              where + "latent attention has as many key-value heads as heads");
}

void check_experts(const Experts& experts, const Transformer& model, const std::string& where) {
  if (!model.has_experts()) return;
  WEIR_EXPECT(experts.num_chosen > 0 && experts.num_chosen <= experts.num_routed &&
                  experts.num_shared >= 0 && experts.feed_forward > 0 && experts.most_nodes >= 0,
              input, where + "sizes of experts must be positive, the chosen at most the routed");
  WEIR_EXPECT(experts.num_dense_layers >= 0 && experts.num_dense_layers < model.num_layers, input,
              where + std::to_string(experts.num_dense_layers) + " dense layers of " +
                  std::to_string(model.num_layers) + " leave none for experts");
  WEIR_EXPECT(std::isfinite(experts.load) && experts.load > 0, input,
              where + "the load of experts must be positive");
}

}  // namespace

void check(const Transformer& model) {
  const std::string where = "model '" + model.name + "': ";
  WEIR_EXPECT(model.num_layers > 0 && model.hidden > 0 && model.num_heads > 0 &&
                  model.num_kv_heads > 0 && model.head_size > 0 && model.feed_forward > 0 &&
                  model.vocabulary > 0 && model.sequence > 0,
              input, where + "sizes must be positive");
  WEIR_EXPECT(model.num_heads % model.num_kv_heads == 0, input,
              where + std::to_string(model.num_heads) + " heads are no multiple of " +
                  std::to_string(model.num_kv_heads) + " key-value heads");
  check_latent(model.latent, model, where);
  check_experts(model.experts, model, where);
}

namespace {

/// Elements of the matrices around one layer's attention.
double attention_elements(const Transformer& model) {
  const auto h = static_cast<double>(model.hidden);
  const auto query = static_cast<double>(model.query_width());
  const auto out = h * static_cast<double>(model.attention_width());
  if (!model.has_latent_attention()) {
    return h * (query + static_cast<double>(model.key_width() + model.value_width())) + out;
  }
  const auto& latent = model.latent;
  const auto query_rank = static_cast<double>(latent.query_rank);
  const auto kv_rank = static_cast<double>(latent.kv_rank);
  const auto expanded = static_cast<double>(
      model.num_heads * (model.head_size - latent.position_size + latent.value_size));
  return h * (query_rank + kv_rank + static_cast<double>(latent.position_size)) +
         query_rank * query + kv_rank * expanded + out;
}

/// Elements of the matrices of one feed-forward network of a width.
double network_elements(const Transformer& model, std::int64_t width) {
  return (model.is_gated ? 3 : 2) * static_cast<double>(model.hidden) * static_cast<double>(width);
}

/// Elements of the matrices that one token is multiplied with in one layer.
double active_elements(const Transformer& model, LayerKind kind) {
  const double attention = attention_elements(model);
  if (kind == LayerKind::dense) return attention + network_elements(model, model.feed_forward);
  const Experts& experts = model.experts;
  return attention + static_cast<double>(model.hidden * experts.num_routed) +
         static_cast<double>(experts.num_chosen + experts.num_shared) *
             network_elements(model, experts.feed_forward);
}

}  // namespace

std::int64_t num_layers_of(const Transformer& model, LayerKind kind) {
  const std::int64_t num_dense =
      model.has_experts() ? model.experts.num_dense_layers : model.num_layers;
  return kind == LayerKind::dense ? num_dense : model.num_layers - num_dense;
}

LayerParameters parameters_of(const Transformer& model, LayerKind kind) {
  const auto h = static_cast<double>(model.hidden);
  LayerParameters parameters;
  parameters.common = attention_elements(model) + 2 * h;  // the scales of two normalisations
  if (model.has_latent_attention()) {
    parameters.common += static_cast<double>(model.latent.query_rank + model.latent.kv_rank);
  }
  if (model.has_biases) {
    parameters.common += 2 * h;  // shifts of the normalisations
    parameters.common +=
        static_cast<double>(model.query_width() + model.key_width() + model.value_width()) + h;
  }
  const auto network = [&](std::int64_t width) {
    const double biases =
        model.has_biases ? (model.is_gated ? 2 : 1) * static_cast<double>(width) + h : 0;
    return network_elements(model, width) + biases;
  };
  if (kind == LayerKind::dense) {
    parameters.common += network(model.feed_forward);
    return parameters;
  }
  const Experts& experts = model.experts;
  const auto num_routed = static_cast<double>(experts.num_routed);
  parameters.common += num_routed * (h + (experts.has_selection_bias ? 1 : 0));
  parameters.common += static_cast<double>(experts.num_shared) * network(experts.feed_forward);
  parameters.routed = num_routed * network(experts.feed_forward);
  return parameters;
}

double parameters_per_layer(const Transformer& model) {
  return parameters_of(model, LayerKind::dense).total();
}

double num_parameters(const Transformer& model) {
  const auto h = static_cast<double>(model.hidden);
  const double embedding = static_cast<double>(model.vocabulary) * h;
  double count = embedding * (model.has_tied_embedding ? 1 : 2);
  for (const LayerKind kind : {LayerKind::dense, LayerKind::experts}) {
    count += static_cast<double>(num_layers_of(model, kind)) * parameters_of(model, kind).total();
  }
  if (model.has_positions) count += static_cast<double>(model.sequence) * h;
  return count + (model.has_biases ? 2 : 1) * h;  // the last normalisation
}

double num_active_parameters(const Transformer& model) {
  const auto num_layers = static_cast<double>(num_layers_of(model, LayerKind::experts));
  const double embedding = static_cast<double>(model.vocabulary * model.hidden);
  double count = num_parameters(model) - (model.has_tied_embedding ? 0 : embedding);
  if (model.has_positions) count -= static_cast<double>(model.sequence * model.hidden);
  if (!model.has_experts()) return count;
  const double unvisited = 1 - static_cast<double>(model.experts.num_chosen) /
                                   static_cast<double>(model.experts.num_routed);
  return count - unvisited * num_layers * parameters_of(model, LayerKind::experts).routed;
}

ForwardFlops forward_flops(const Transformer& model) {
  const auto s = static_cast<double>(model.sequence);
  ForwardFlops flops;
  for (const LayerKind kind : {LayerKind::dense, LayerKind::experts}) {
    flops.matrices +=
        2 * s * static_cast<double>(num_layers_of(model, kind)) * active_elements(model, kind);
  }
  flops.attention = 2 * s * s * static_cast<double>(model.num_layers) *
                    static_cast<double>(model.query_width() + model.attention_width());
  flops.logits = 2 * s * static_cast<double>(model.hidden * model.vocabulary);
  return flops;
}

double model_flops(const Transformer& model, double num_samples) {
  return 3 * num_samples * forward_flops(model).total();
}

double hardware_flops(const Transformer& model, double num_samples, Recompute recompute) {
  const ForwardFlops forward = forward_flops(model);
  double again = 0;
  if (recompute == Recompute::selective) again = 3 * forward.attention;
  if (recompute == Recompute::full) again = forward.attention + forward.matrices;
  return num_samples * (3 * forward.total() + again);
}

}  // namespace weir::training
