// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/parallel_plan.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/context_ring.hpp>

namespace weir::training {

namespace {

constexpr std::array schedules = {Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved,
                                  Schedule::zb_h1, Schedule::zb_v};
constexpr std::array recomputations = {Recompute::none, Recompute::selective, Recompute::full};

template <class T>
bool is_allowed(const std::optional<T>& wanted, const T& found) {
  return !wanted || *wanted == found;
}

bool divides(std::int64_t part, std::int64_t whole) { return whole % part == 0; }

/// A group of consecutive devices that shares no node with a part of another.
bool fits_nodes(std::int64_t group, std::int64_t node) {
  return divides(group, node) || divides(node, group);
}

bool degrees_are_considered(const ParallelPlanRequest& request, const Layout& layout) {
  const Transformer& model = request.model;
  const std::int64_t node = std::min(request.machine.devices_per_node, request.num_devices);
  return layout.num_devices() == request.num_devices && layout.pipeline <= model.num_layers &&
         divides(layout.tensor, model.num_heads) && divides(layout.tensor, model.num_kv_heads) &&
         divides(layout.tensor, model.feed_forward) &&
         divides(layout.tensor * layout.context, model.sequence) &&
         divides(layout.data, request.global_batch) && fits_nodes(layout.tensor, node) &&
         fits_nodes(layout.tensor * layout.context, node);
}

bool experts_are_considered(const ParallelPlanRequest& request, const Layout& layout) {
  if (!request.model.has_experts()) return layout.expert == 1;
  const std::int64_t node = std::min(request.machine.devices_per_node, request.num_devices);
  return divides(layout.tensor, layout.expert) &&
         divides(layout.expert, layout.num_stage_devices()) &&
         divides(layout.expert, request.model.experts.num_routed) &&
         fits_nodes(layout.expert, node);
}

bool ring_is_considered(const ParallelPlanRequest& request, const Layout& layout) {
  return layout.context == 1 || !request.software.has_context_ring ||
         slowest_hop(request.model, layout, request.machine).is_hidden();
}

bool schedule_is_considered(const Transformer& model, const Layout& layout) {
  const std::int64_t p = layout.pipeline;
  const std::int64_t m = layout.global_batch / (layout.data * layout.micro_batch);
  if (layout.schedule == Schedule::interleaved) {
    return p > 1 && layout.interleave > 1 && divides(p, m) &&
           divides(p * layout.interleave, model.num_layers);
  }
  if (layout.interleave != 1) return false;
  switch (layout.schedule) {
    case Schedule::one_f_one_b: return true;
    case Schedule::gpipe: return p > 1;
    case Schedule::zb_h1: return p > 1 && m >= p && layout.recompute != Recompute::full;
    case Schedule::zb_v:
      return p > 1 && m >= 2 * p && layout.recompute != Recompute::full &&
             divides(2 * p, model.num_layers);
    default: return false;
  }
}

bool zero_stage_is_considered(const Layout& layout) {
  if (layout.zero_stage == 0) return true;
  if (layout.data * layout.context == 1) return false;
  if (layout.zero_stage == 1) return true;
  return layout.zero_stage <= 3 && layout.pipeline == 1 &&
         layout.global_batch == layout.data * layout.micro_batch;
}

/// The divisors of a number, ascending; those that `wanted` allows.
std::vector<std::int64_t> divisors(std::int64_t number, std::optional<std::int64_t> wanted) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 1; i * i <= number; ++i) {
    if (!divides(i, number)) continue;
    all.push_back(i);
    if (i * i != number) all.push_back(number / i);
  }
  std::sort(all.begin(), all.end());
  std::erase_if(all, [&](std::int64_t each) { return !is_allowed(wanted, each); });
  return all;
}

/// The search over one request.
class Search {
 public:
  explicit Search(const ParallelPlanRequest& request) : request_(request) {}

  ParallelPlans run(std::size_t num_plans);

 private:
  void search_degrees(Layout layout);
  void consider_ring(const Layout& layout);
  void search_batches(Layout layout);
  void search_schedules(Layout layout);
  void search_memory(Layout layout);
  void consider(const Layout& layout, const MemoryUse& memory);
  [[noreturn]] void refuse() const;

  const ParallelPlanRequest& request_;
  ParallelPlans found_;
  std::optional<ParallelPlan> best_;      ///< Of the degrees that are being searched.
  std::optional<ParallelPlan> smallest_;  ///< Of all, by bytes.
  std::optional<Layout> exposed_ring_;    ///< Of those refused, that which lacks the fewest tokens.
};

void Search::consider(const Layout& layout, const MemoryUse& memory) {
  ++found_.num_considered;
  const double bytes = memory.total_bytes();
  if (!smallest_ || bytes < smallest_->memory.total_bytes()) smallest_ = {layout, {}, memory};
  if (request_.memory_bytes > 0 && bytes > request_.memory_bytes) return;
  ++found_.num_fitting;
  const ParallelPlan plan{
      layout, predict(request_.model, layout, request_.machine, request_.software), memory};
  if (!best_ || is_better(plan, *best_)) best_ = plan;
}

void Search::search_memory(Layout layout) {
  for (int stage = 0; stage <= 3; ++stage) {
    layout.zero_stage = stage;
    if (!is_allowed(request_.constraints.zero_stage, stage) || !zero_stage_is_considered(layout)) {
      continue;
    }
    consider(layout, device_memory(request_.model, layout, request_.software.has_fused_attention));
  }
}

void Search::search_schedules(Layout layout) {
  for (const Recompute recompute : recomputations) {
    if (!is_allowed(request_.constraints.recompute, recompute)) continue;
    layout.recompute = recompute;
    for (const Schedule schedule : schedules) {
      if (!is_allowed(request_.constraints.schedule, schedule)) continue;
      layout.schedule = schedule;
      const std::int64_t most =
          schedule == Schedule::interleaved
              ? std::max<std::int64_t>(request_.model.num_layers / layout.pipeline, 1)
              : 1;
      for (layout.interleave = 1; layout.interleave <= most; ++layout.interleave) {
        if (is_allowed(request_.constraints.interleave, layout.interleave) &&
            schedule_is_considered(request_.model, layout)) {
          search_memory(layout);
        }
      }
    }
  }
}

void Search::consider_ring(const Layout& layout) {
  const auto missing = [&](const Layout& each) {
    const RingHop hop = slowest_hop(request_.model, each, request_.machine);
    return hop.needed_tokens / hop.block_tokens;
  };
  if (!exposed_ring_ || missing(layout) < missing(*exposed_ring_)) exposed_ring_ = layout;
}

void Search::search_degrees(Layout layout) {
  if (!ring_is_considered(request_, layout)) return consider_ring(layout);
  for (const std::int64_t e :
       divisors(request_.model.has_experts() ? request_.model.experts.num_routed : 1,
                request_.constraints.expert)) {
    layout.expert = e;
    if (experts_are_considered(request_, layout)) search_batches(layout);
  }
}

void Search::search_batches(Layout layout) {
  best_.reset();
  const std::int64_t samples = request_.global_batch / layout.data;
  for (const std::int64_t b : divisors(samples, request_.constraints.micro_batch)) {
    layout.micro_batch = b;
    search_schedules(layout);
  }
  if (best_) found_.best.push_back(*best_);
}

void Search::refuse() const {
  const std::string& name = request_.model.name;
  const std::string ring =
      exposed_ring_ ? "a ring that does not hide its transfers: " +
                          describe(slowest_hop(request_.model, *exposed_ring_, request_.machine),
                                   *exposed_ring_)
                    : std::string();
  WEIR_EXPECT(smallest_ || !exposed_ring_, input,
              name + ": found " + ring +
                  "; expected longer samples, fewer context ranks, or keys "
                  "and values that are gathered");
  WEIR_EXPECT(smallest_, usage,
              name + ": found no layout of " + std::to_string(request_.num_devices) +
                  " devices and batch " + std::to_string(request_.global_batch) +
                  " that the options and the model's sizes allow; expected degrees whose product "
                  "is the devices and that divide heads, sequence and batch");
  const std::vector<NamedPart> parts = parts_of(smallest_->memory);
  const NamedPart& largest = *std::max_element(
      parts.begin(), parts.end(),
      [](const NamedPart& left, const NamedPart& right) { return left.value < right.value; });
  char bytes[160];
  std::snprintf(bytes, sizeof bytes,
                "needs %.0f bytes on a device of its %s stage, which has %.0f; most are %s, "
                "%.0f bytes",
                smallest_->memory.total_bytes(),
                smallest_->memory.is_first_stage ? "first" : "second", request_.memory_bytes,
                largest.name, largest.value);
  throw Error(ErrorCode::input, name + ": found no layout that fits in memory: the smallest (" +
                                    describe(smallest_->layout) + ") " + bytes +
                                    (ring.empty() ? "" : "; left out was " + ring));
}

ParallelPlans Search::run(std::size_t num_plans) {
  const LayoutConstraints& wanted = request_.constraints;
  Layout layout;
  layout.global_batch = request_.global_batch;
  for (const std::int64_t t : divisors(request_.num_devices, wanted.tensor)) {
    layout.tensor = t;
    layout.has_sequence_parallelism = t > 1;
    for (const std::int64_t c : divisors(request_.num_devices / t, wanted.context)) {
      layout.context = c;
      for (const std::int64_t p : divisors(request_.num_devices / t / c, wanted.pipeline)) {
        layout.pipeline = p;
        layout.data = request_.num_devices / t / c / p;
        if (is_allowed(wanted.data, layout.data) && degrees_are_considered(request_, layout)) {
          search_degrees(layout);
        }
      }
    }
  }
  if (found_.best.empty()) refuse();
  std::sort(found_.best.begin(), found_.best.end(), is_better);
  if (found_.best.size() > num_plans) found_.best.resize(num_plans);
  return std::move(found_);
}

}  // namespace

bool LayoutConstraints::allow(const Layout& layout) const {
  return is_allowed(tensor, layout.tensor) && is_allowed(context, layout.context) &&
         is_allowed(pipeline, layout.pipeline) && is_allowed(data, layout.data) &&
         is_allowed(expert, layout.expert) && is_allowed(micro_batch, layout.micro_batch) &&
         is_allowed(interleave, layout.interleave) && is_allowed(schedule, layout.schedule) &&
         is_allowed(recompute, layout.recompute) && is_allowed(zero_stage, layout.zero_stage);
}

LayoutConstraints LayoutConstraints::or_else(const LayoutConstraints& others) const {
  LayoutConstraints both = *this;
  const auto fill = [](auto& wanted, const auto& other) {
    if (!wanted) wanted = other;
  };
  fill(both.tensor, others.tensor);
  fill(both.context, others.context);
  fill(both.pipeline, others.pipeline);
  fill(both.data, others.data);
  fill(both.expert, others.expert);
  fill(both.micro_batch, others.micro_batch);
  fill(both.interleave, others.interleave);
  fill(both.schedule, others.schedule);
  fill(both.recompute, others.recompute);
  fill(both.zero_stage, others.zero_stage);
  return both;
}

bool is_considered(const ParallelPlanRequest& request, const Layout& layout) {
  return layout.global_batch == request.global_batch && layout.micro_batch > 0 &&
         layout.has_sequence_parallelism == (layout.tensor > 1) &&
         degrees_are_considered(request, layout) && ring_is_considered(request, layout) &&
         experts_are_considered(request, layout) &&
         divides(layout.data * layout.micro_batch, layout.global_batch) &&
         schedule_is_considered(request.model, layout) && zero_stage_is_considered(layout) &&
         request.constraints.allow(layout);
}

bool is_better(const ParallelPlan& left, const ParallelPlan& right) {
  const auto key = [](const ParallelPlan& plan) {
    const Layout& l = plan.layout;
    return std::tuple(plan.time.total(), plan.memory.total_bytes(), l.tensor, l.context, l.pipeline,
                      l.expert, l.micro_batch, l.interleave, l.schedule, l.recompute, l.zero_stage);
  };
  return key(left) < key(right);
}

ParallelPlans plan_parallel(const ParallelPlanRequest& request, std::size_t num_plans) {
  check(request.model);
  WEIR_EXPECT(request.num_devices > 0 && request.global_batch > 0, usage,
              "plan: devices and batch must be positive");
  return Search(request).run(num_plans);
}

std::string describe(const Layout& layout) {
  std::string text =
      "tensor " + std::to_string(layout.tensor) + ", context " + std::to_string(layout.context) +
      ", pipeline " + std::to_string(layout.pipeline) + ", data " + std::to_string(layout.data) +
      (layout.expert > 1 ? ", expert " + std::to_string(layout.expert) : "") + ", micro-batch " +
      std::to_string(layout.micro_batch) + ", " + std::string(name_of(layout.schedule));
  if (layout.interleave > 1) text += " of " + std::to_string(layout.interleave) + " chunks";
  return text + ", recompute " + std::string(name_of(layout.recompute)) + ", ZeRO " +
         std::to_string(layout.zero_stage);
}

std::vector<NamedPart> parts_of(const IterationTime& time) {
  return {
      {"matrices", time.matrices}, {"attention", time.attention}, {"elementwise", time.elementwise},
      {"logits", time.logits},     {"launch", time.launch},       {"tensor", time.tensor},
      {"context", time.context},   {"experts", time.experts},     {"sends", time.sends},
      {"bubble", time.bubble},     {"data", time.data},           {"optimizer", time.optimizer},
      {"slowdown", time.slowdown}};
}

std::vector<NamedPart> parts_of(const MemoryUse& memory) {
  return {{"weights", memory.weights_bytes},
          {"gradients", memory.gradients_bytes},
          {"optimizer", memory.optimizer_bytes},
          {"activations", memory.activations_bytes}};
}

Machine machine_of(const schedule::Topology& cluster, std::optional<double> peak_flops) {
  Machine machine;
  const std::string& name = cluster.devices().front().name;
  if (name.starts_with("h100.")) {
    machine.peak_flops = 989e12;  // BF16
    machine.memory_bytes_per_second = 2.5e12;
    machine.optimizer_seconds = 2e-11;
  } else {
    WEIR_EXPECT(name.starts_with("a100.") || peak_flops, usage,
                "--peak: found nothing; expected the teraflops of a device, which " +
                    cluster.name() + " does not tell");
  }
  if (peak_flops) machine.peak_flops = *peak_flops;
  double slowest = cluster.devices().front().speed;
  for (const schedule::Device& device : cluster.devices())
    slowest = std::min(slowest, device.speed);
  machine.peak_flops *= slowest;
  machine.memory_bytes_per_second *= slowest;

  const schedule::Level& nodes = cluster.levels().back();
  std::vector<std::int64_t> sizes(cluster.num_groups(cluster.levels().size() - 1), 0);
  for (const std::uint32_t node : nodes.group_of_device) ++sizes[node];
  WEIR_EXPECT(std::all_of(sizes.begin(), sizes.end(),
                          [&](std::int64_t size) { return size == sizes.front(); }),
              input, cluster.name() + ": found nodes of different sizes; expected equal ones");
  machine.devices_per_node = sizes.front();

  // What collectives reach of a link in the calibrated clusters (docs/training.md).
  constexpr double node_share = 0.77;
  constexpr double network_share = 0.8;
  constexpr double network_tensor_share = 0.6;
  machine.node_bytes_per_second = node_share * nodes.link.bandwidth;
  double network = nodes.link.bandwidth;
  for (std::size_t l = 0; l + 1 < cluster.levels().size(); ++l) {
    network = std::min(network, cluster.levels()[l].link.bandwidth);
  }
  network *= static_cast<double>(machine.devices_per_node);
  machine.network_bytes_per_second = network_share * network;
  machine.network_tensor_bytes_per_second = network_tensor_share * network;
  return machine;
}

}  // namespace weir::training
