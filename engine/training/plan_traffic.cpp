// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/plan_traffic.hpp>

#include <algorithm>
#include <tuple>

#include <weir/engine/training/context_ring.hpp>

namespace weir::training {

namespace {

double share_moved(std::int64_t num_ranks) {
  return static_cast<double>(num_ranks - 1) / static_cast<double>(num_ranks);
}

/// What the ranks of a plan exchange, pair by pair.
class TrafficOfPlan {
 public:
  explicit TrafficOfPlan(const PlacedPlan& plan) : plan_(plan), layout_(plan.layout()) {
    const std::vector<std::int64_t> layers = layers_of_stages(plan);
    const PipelineSchedule& schedule = plan.schedule;
    for (std::size_t rank = 0; rank < schedule.num_ranks(); ++rank) {
      double of_rank = 0;
      for (std::size_t chunk = 0; chunk < schedule.num_chunks; ++chunk) {
        of_rank += static_cast<double>(layers[schedule.stage_of(rank, chunk)]);
      }
      layers_.push_back(of_rank);
    }
  }

  std::vector<schedule::Traffic> all() {
    for (std::size_t pipeline = 0; pipeline < layers_.size(); ++pipeline) {
      add_tensor(pipeline);
      add_context(pipeline);
      add_gradients(pipeline);
      if (plan_.model.has_experts() && layout_.expert > 1) add_experts(pipeline);
    }
    add_sends();
    return merged();
  }

 private:
  std::size_t tensor() const { return static_cast<std::size_t>(layout_.tensor); }
  std::size_t context() const { return static_cast<std::size_t>(layout_.context); }
  std::size_t data() const { return static_cast<std::size_t>(layout_.data); }
  std::size_t num_stage_ranks() const {
    return static_cast<std::size_t>(layout_.num_stage_devices());
  }
  double tokens() const {
    return static_cast<double>(plan_.model.sequence * layout_.micro_batch) /
           static_cast<double>(layout_.context);
  }
  double activation_bytes() const { return 2 * tokens() * static_cast<double>(plan_.model.hidden); }
  double num_micro_batches() const { return static_cast<double>(plan_.schedule.num_micro_batches); }
  bool recomputes_all() const { return layout_.recompute == Recompute::full; }
  double share_of_experts() const {
    return static_cast<double>(num_layers_of(plan_.model, LayerKind::experts)) /
           static_cast<double>(plan_.model.num_layers);
  }

  /// Ranks of a stage are numbered tensor, context, data from the inside.
  std::uint32_t rank_of(std::size_t pipeline, std::size_t index) const {
    return static_cast<std::uint32_t>(
        rank_at(layout_, {index % tensor(), index / tensor() % context(), pipeline,
                          index / (tensor() * context())}));
  }

  void add(std::uint32_t a, std::uint32_t b, double bytes) {
    if (a != b && bytes > 0) traffic_.push_back({std::min(a, b), std::max(a, b), bytes});
  }

  /// Each of the ranks of a stage from `first`, `stride` apart, sends the next so many bytes.
  void add_ring(std::size_t pipeline, std::size_t first, std::size_t stride, std::size_t size,
                double bytes) {
    for (std::size_t i = 0; size > 1 && i < size; ++i) {
      add(rank_of(pipeline, first + i * stride), rank_of(pipeline, first + (i + 1) % size * stride),
          bytes);
    }
  }

  void add_tensor(std::size_t pipeline) {
    const double num_reduced = (plan_.software.has_parallel_block ? 1 : 2) *
                               (recomputes_all() ? 3 : 2) * layers_[pipeline] * num_micro_batches();
    const double bytes = 2 * share_moved(layout_.tensor) * num_reduced * activation_bytes();
    for (std::size_t first = 0; first < num_stage_ranks(); first += tensor()) {
      add_ring(pipeline, first, 1, tensor(), bytes);
    }
  }

  void add_context(std::size_t pipeline) {
    const double num_passed = (recomputes_all() ? 4 : 3) * layers_[pipeline] * num_micro_batches();
    const double bytes = static_cast<double>(layout_.context - 1) * num_passed * tokens() *
                         kv_bytes_per_token(plan_.model, layout_);
    for (std::size_t block = 0; block < data(); ++block) {
      for (std::size_t t = 0; t < tensor(); ++t) {
        add_ring(pipeline, block * tensor() * context() + t, tensor(), context(), bytes);
      }
    }
  }

  void add_gradients(std::size_t pipeline) {
    const Transformer& model = plan_.model;
    const LayerParameters dense = parameters_of(model, LayerKind::dense);
    double common = layers_[pipeline] * dense.common;
    if (model.has_experts()) {
      const LayerParameters experts = parameters_of(model, LayerKind::experts);
      common += layers_[pipeline] * share_of_experts() * (experts.common - dense.common);
      const std::size_t num_owners = num_stage_ranks() / static_cast<std::size_t>(layout_.expert);
      const double routed = layers_[pipeline] * share_of_experts() * experts.routed /
                            static_cast<double>(layout_.expert);
      for (std::size_t first = 0; first < static_cast<std::size_t>(layout_.expert); ++first) {
        add_ring(pipeline, first, static_cast<std::size_t>(layout_.expert), num_owners,
                 ring_bytes(num_owners, routed));
      }
    }
    const std::size_t num_ranks = data() * context();
    const double parameters = common / static_cast<double>(layout_.tensor);
    for (std::size_t t = 0; t < tensor(); ++t) {
      add_ring(pipeline, t, tensor(), num_ranks, ring_bytes(num_ranks, parameters));
    }
  }

  /// Of a ring all-reduce of gradients, or what takes its place under ZeRO.
  double ring_bytes(std::size_t num_ranks, double parameters) const {
    return 2 * share_moved(static_cast<std::int64_t>(num_ranks)) * plan_.software.gradient_bytes *
           parameters;
  }

  /// All with all are size^2 / 2 pairs, too many to place by. Numbers of members are written with
  /// the prime factors of their count as radices; of those that differ first in the same digit one
  /// stands for all: where they lie in consecutive devices, as far away.
  void add_experts(std::size_t pipeline) {
    const auto size = static_cast<std::size_t>(layout_.expert);
    const double num_exchanges =
        (recomputes_all() ? 6 : 4) * layers_[pipeline] * share_of_experts() * num_micro_batches();
    const double bytes =
        2 * num_exchanges * expert_exchange_bytes(plan_.model, layout_) / static_cast<double>(size);
    for (std::size_t first = 0; first < num_stage_ranks(); first += size) {
      std::size_t radix = 2;
      for (std::size_t stride = 1; stride < size; stride *= radix) {
        radix = 2;
        while (size / stride % radix != 0) ++radix;
        for (std::size_t i = 0; i < size; ++i) {
          for (std::size_t digit = i / stride % radix; digit > 0; --digit) {
            add(rank_of(pipeline, first + i), rank_of(pipeline, first + i - digit * stride),
                static_cast<double>(stride) * bytes);
          }
        }
      }
    }
  }

  void add_sends() {
    const PipelineSchedule& schedule = plan_.schedule;
    const double bytes =
        2 * num_micro_batches() * activation_bytes() /
        (plan_.software.has_scattered_sends ? static_cast<double>(layout_.tensor) : 1);
    for (std::size_t stage = 0; stage + 1 < schedule.num_stages(); ++stage) {
      for (std::size_t index = 0; index < num_stage_ranks(); ++index) {
        add(rank_of(schedule.rank_of(stage), index), rank_of(schedule.rank_of(stage + 1), index),
            bytes);
      }
    }
  }

  std::vector<schedule::Traffic> merged() {
    std::sort(traffic_.begin(), traffic_.end(), [](const auto& left, const auto& right) {
      return std::tie(left.a, left.b) < std::tie(right.a, right.b);
    });
    std::vector<schedule::Traffic> pairs;
    for (const schedule::Traffic& each : traffic_) {
      if (!pairs.empty() && pairs.back().a == each.a && pairs.back().b == each.b) {
        pairs.back().bytes += each.bytes;
      } else {
        pairs.push_back(each);
      }
    }
    return pairs;
  }

  const PlacedPlan& plan_;
  const Layout& layout_;
  std::vector<double> layers_;  ///< Of each rank of a pipeline.
  std::vector<schedule::Traffic> traffic_;
};

}  // namespace

std::vector<schedule::Dimension> grid_of(const Layout& layout) {
  std::vector<schedule::Dimension> grid;
  const auto add = [&](const char* name, std::int64_t size) {
    if (size > 1) grid.push_back({name, static_cast<std::size_t>(size)});
  };
  add("tensor", layout.tensor);
  add("context", layout.context);
  add("pipeline", layout.pipeline);
  add("data", layout.data);
  if (grid.empty()) grid.push_back({"tensor", 1});
  return grid;
}

std::vector<schedule::Traffic> plan_traffic(const PlacedPlan& plan) {
  return TrafficOfPlan(plan).all();
}

}  // namespace weir::training
