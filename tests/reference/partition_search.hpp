// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <vector>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/operator_graph.hpp>

/// Every plan of docs/planning.md's form, tried one by one. It shares no code with the planner:
/// stages are sets of operators, and each cost is computed from its definition.
namespace weir::reference {

using Operators = std::set<std::size_t>;

struct PartitionProblem {
  const training::OperatorGraph& graph;
  const schedule::Topology& cluster;
  double parameter_copies = 4;
  double micro_batches_per_update = 1;
};

class PartitionSearch {
 public:
  explicit PartitionSearch(const PartitionProblem& problem) : problem_(problem) {}

  /// The least seconds per micro-batch over all numbers and sizes of pipelines; infinity if no
  /// plan fits.
  double best() {
    const std::size_t n = problem_.cluster.num_devices();
    for (size_ = 1; size_ <= n; ++size_) {
      for (count_ = 1; size_ * count_ <= n; ++count_) extend({}, 0, 0, false);
    }
    return best_;
  }

  /// The same for one pipeline of `num_stages` stages on a device each.
  double best_straight(std::size_t num_stages) {
    size_ = num_stages;
    count_ = 1;
    extend({}, 0, 0, true);
    return best_;
  }

 private:
  /// Puts the next stage behind `done`, which takes devices [0, first) of each pipeline.
  void extend(const Operators& done, std::size_t first, double worst, bool is_straight) {
    const auto& graph = problem_.graph;
    if (done.size() == graph.size()) {
      if (first == size_) best_ = std::min(best_, worst);
      return;
    }
    for (const Operators& stage : closed_additions(done)) {
      const std::size_t most = is_straight ? 1 : size_ - std::min(first, size_);
      for (std::size_t r = 1; r <= most && first + r <= size_; ++r) {
        const double cost = stage_seconds(done, stage, first, r);
        if (std::max(worst, cost) >= best_) continue;  // stages to come can only add
        Operators both = done;
        both.insert(stage.begin(), stage.end());
        extend(both, first + r, std::max(worst, cost), is_straight);
      }
    }
  }

  /// All sets of further operators that, with `done`, hold all their producers.
  std::vector<Operators> closed_additions(const Operators& done) const {
    std::set<Operators> found;
    std::vector<Operators> open{{}};
    while (!open.empty()) {
      const Operators stage = open.back();
      open.pop_back();
      for (std::size_t i = 0; i < problem_.graph.size(); ++i) {
        if (done.contains(i) || stage.contains(i)) continue;
        const auto& producers = problem_.graph.producers(i);
        const bool is_ready = std::all_of(producers.begin(), producers.end(), [&](std::size_t p) {
          return done.contains(p) || stage.contains(p);
        });
        if (!is_ready) continue;
        Operators larger = stage;
        larger.insert(i);
        if (found.insert(larger).second) open.push_back(larger);
      }
    }
    return {found.begin(), found.end()};
  }

  double stage_seconds(const Operators& done, const Operators& stage, std::size_t first,
                       std::size_t r) const {
    double seconds = 0;
    double parameters = 0;
    double activations = 0;
    for (const std::size_t i : stage) {
      seconds += problem_.graph[i].forward_seconds + problem_.graph[i].backward_seconds;
      parameters += problem_.graph[i].parameter_bytes;
      activations += problem_.graph[i].activation_bytes;
    }
    const double in_flight = std::ceil(double(size_ - first) / double(r));
    const double memory = problem_.parameter_copies * parameters + in_flight * activations;
    double compute = 0;
    std::vector<std::size_t> replicas;
    for (std::size_t b = 0; b < count_; ++b) {
      for (std::size_t d = first; d < first + r; ++d) replicas.push_back(b * size_ + d);
    }
    for (const std::size_t d : replicas) {
      const auto& device = problem_.cluster.devices()[d];
      if (device.memory_bytes > 0 && memory > device.memory_bytes) return infinity;
      compute = std::max(compute, seconds / device.speed);
    }
    Operators both = done;
    both.insert(stage.begin(), stage.end());
    double longest = std::max(compute, gradients(parameters, replicas));
    if (first > 0) longest = std::max(longest, transfer(done, first));
    if (first + r < size_) longest = std::max(longest, transfer(both, first + r));
    return longest / double(replicas.size());
  }

  double gradients(double bytes, const std::vector<std::size_t>& replicas) const {
    if (replicas.size() == 1 || bytes == 0) return 0;
    double bandwidth = infinity;
    double latency = 0;
    for (const std::size_t a : replicas) {
      for (const std::size_t b : replicas) {
        if (a == b) continue;
        const auto& link = problem_.cluster.link_between(a, b);
        bandwidth = std::min(bandwidth, link.bandwidth);
        latency = std::max(latency, link.latency_seconds);
      }
    }
    const double n = double(replicas.size());
    return (2 * (n - 1) / n * bytes / bandwidth + 2 * std::ceil(std::log2(n)) * latency) /
           problem_.micro_batches_per_update;
  }

  double transfer(const Operators& done, std::size_t boundary) const {
    double bytes = 0;
    for (const std::size_t i : done) {
      const auto& consumers = problem_.graph.consumers(i);
      const bool leaves = std::any_of(consumers.begin(), consumers.end(),
                                      [&](std::size_t c) { return !done.contains(c); });
      if (leaves) bytes += problem_.graph[i].output_bytes;
    }
    double seconds = 0;
    for (std::size_t b = 0; b < count_; ++b) {
      const std::size_t device = b * size_ + boundary;
      const auto& link = problem_.cluster.link_between(device - 1, device);
      seconds = std::max(seconds, 2 * (bytes / link.bandwidth + link.latency_seconds));
    }
    return seconds;
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  PartitionProblem problem_;
  std::size_t size_ = 1;
  std::size_t count_ = 1;
  double best_ = infinity;
};

}  // namespace weir::reference
