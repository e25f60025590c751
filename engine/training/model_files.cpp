// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/model_files.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <nlohmann/json.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/graph_text.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::training {

namespace {

/// Larger sizes are taken for a mistake; products of two stay exact.
constexpr std::int64_t most = std::int64_t{1} << 30;

std::string model_name(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Calculon's JSON.

ModelFile read_calculon(const std::string& name, const nlohmann::json& file) {
  const auto size = [&](const char* key) {
    const bool is_size = file.contains(key) && file[key].is_number_integer() &&
                         file[key].get<double>() >= 1 && file[key].get<double>() <= most;
    WEIR_EXPECT(is_size, input,
                name + ": found " + (file.contains(key) ? file[key].dump().substr(0, 40) : "no") +
                    " " + key + "; expected a whole number from 1 to 2^30");
    return file[key].get<std::int64_t>();
  };
  ModelFile read;
  const std::int64_t num_blocks = size("num_blocks");
  const std::int64_t hidden = size("hidden");
  const std::int64_t num_heads = size("attn_heads");
  read.model = gpt(model_name(name), num_blocks, hidden, num_heads);
  read.model.head_size = size("attn_size");
  read.model.feed_forward = size("feedforward");
  read.model.sequence = size("seq_size");
  return read;
}

// Arguments of Megatron-LM.

struct Argument {
  std::size_t line = 0;
  std::string value{};  ///< Empty: a flag.
};

/// All options of a text of arguments; of several with one name the last, as the programs take it.
class MegatronArguments {
 public:
  explicit MegatronArguments(const Text& text) : text_(text) {
    std::string key;
    for (std::size_t line = 0; line < text.lines.size(); ++line) {
      std::string_view row = text.lines[line];
      row = row.substr(0, row.find('#'));
      for (auto token = io::take_token(row); !token.empty(); token = io::take_token(row)) {
        take(line, token, key);
      }
    }
  }

  bool has(const std::string& key) const { return arguments_.contains(key); }

  std::optional<std::string> word(const std::string& key) const {
    const auto found = arguments_.find(key);
    if (found == arguments_.end()) return {};
    return found->second.value;
  }

  std::optional<std::int64_t> number(const std::string& key) const {
    const auto found = arguments_.find(key);
    if (found == arguments_.end()) return {};
    const auto number = io::parse_integer(found->second.value);
    if (!number || *number < 1 || *number > most) {
      text_.fail(found->second.line, key + " " + io::shown(found->second.value),
                 "a whole number from 1 to 2^30");
    }
    return *number;
  }

  std::int64_t required(const std::string& key) const {
    const auto found = number(key);
    WEIR_EXPECT(found, input, text_.name + ": found no " + key + "; expected one");
    return *found;
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const {
    const Argument& argument = arguments_.at(key);
    text_.fail(argument.line, key + " " + io::shown(argument.value), expected);
  }

 private:
  void take(std::size_t line, std::string_view token, std::string& key) {
    // Ends of lines and quotes of a script.
    while (!token.empty() && (token.front() == '"' || token.front() == '\''))
      token.remove_prefix(1);
    while (!token.empty() &&
           std::string_view("\"'\\").find(token.back()) != std::string_view::npos) {
      token.remove_suffix(1);
    }
    const auto option = token.find("--");
    if (option != std::string_view::npos && (option == 0 || token[option - 1] == '"')) {
      token.remove_prefix(option);
      const auto equals = token.find('=');
      key = std::string(token.substr(0, equals));
      arguments_[key] = {line};
      if (equals == std::string_view::npos) return;
      token.remove_prefix(equals + 1);
    }
    if (key.empty() || token.empty()) return;
    arguments_[key].value = std::string(token);
    key.clear();
  }

  const Text& text_;
  std::map<std::string, Argument> arguments_;
};

void read_latent_attention(const MegatronArguments& arguments, Transformer& model) {
  if (!arguments.has("--multi-latent-attention")) return;
  model.latent.query_rank = arguments.required("--q-lora-rank");
  model.latent.kv_rank = arguments.required("--kv-lora-rank");
  model.latent.position_size = arguments.required("--qk-pos-emb-head-dim");
  model.latent.value_size = arguments.required("--v-head-dim");
  model.head_size = arguments.required("--qk-head-dim") + model.latent.position_size;
  model.num_kv_heads = model.num_heads;
}

/// The dense layers at the front, of `--moe-layer-freq`: `1`, or a list such as `([0]*3+[1]*58)`.
std::int64_t num_dense_layers(const MegatronArguments& arguments) {
  const std::string key = "--moe-layer-freq";
  const std::string pattern = arguments.word(key).value_or("1");
  if (pattern == "1") return 0;
  constexpr std::string_view front = "([0]*";
  const auto end = pattern.find("+[1]*");
  if (!pattern.starts_with(front) || end == std::string::npos) {
    arguments.refuse(key, "1 or ([0]*DENSE+[1]*EXPERTS)");
  }
  const auto number = io::parse_integer(pattern.substr(front.size(), end - front.size()));
  if (!number || *number < 0 || *number > most) arguments.refuse(key, "a number of dense layers");
  return *number;
}

void read_experts(const MegatronArguments& arguments, Transformer& model) {
  const auto num_routed = arguments.number("--num-experts");
  if (!num_routed) return;
  Experts& experts = model.experts;
  experts.num_routed = *num_routed;
  experts.num_chosen = arguments.number("--moe-router-topk").value_or(2);
  experts.feed_forward = arguments.number("--moe-ffn-hidden-size").value_or(model.feed_forward);
  if (const auto shared = arguments.number("--moe-shared-expert-intermediate-size")) {
    // Shared experts are one network as wide as all of them.
    if (*shared % experts.feed_forward != 0) {
      arguments.refuse("--moe-shared-expert-intermediate-size",
                       "a multiple of --moe-ffn-hidden-size");
    }
    experts.num_shared = *shared / experts.feed_forward;
  }
  experts.num_dense_layers = num_dense_layers(arguments);
  experts.most_nodes = arguments.number("--moe-router-num-groups")
                           ? arguments.number("--moe-router-group-topk").value_or(0)
                           : 0;
  experts.has_selection_bias = arguments.has("--moe-router-enable-expert-bias");
}

LayoutConstraints read_constraints(const MegatronArguments& arguments, const Transformer& model) {
  LayoutConstraints wanted;
  // What is not said is 1 there.
  wanted.tensor = arguments.number("--tensor-model-parallel-size").value_or(1);
  wanted.context = arguments.number("--context-parallel-size").value_or(1);
  wanted.pipeline = arguments.number("--pipeline-model-parallel-size").value_or(1);
  wanted.micro_batch = arguments.number("--micro-batch-size").value_or(1);
  if (model.has_experts()) {
    wanted.expert = arguments.number("--expert-model-parallel-size").value_or(1);
  }
  wanted.schedule = Schedule::one_f_one_b;
  if (const auto layers = arguments.number("--num-layers-per-virtual-pipeline-stage")) {
    wanted.schedule = Schedule::interleaved;
    if (model.num_layers % (*layers * *wanted.pipeline) != 0) {
      arguments.refuse("--num-layers-per-virtual-pipeline-stage", "a divisor of a stage's layers");
    }
    wanted.interleave = model.num_layers / *layers / *wanted.pipeline;
  }
  wanted.zero_stage = arguments.has("--use-distributed-optimizer") ? 1 : 0;
  wanted.recompute = Recompute::none;
  if (arguments.has("--recompute-activations")) wanted.recompute = Recompute::selective;
  if (const auto granularity = arguments.word("--recompute-granularity")) {
    if (*granularity != "full" && *granularity != "selective") {
      arguments.refuse("--recompute-granularity", "full or selective");
    }
    wanted.recompute = *granularity == "full" ? Recompute::full : Recompute::selective;
  }
  return wanted;
}

ModelFile read_megatron(const Text& text) {
  const MegatronArguments arguments(text);
  ModelFile read;
  Transformer& model = read.model;
  const std::int64_t num_layers = arguments.required("--num-layers");
  const std::int64_t hidden = arguments.required("--hidden-size");
  const std::int64_t num_heads = arguments.required("--num-attention-heads");
  model = gpt(model_name(text.name), num_layers, hidden, num_heads);
  model.head_size = arguments.number("--kv-channels").value_or(model.head_size);
  if (arguments.has("--group-query-attention")) {
    model.num_kv_heads = arguments.required("--num-query-groups");
  }
  model.is_gated = arguments.has("--swiglu");
  if (model.is_gated) model.feed_forward = model.hidden * 8 / 3 / 64 * 64;
  model.feed_forward = arguments.number("--ffn-hidden-size").value_or(model.feed_forward);
  model.sequence = arguments.required("--seq-length");
  model.vocabulary = arguments.number("--vocab-size").value_or(model.vocabulary);
  model.has_biases = !arguments.has("--disable-bias-linear");
  model.has_positions = arguments.word("--position-embedding-type").value_or("learned_absolute") ==
                        "learned_absolute";
  model.has_tied_embedding = !arguments.has("--untie-embeddings-and-output-weights");
  read_latent_attention(arguments, model);
  read_experts(arguments, model);
  check(model);
  read.constraints = read_constraints(arguments, model);
  read.global_batch = arguments.number("--global-batch-size");
  if (const auto backend = arguments.word("--attention-backend")) {
    read.has_fused_attention = *backend != "unfused" && *backend != "local";
  }
  return read;
}

bool names_layers(const Text& text) {
  return std::any_of(text.lines.begin(), text.lines.end(), [](const std::string& line) {
    return line.find("--num-layers") != std::string::npos;
  });
}

std::optional<ModelFile> read(const io::Input& input) {
  const Text text = read_lines(input);
  if (names_layers(text)) return read_megatron(text);
  const auto first = std::find_if(text.lines.begin(), text.lines.end(),
                                  [](const auto& line) { return !io::trimmed(line).empty(); });
  if (first == text.lines.end() || !io::trimmed(*first).starts_with('{')) return {};
  std::string joined;
  for (const std::string& line : text.lines) joined += line + '\n';
  const auto file = nlohmann::json::parse(joined, nullptr, false);
  if (!file.is_object() || !file.contains("num_blocks")) return {};
  ModelFile found = read_calculon(text.name, file);
  check(found.model);
  return found;
}

}  // namespace

std::optional<ModelFile> read_model_file(const std::string& path) {
  return read(io::Input::open(path, 0, {}));
}

std::optional<ModelFile> parse_model_file(const std::string& name, std::string_view text) {
  return read(io::Input::from_memory(name, text));
}

}  // namespace weir::training
