// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/iteration_time.hpp>

#include <algorithm>
#include <cmath>

#include <weir/engine/training/collective_time.hpp>
#include <weir/engine/training/context_ring.hpp>

namespace weir::training {

namespace {

/// Seconds that one micro-batch takes on one stage or in one layer, forward, backward and
/// recomputation, by cause.
struct Work {
  double matrices = 0;
  double attention = 0;
  double elementwise = 0;
  double logits = 0;
  double launch = 0;
  double tensor = 0;
  double context = 0;
  double experts = 0;
  double sends = 0;

  double total() const {
    return matrices + attention + elementwise + logits + launch + tensor + context + experts +
           sends;
  }
};

Work operator+(const Work& a, const Work& b) {
  return {a.matrices + b.matrices, a.attention + b.attention, a.elementwise + b.elementwise,
          a.logits + b.logits,     a.launch + b.launch,       a.tensor + b.tensor,
          a.context + b.context,   a.experts + b.experts,     a.sends + b.sends};
}

Work operator*(double factor, const Work& a) {
  return {factor * a.matrices, factor * a.attention, factor * a.elementwise,
          factor * a.logits,   factor * a.launch,    factor * a.tensor,
          factor * a.context,  factor * a.experts,   factor * a.sends};
}

/// The sizes and rates that all formulas below share.
class Prediction {
 public:
  Prediction(const Transformer& model, const Layout& layout, const Machine& machine,
             const Software& software, const ExchangeFactors& factors = {})
      : model_(model), layout_(layout), machine_(machine), software_(software), factors_(factors) {}

  IterationTime iteration() const;
  Work layer_forward(LayerKind kind) const;
  Work layer_backward(LayerKind kind) const;

 private:
  double product_seconds(double m, double n, double k) const;
  double network_seconds(double tokens, double width) const;
  double projections_forward() const;
  double matrices_forward(LayerKind kind) const;
  double attention_forward() const;
  double elementwise_forward(LayerKind kind) const;
  double tensor_forward(LayerKind kind) const;
  double context_forward() const;
  double experts_forward() const;
  Work logits() const;
  Work layer(LayerKind kind) const;
  Work with_launches(Work layer) const;
  double stage_bytes_per_second() const;
  double send_seconds() const;
  double common_parameters() const;
  double routed_parameters() const;
  double reduction_seconds(const GroupLinks& links, double parameters) const;
  double data_seconds() const;
  double slowdown() const;
  GroupLinks adapter_links() const;
  GroupLinks tensor_links() const;
  GroupLinks data_links() const;
  GroupLinks expert_links() const;
  GroupLinks expert_data_links() const;

  double tokens() const {
    return static_cast<double>(model_.sequence * layout_.micro_batch) /
           static_cast<double>(layout_.context);
  }
  double hidden() const { return static_cast<double>(model_.hidden); }
  double tensor() const { return static_cast<double>(layout_.tensor); }
  /// Copies of a micro-batch's tokens that come to the experts of the busiest rank.
  double routed_tokens() const {
    return tokens() / tensor() * static_cast<double>(model_.experts.num_chosen) *
           model_.experts.load;
  }
  /// Bytes of one micro-batch's activations between layers.
  double activation_bytes() const { return 2 * tokens() * hidden(); }
  std::int64_t ranks_in_node(std::int64_t num_ranks, std::int64_t stride) const {
    return std::clamp<std::int64_t>(machine_.devices_per_node / stride, 1, num_ranks);
  }

  const Transformer& model_;
  const Layout& layout_;
  const Machine& machine_;
  const Software& software_;
  ExchangeFactors factors_;
};

/// An m x k by k x n product. Sides are filled up to tiles, pipelines of the units fill and drain.
double Prediction::product_seconds(double m, double n, double k) const {
  const double tile = machine_.tile;
  return 2 * m * n * k / (machine_.peak_flops * machine_.matmul_efficiency) * (1 + tile / m) *
         (1 + tile / n) * (1 + tile / k);
}

/// A feed-forward network, `width` of it on this device.
double Prediction::network_seconds(double tokens, double width) const {
  return product_seconds(tokens, (model_.is_gated ? 2 : 1) * width, hidden()) +
         product_seconds(tokens, hidden(), width);
}

double Prediction::projections_forward() const {
  const auto query = static_cast<double>(model_.query_width()) / tensor();
  const auto kv = static_cast<double>(model_.key_width() + model_.value_width()) / tensor();
  const auto out = static_cast<double>(model_.attention_width()) / tensor();
  const double last = product_seconds(tokens(), hidden(), out);
  if (!model_.has_latent_attention()) {
    return product_seconds(tokens(), query + kv, hidden()) + last;
  }
  const LatentAttention& latent = model_.latent;
  const auto query_rank = static_cast<double>(latent.query_rank);
  const auto kv_rank = static_cast<double>(latent.kv_rank);
  const auto position = static_cast<double>(latent.position_size);
  // The latent vectors are made whole on every tensor rank. Positions are no part of what is made
  // from the latent keys.
  const double expanded = kv - static_cast<double>(model_.num_heads) / tensor() * position;
  return product_seconds(tokens(), query_rank + kv_rank + position, hidden()) +
         product_seconds(tokens(), query, query_rank) +
         product_seconds(tokens(), expanded, kv_rank) + last;
}

double Prediction::matrices_forward(LayerKind kind) const {
  if (kind == LayerKind::dense) {
    return projections_forward() +
           network_seconds(tokens(), static_cast<double>(model_.feed_forward) / tensor());
  }
  const Experts& experts = model_.experts;
  const auto width = static_cast<double>(experts.feed_forward);
  const auto num_local =
      static_cast<double>(experts.num_routed) / static_cast<double>(layout_.expert);
  double seconds = projections_forward();
  seconds +=
      product_seconds(tokens() / tensor(), static_cast<double>(experts.num_routed), hidden());
  seconds += num_local * network_seconds(routed_tokens() / num_local, width);
  if (experts.num_shared > 0) {
    seconds +=
        network_seconds(tokens(), static_cast<double>(experts.num_shared) * width / tensor());
  }
  return seconds;
}

double Prediction::attention_forward() const {
  auto seen = static_cast<double>(model_.sequence);
  if (software_.attention_window > 0) seen = std::min(seen, software_.attention_window);
  const double scores = tokens() * seen * static_cast<double>(model_.num_heads) / tensor();
  const auto head = static_cast<double>(model_.query_width() + model_.attention_width()) /
                    static_cast<double>(model_.num_heads);
  const double flops = 2 * scores * head;
  if (software_.has_fused_attention) {
    // Only the causal half is computed.
    return 0.5 * flops / (machine_.peak_flops * machine_.attention_efficiency);
  }
  // Written by the product, read and written by softmax, read and written with a mask by dropout,
  // read by the second product.
  constexpr double bytes_per_score = 13;
  return flops / (machine_.peak_flops * machine_.matmul_efficiency) +
         bytes_per_score * scores / machine_.memory_bytes_per_second;
}

double Prediction::elementwise_forward(LayerKind kind) const {
  // Two normalisations (read, written), two additions with dropout (two read, one mask, one
  // written), on every tensor rank alike unless the sequence is cut.
  constexpr double bytes_whole = 2 * 4 + 2 * 7;
  double bytes =
      bytes_whole * tokens() * hidden() / (layout_.has_sequence_parallelism ? tensor() : 1);
  const double bytes_per_width = model_.is_gated ? 6 : 4;
  if (kind == LayerKind::dense) {
    bytes += bytes_per_width * tokens() * static_cast<double>(model_.feed_forward) / tensor();
  } else {
    // Copies are sorted by expert before they are sent and put back after: read, written, each.
    constexpr double bytes_sorted = 8;
    const auto width = static_cast<double>(model_.experts.feed_forward);
    bytes += routed_tokens() * (bytes_sorted * hidden() + bytes_per_width * width);
    bytes += bytes_per_width * tokens() * static_cast<double>(model_.experts.num_shared) * width /
             tensor();
  }
  return bytes / machine_.memory_bytes_per_second;
}

/// What one rank can move, all ranks of its node at once.
GroupLinks Prediction::adapter_links() const {
  GroupLinks links;
  links.node_bytes_per_second = machine_.node_bytes_per_second;
  links.network_bytes_per_second =
      machine_.network_bytes_per_second / static_cast<double>(machine_.devices_per_node);
  return links;
}

GroupLinks Prediction::tensor_links() const {
  GroupLinks links = adapter_links();
  links.num_ranks = layout_.tensor;
  links.num_ranks_in_node = ranks_in_node(layout_.tensor, 1);
  links.network_bytes_per_second =
      machine_.network_tensor_bytes_per_second / static_cast<double>(machine_.devices_per_node);
  return links;
}

/// Two all-reduces of the activations a layer, or their halves ([Shoeybi19]); one of a parallel
/// block, and where the network is experts alone, whose tokens are cut over the tensor ranks.
double Prediction::tensor_forward(LayerKind kind) const {
  if (layout_.tensor == 1) return 0;
  const bool has_one = software_.has_parallel_block ||
                       (kind == LayerKind::experts && model_.experts.num_shared == 0);
  return (has_one ? 1 : 2) * (ring_all_reduce_seconds(tensor_links(), activation_bytes()) +
                              machine_.node_latency_seconds);
}

/// Keys and values of all context ranks are gathered before the attention, or go around a ring of
/// which only what attention with a block does not hide is exposed.
double Prediction::context_forward() const {
  if (layout_.context == 1) return 0;
  if (software_.has_context_ring) {
    const double block = tokens() * kv_bytes_per_token(model_, layout_);
    const double sending =
        factors_.context * block / slowest_hop(model_, layout_, machine_).bytes_per_second +
        machine_.node_latency_seconds;
    const auto num_blocks = static_cast<double>(layout_.context);
    return (num_blocks - 1) * std::max(0.0, sending - attention_forward() / num_blocks);
  }
  GroupLinks links = adapter_links();
  links.num_ranks = layout_.context;
  links.num_ranks_in_node = ranks_in_node(layout_.context, layout_.tensor);
  const double bytes =
      tokens() * static_cast<double>(layout_.context) * kv_bytes_per_token(model_, layout_);
  return factors_.context * ring_all_gather_seconds(links, bytes);
}

/// Expert ranks are consecutive ranks of a stage.
GroupLinks Prediction::expert_links() const {
  GroupLinks links = adapter_links();
  links.num_ranks = layout_.expert;
  links.num_ranks_in_node = ranks_in_node(layout_.expert, 1);
  return links;
}

/// Tokens go to their experts and come back.
double Prediction::experts_forward() const {
  if (layout_.expert == 1) return 0;
  const GroupLinks links = expert_links();
  const Experts& experts = model_.experts;
  double network_share = 1;
  if (experts.most_nodes > 0) {
    const std::int64_t num_nodes = std::min(experts.most_nodes, links.num_nodes());
    network_share =
        std::min(1.0, static_cast<double>(num_nodes) / static_cast<double>(experts.num_chosen));
  }
  return 2 * (factors_.experts *
                  all_to_all_seconds(links, expert_exchange_bytes(model_, layout_), network_share) +
              machine_.node_latency_seconds);
}

Work Prediction::layer_forward(LayerKind kind) const {
  Work work;
  work.matrices = matrices_forward(kind);
  work.attention = attention_forward();
  work.elementwise = elementwise_forward(kind);
  work.tensor = (1 - software_.tensor_forward_overlap) * tensor_forward(kind);
  work.context = context_forward();
  if (kind == LayerKind::experts) {
    work.experts = (1 - software_.expert_overlap) * experts_forward();
  }
  return work;
}

Work Prediction::layer_backward(LayerKind kind) const {
  const Work forward = layer_forward(kind);
  Work work = 2 * forward;
  constexpr double elementwise_passes = 1.5;  // two gradients from fewer reads than twice forward
  work.elementwise = elementwise_passes * forward.elementwise;
  work.tensor = (1 - software_.tensor_backward_overlap) * tensor_forward(kind);
  work.experts = forward.experts;  // gradients travel as the tokens did, the other way round
  if (layout_.recompute == Recompute::selective) work.attention += forward.attention;
  if (layout_.recompute == Recompute::full) work = work + forward;
  return work;
}

/// Kernels start one after the other; where they are short the launches set the pace. A layer has
/// long and short ones, so the two limits meet smoothly.
Work Prediction::with_launches(Work layer) const {
  const double passes = layout_.recompute == Recompute::full ? 4 : 3;
  const double busy = layer.total();
  const double launches = passes * machine_.launch_seconds;
  constexpr double sharpness = 4;
  layer.launch = busy * (std::pow(1 + std::pow(launches / busy, sharpness), 1 / sharpness) - 1);
  return layer;
}

Work Prediction::layer(LayerKind kind) const {
  return with_launches(layer_forward(kind) + layer_backward(kind));
}

Work Prediction::logits() const {
  const auto vocabulary = static_cast<double>(model_.vocabulary) / tensor();
  // Loss in 4 bytes: copied, exponentiated, divided, its gradient written and read.
  constexpr double bytes_per_logit = 28;
  Work work;
  work.logits = 3 * product_seconds(tokens(), vocabulary, hidden()) +
                bytes_per_logit * tokens() * vocabulary / machine_.memory_bytes_per_second;
  return work;
}

/// From a rank to one of another stage, which lies on another node unless the job fits on one.
double Prediction::stage_bytes_per_second() const {
  const bool is_inside = layout_.num_devices() <= machine_.devices_per_node;
  return is_inside ? machine_.node_bytes_per_second : adapter_links().network_bytes_per_second;
}

/// One activation to the next stage.
double Prediction::send_seconds() const {
  if (layout_.pipeline == 1) return 0;
  const double bytes = activation_bytes() / (software_.has_scattered_sends ? tensor() : 1);
  return bytes / stage_bytes_per_second() + machine_.node_latency_seconds;
}

/// Parameters of one device that all ranks of its stage with the same tensor rank have: on the
/// stage with the most.
double Prediction::common_parameters() const {
  const std::int64_t num_layers = (model_.num_layers + layout_.pipeline - 1) / layout_.pipeline;
  const auto kind = model_.has_experts() ? LayerKind::experts : LayerKind::dense;
  const double embedding = static_cast<double>(model_.vocabulary) * hidden();
  return (static_cast<double>(num_layers) * parameters_of(model_, kind).common + embedding) /
         tensor();
}

/// Those of its routed experts.
double Prediction::routed_parameters() const {
  if (!model_.has_experts()) return 0;
  const std::int64_t num_layers =
      std::min((model_.num_layers + layout_.pipeline - 1) / layout_.pipeline,
               num_layers_of(model_, LayerKind::experts));
  return static_cast<double>(num_layers) * parameters_of(model_, LayerKind::experts).routed /
         static_cast<double>(layout_.expert);
}

GroupLinks Prediction::data_links() const {
  GroupLinks links = adapter_links();
  links.num_ranks = layout_.data * layout_.context;
  links.num_ranks_in_node = ranks_in_node(links.num_ranks, layout_.tensor);
  return links;
}

/// Ranks of a stage that hold the same experts.
GroupLinks Prediction::expert_data_links() const {
  GroupLinks links = adapter_links();
  links.num_ranks = layout_.num_stage_devices() / layout_.expert;
  links.num_ranks_in_node = ranks_in_node(links.num_ranks, layout_.expert);
  return links;
}

/// Gradients of one device's parameters summed over the ranks that hold the same.
double Prediction::reduction_seconds(const GroupLinks& links, double parameters) const {
  const double gradients = software_.gradient_bytes * parameters;
  if (layout_.zero_stage < 3) return ring_all_reduce_seconds(links, gradients);
  // Reduced to their owners only; weights, 2 bytes each, are gathered in both passes.
  return ring_all_gather_seconds(links, gradients) +
         2 * ring_all_gather_seconds(links, 2 * parameters);
}

double Prediction::data_seconds() const {
  double seconds = reduction_seconds(data_links(), common_parameters());
  if (model_.has_experts()) {
    seconds += reduction_seconds(expert_data_links(), routed_parameters());
  }
  if (layout_.pipeline > 1 && model_.has_tied_embedding) {
    // The first and last stage sum the gradients of the embedding they share.
    seconds += 2 * software_.gradient_bytes * static_cast<double>(model_.vocabulary) * hidden() /
               tensor() / stage_bytes_per_second();
  }
  return seconds;
}

double Prediction::slowdown() const {
  const double nodes =
      static_cast<double>(layout_.num_devices()) / static_cast<double>(machine_.devices_per_node);
  const GroupLinks links = data_links();
  double share = machine_.slowdown_per_doubling * std::log2(std::max(1.0, nodes));
  if (links.num_ranks_in_node > 1) {
    const double pairs = static_cast<double>(links.num_nodes()) / 2;
    share += machine_.sharing_slowdown * std::log2(std::max(1.0, pairs));
  }
  return share;
}

IterationTime Prediction::iteration() const {
  const auto p = static_cast<double>(layout_.pipeline);
  const double m = layout_.num_micro_batches();
  const double mean_layers = static_cast<double>(model_.num_layers) / p;
  // Experts, where there are, are in the last stage; dense layers before them in the first.
  const Work per_layer = layer(model_.has_experts() ? LayerKind::experts : LayerKind::dense);
  Work mean = mean_layers * per_layer;
  if (model_.has_experts() && model_.experts.num_dense_layers > 0) {
    const auto num_dense = static_cast<double>(model_.experts.num_dense_layers);
    mean = (mean_layers - num_dense / p) * per_layer + num_dense / p * layer(LayerKind::dense);
  }
  // With one stage it has them all.
  Work last = (layout_.pipeline == 1 ? mean : std::ceil(mean_layers) * per_layer) + logits();
  if (!software_.has_pipeline_overlap) {
    const std::int64_t num_chunks = layout_.schedule == Schedule::zb_v ? 2 : layout_.interleave;
    last.sends = 2 * static_cast<double>(num_chunks) * send_seconds();
  }
  // All stages pass their work on at the pace of the slowest, the last; the others' work fills and
  // drains the pipeline.
  const Work whole = m * last;
  const double other = mean.total() + last.sends;

  IterationTime time;
  time.matrices = whole.matrices;
  time.attention = whole.attention;
  time.elementwise = whole.elementwise;
  time.logits = whole.logits;
  time.launch = whole.launch;
  time.tensor = whole.tensor;
  time.context = whole.context;
  time.experts = whole.experts;
  time.sends = whole.sends;
  time.bubble = bubble_micro_batches(layout_) * other;
  time.data = data_seconds();
  if (software_.has_data_overlap) {
    // Beside the last work of the stage: of one micro-batch or, cut into chunks that finish one
    // after the other, of all but the last chunk. The last bucket has nothing to hide behind.
    constexpr double last_bucket = 0.1;
    const auto v = static_cast<double>(layout_.interleave);
    const double window = std::max(1.0, p * (v - 1) / v) * last.total();
    time.data = std::max(last_bucket * time.data, time.data - window);
  }
  double updated = common_parameters() + routed_parameters();
  if (layout_.zero_stage > 0) {
    updated = common_parameters() / static_cast<double>(layout_.data * layout_.context) +
              routed_parameters() / static_cast<double>(expert_data_links().num_ranks);
  }
  time.optimizer = machine_.optimizer_seconds * updated + machine_.iteration_seconds;
  time.slowdown = slowdown() * (whole.total() + time.bubble);
  return time;
}

}  // namespace

IterationTime predict(const Transformer& model, const Layout& layout, const Machine& machine,
                      const Software& software, const ExchangeFactors& factors) {
  return Prediction(model, layout, machine, software, factors).iteration();
}

LayerTime predict_layer(const Transformer& model, const Layout& layout, const Machine& machine,
                        const Software& software, LayerKind kind) {
  const Prediction prediction(model, layout, machine, software);
  return {prediction.layer_forward(kind).total(), prediction.layer_backward(kind).total()};
}

double expert_exchange_bytes(const Transformer& model, const Layout& layout) {
  const double tokens = static_cast<double>(model.sequence * layout.micro_batch) /
                        static_cast<double>(layout.context * layout.tensor);
  return 2 * tokens * static_cast<double>(model.experts.num_chosen) * model.experts.load *
         static_cast<double>(model.hidden);
}

double model_flops_utilisation(const Transformer& model, const Layout& layout, double seconds,
                               double peak_flops) {
  return model_flops(model, static_cast<double>(layout.global_batch)) /
         (static_cast<double>(layout.num_devices()) * peak_flops * seconds);
}

}  // namespace weir::training
