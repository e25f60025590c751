// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/iteration_time.hpp>

#include <algorithm>
#include <cmath>

#include <weir/engine/training/collective_time.hpp>

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
  double sends = 0;

  double total() const {
    return matrices + attention + elementwise + logits + launch + tensor + context + sends;
  }
};

Work operator+(const Work& a, const Work& b) {
  return {a.matrices + b.matrices, a.attention + b.attention, a.elementwise + b.elementwise,
          a.logits + b.logits,     a.launch + b.launch,       a.tensor + b.tensor,
          a.context + b.context,   a.sends + b.sends};
}

Work operator*(double factor, const Work& a) {
  return {factor * a.matrices, factor * a.attention, factor * a.elementwise, factor * a.logits,
          factor * a.launch,   factor * a.tensor,    factor * a.context,     factor * a.sends};
}

/// The sizes and rates that all formulas below share.
class Prediction {
 public:
  Prediction(const Transformer& model, const Layout& layout, const Machine& machine,
             const Software& software)
      : model_(model), layout_(layout), machine_(machine), software_(software) {}

  IterationTime iteration() const;
  Work layer_forward() const;
  Work layer_backward() const;

 private:
  double product_seconds(double m, double n, double k) const;
  double matrices_forward() const;
  double attention_forward() const;
  double elementwise_forward() const;
  double tensor_forward() const;
  double context_forward() const;
  Work logits() const;
  Work layer() const;
  Work with_launches(Work layer) const;
  double stage_bytes_per_second() const;
  double send_seconds() const;
  double parameters_per_device() const;
  double data_seconds() const;
  double slowdown() const;
  GroupLinks adapter_links() const;
  GroupLinks tensor_links() const;
  GroupLinks data_links() const;

  double tokens() const {
    return static_cast<double>(model_.sequence * layout_.micro_batch) /
           static_cast<double>(layout_.context);
  }
  double hidden() const { return static_cast<double>(model_.hidden); }
  double tensor() const { return static_cast<double>(layout_.tensor); }
  /// Bytes of one micro-batch's activations between layers.
  double activation_bytes() const { return 2 * tokens() * hidden(); }
  std::int64_t ranks_in_node(std::int64_t num_ranks, std::int64_t stride) const {
    return std::clamp<std::int64_t>(machine_.devices_per_node / stride, 1, num_ranks);
  }

  const Transformer& model_;
  const Layout& layout_;
  const Machine& machine_;
  const Software& software_;
};

/// An m x k by k x n product. Sides are filled up to tiles, pipelines of the units fill and drain.
double Prediction::product_seconds(double m, double n, double k) const {
  const double tile = machine_.tile;
  return 2 * m * n * k / (machine_.peak_flops * machine_.matmul_efficiency) * (1 + tile / m) *
         (1 + tile / n) * (1 + tile / k);
}

double Prediction::matrices_forward() const {
  const auto query = static_cast<double>(model_.query_width()) / tensor();
  const auto kv = static_cast<double>(model_.kv_width()) / tensor();
  const auto network = static_cast<double>(model_.feed_forward) / tensor();
  return product_seconds(tokens(), query + 2 * kv, hidden()) +
         product_seconds(tokens(), hidden(), query) +
         product_seconds(tokens(), (model_.is_gated ? 2 : 1) * network, hidden()) +
         product_seconds(tokens(), hidden(), network);
}

double Prediction::attention_forward() const {
  auto seen = static_cast<double>(model_.sequence);
  if (software_.attention_window > 0) seen = std::min(seen, software_.attention_window);
  const double scores = tokens() * seen * static_cast<double>(model_.num_heads) / tensor();
  const double flops = 4 * scores * static_cast<double>(model_.head_size);
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

double Prediction::elementwise_forward() const {
  // Two normalisations (read, written), two additions with dropout (two read, one mask, one
  // written), on every tensor rank alike unless the sequence is cut.
  constexpr double bytes_whole = 2 * 4 + 2 * 7;
  const double whole =
      bytes_whole * tokens() * hidden() / (layout_.has_sequence_parallelism ? tensor() : 1);
  const double network =
      (model_.is_gated ? 6 : 4) * tokens() * static_cast<double>(model_.feed_forward) / tensor();
  return (whole + network) / machine_.memory_bytes_per_second;
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

/// Two all-reduces of the activations a layer, or their halves ([Shoeybi19]); one of
/// a parallel block.
double Prediction::tensor_forward() const {
  if (layout_.tensor == 1) return 0;
  const double num = software_.has_parallel_block ? 1 : 2;
  return num * (ring_all_reduce_seconds(tensor_links(), activation_bytes()) +
                machine_.node_latency_seconds);
}

/// Keys and values of all context ranks are gathered before the attention ([Dubey24]).
double Prediction::context_forward() const {
  if (layout_.context == 1) return 0;
  GroupLinks links = adapter_links();
  links.num_ranks = layout_.context;
  links.num_ranks_in_node = ranks_in_node(layout_.context, layout_.tensor);
  const double bytes = 4 * tokens() * static_cast<double>(layout_.context) *
                       static_cast<double>(model_.kv_width()) / tensor();
  return ring_all_gather_seconds(links, bytes);
}

Work Prediction::layer_forward() const {
  Work work;
  work.matrices = matrices_forward();
  work.attention = attention_forward();
  work.elementwise = elementwise_forward();
  work.tensor = (1 - software_.tensor_forward_overlap) * tensor_forward();
  work.context = context_forward();
  return work;
}

Work Prediction::layer_backward() const {
  const Work forward = layer_forward();
  Work work = 2 * forward;
  constexpr double elementwise_passes = 1.5;  // two gradients from fewer reads than twice forward
  work.elementwise = elementwise_passes * forward.elementwise;
  work.tensor = (1 - software_.tensor_backward_overlap) * tensor_forward();
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

Work Prediction::layer() const { return with_launches(layer_forward() + layer_backward()); }

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

double Prediction::parameters_per_device() const {
  const double layers =
      std::ceil(static_cast<double>(model_.num_layers) / static_cast<double>(layout_.pipeline));
  const double embedding = static_cast<double>(model_.vocabulary) * hidden();
  return (layers * parameters_per_layer(model_) + embedding) / tensor();
}

GroupLinks Prediction::data_links() const {
  GroupLinks links = adapter_links();
  links.num_ranks = layout_.data * layout_.context;
  links.num_ranks_in_node = ranks_in_node(links.num_ranks, layout_.tensor);
  return links;
}

double Prediction::data_seconds() const {
  const double gradients = software_.gradient_bytes * parameters_per_device();
  double seconds = ring_all_reduce_seconds(data_links(), gradients);
  if (layout_.zero_stage == 3) {
    // Reduced to their owners only; weights, 2 bytes each, are gathered in both passes.
    seconds = ring_all_gather_seconds(data_links(), gradients) +
              2 * ring_all_gather_seconds(data_links(), 2 * parameters_per_device());
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
  const Work per_layer = layer();
  Work last = std::ceil(mean_layers) * per_layer + logits();
  if (!software_.has_pipeline_overlap) {
    const std::int64_t num_chunks = layout_.schedule == Schedule::zb_v ? 2 : layout_.interleave;
    last.sends = 2 * static_cast<double>(num_chunks) * send_seconds();
  }
  // All stages pass their work on at the pace of the slowest, the last; the others' work fills and
  // drains the pipeline.
  const Work whole = m * last;
  const double other = mean_layers * per_layer.total() + last.sends;

  IterationTime time;
  time.matrices = whole.matrices;
  time.attention = whole.attention;
  time.elementwise = whole.elementwise;
  time.logits = whole.logits;
  time.launch = whole.launch;
  time.tensor = whole.tensor;
  time.context = whole.context;
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
  const double num_owners =
      layout_.zero_stage > 0 ? static_cast<double>(layout_.data * layout_.context) : 1;
  time.optimizer = machine_.optimizer_seconds * parameters_per_device() / num_owners +
                   machine_.iteration_seconds;
  time.slowdown = slowdown() * (whole.total() + time.bubble);
  return time;
}

}  // namespace

IterationTime predict(const Transformer& model, const Layout& layout, const Machine& machine,
                      const Software& software) {
  return Prediction(model, layout, machine, software).iteration();
}

LayerTime predict_layer(const Transformer& model, const Layout& layout, const Machine& machine,
                        const Software& software) {
  const Prediction prediction(model, layout, machine, software);
  return {prediction.layer_forward().total(), prediction.layer_backward().total()};
}

double model_flops_utilisation(const Transformer& model, const Layout& layout, double seconds,
                               double peak_flops) {
  return model_flops(model, static_cast<double>(layout.global_batch)) /
         (static_cast<double>(layout.num_devices()) * peak_flops * seconds);
}

}  // namespace weir::training
