// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/transformer.hpp>

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

const std::vector<Transformer>& built_in_models() {
  static const std::vector<Transformer> models = [] {
    std::vector<Transformer> all = {
        gpt("megatron-1.7b", 24, 2304, 24),       gpt("megatron-3.6b", 30, 3072, 32),
        gpt("megatron-7.5b", 36, 4096, 32),       gpt("megatron-18.4b", 40, 6144, 48),
        gpt("megatron-22b", 48, 6144, 64),        gpt("megatron-39.1b", 48, 8192, 64),
        gpt("megatron-76.1b", 60, 10240, 80),     gpt("megatron-145.6b", 80, 12288, 96),
        gpt("gpt3-175b", 96, 12288, 96),          gpt("megatron-310b", 96, 16384, 128),
        gpt("megatron-530b", 105, 20480, 128),    gpt("megatron-1t", 128, 25600, 160),
        gpt("megascale-175b", 96, 12288, 128),    gpt("megascale-530b", 105, 20480, 160),
        llama3("llama3-8b", 32, 4096, 14336),     llama3("llama3-70b", 80, 8192, 28672),
        llama3("llama3-405b", 126, 16384, 53248), llama3("llama2-70b", 80, 8192, 28672)};
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

void check(const Transformer& model) {
  const std::string where = "model '" + model.name + "': ";
  WEIR_EXPECT(model.num_layers > 0 && model.hidden > 0 && model.num_heads > 0 &&
                  model.num_kv_heads > 0 && model.head_size > 0 && model.feed_forward > 0 &&
                  model.vocabulary > 0 && model.sequence > 0,
              input, where + "sizes must be positive");
  WEIR_EXPECT(model.num_heads % model.num_kv_heads == 0, input,
              where + std::to_string(model.num_heads) + " heads are no multiple of " +
                  std::to_string(model.num_kv_heads) + " key-value heads");
}

namespace {

/// Elements of the weight matrices of one layer.
double matrix_elements_per_layer(const Transformer& model) {
  const auto h = static_cast<double>(model.hidden);
  const auto query = static_cast<double>(model.query_width());
  const auto kv = static_cast<double>(model.kv_width());
  const auto network = static_cast<double>(model.feed_forward);
  return h * (2 * query + 2 * kv) + (model.is_gated ? 3 : 2) * h * network;
}

}  // namespace

double parameters_per_layer(const Transformer& model) {
  const auto h = static_cast<double>(model.hidden);
  double vectors = 2 * h;  // the scales of two normalisations
  if (model.has_biases) {
    vectors += 2 * h;  // their shifts
    vectors += static_cast<double>(model.query_width() + 2 * model.kv_width()) + h;
    vectors += (model.is_gated ? 2 : 1) * static_cast<double>(model.feed_forward) + h;
  }
  return matrix_elements_per_layer(model) + vectors;
}

double num_parameters(const Transformer& model) {
  const auto h = static_cast<double>(model.hidden);
  const double embedding = static_cast<double>(model.vocabulary) * h;
  double count = static_cast<double>(model.num_layers) * parameters_per_layer(model);
  count += embedding * (model.has_tied_embedding ? 1 : 2);
  if (model.has_positions) count += static_cast<double>(model.sequence) * h;
  return count + (model.has_biases ? 2 : 1) * h;  // the last normalisation
}

ForwardFlops forward_flops(const Transformer& model) {
  const auto s = static_cast<double>(model.sequence);
  const auto num_layers = static_cast<double>(model.num_layers);
  ForwardFlops flops;
  flops.matrices = 2 * s * num_layers * matrix_elements_per_layer(model);
  flops.attention = 4 * s * s * num_layers * static_cast<double>(model.query_width());
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
