// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/partition.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/downsets.hpp>
#include <weir/engine/training/stage_cost.hpp>

namespace weir::training {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Pairs of downsets times pairs of devices that one shape of pipelines may take.
constexpr double most_work = 1e9;
constexpr std::size_t most_devices_per_pipeline = 64;

/// The cut that `before` stands for, and the replicas of the stage after it.
struct Choice {
  std::uint32_t before = 0;
  std::uint32_t replicas = 0;
};

/// Downsets, and for each those inside it.
struct Cuts {
  std::vector<Downset> downsets;
  std::vector<std::vector<std::uint32_t>> inside;
  double num_pairs = 0;
  bool is_complete = true;
};

Cuts find_cuts(const OperatorGraph& graph, std::size_t most) {
  Cuts cuts;
  if (auto all = all_downsets(graph, most)) {
    cuts.downsets = std::move(*all);
  } else if (auto grown = grown_downsets(graph, most)) {
    cuts.is_complete = false;
    cuts.downsets = std::move(*grown);
    cuts.downsets.insert(cuts.downsets.begin(), make_downset(graph, OperatorSet(graph.size())));
  } else {
    cuts.is_complete = false;
    cuts.downsets = prefix_downsets(graph, std::max<std::size_t>(most / 4, 2));
  }
  cuts.inside.resize(cuts.downsets.size());
  for (std::size_t j = 0; j < cuts.downsets.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (!cuts.downsets[i].members.is_subset_of(cuts.downsets[j].members)) continue;
      cuts.inside[j].push_back(static_cast<std::uint32_t>(i));
    }
    cuts.num_pairs += static_cast<double>(cuts.inside[j].size());
  }
  return cuts;
}

/// The plan of one shape whose worst stage is best.
class Search {
 public:
  Search(const Cuts& cuts, std::size_t num_devices, bool is_straight)
      : cuts_(cuts), num_devices_(num_devices), is_straight_(is_straight) {}

  /// `cost(before, after, first, replicas)` is that of a stage, `never` if it may not be; only
  /// plans below `bound` are of interest, and no stage of r replicas costs less than `least(before,
  /// after) / r`. Returns the least cost, or `bound`.
  template <class Cost, class Least>
  double run(double bound, Cost cost, Least least) {
    const std::size_t width = num_devices_ + 1;
    best_.assign(cuts_.downsets.size() * width, never);
    choice_.assign(cuts_.downsets.size() * width, {});
    best_[0] = 0;
    const std::size_t full = cuts_.downsets.size() - 1;
    for (std::size_t j = 1; j <= full; ++j) {
      for (const std::uint32_t i : cuts_.inside[j]) {
        const double whole = least(cuts_.downsets[i], cuts_.downsets[j]);
        extend(i, j, bound, whole, cost);
      }
    }
    return std::min(bound, best_[full * width + num_devices_]);
  }

  /// Calls `visit(before, after, first, replicas)` for the stages of the plan found, last first.
  template <class Visit>
  void for_each_stage(Visit visit) const {
    std::size_t j = cuts_.downsets.size() - 1;
    for (std::size_t end = num_devices_; end > 0;) {
      const Choice& choice = choice_[j * (num_devices_ + 1) + end];
      end -= choice.replicas;
      visit(cuts_.downsets[choice.before], cuts_.downsets[j], end, std::size_t{choice.replicas});
      j = choice.before;
    }
  }

 private:
  template <class Cost>
  void extend(std::size_t i, std::size_t j, double bound, double whole, Cost cost) {
    const std::size_t width = num_devices_ + 1;
    const double* const before = &best_[i * width];
    double* const after = &best_[j * width];
    // With fewer replicas the stage alone would be no better than what is known.
    const auto fewest = static_cast<std::size_t>(
        std::clamp(whole / bound * (1 - 1e-9), 1.0, static_cast<double>(width)));
    const std::size_t most = is_straight_ ? 1 : num_devices_;
    const bool is_last = j + 1 == cuts_.downsets.size();
    for (std::size_t first = 0; first < num_devices_; ++first) {
      if (before[first] >= bound) continue;
      std::size_t replicas = fewest;
      if (is_last) replicas = std::max(replicas, num_devices_ - first);  // nothing comes after it
      for (; replicas <= most && first + replicas <= num_devices_; ++replicas) {
        double& known = after[first + replicas];
        if (before[first] >= known) continue;
        const double worst =
            std::max(before[first], cost(cuts_.downsets[i], cuts_.downsets[j], first, replicas));
        if (worst >= known || worst >= bound) continue;
        known = worst;
        choice_[j * width + first + replicas] = {static_cast<std::uint32_t>(i),
                                                 static_cast<std::uint32_t>(replicas)};
      }
    }
  }

  const Cuts& cuts_;
  std::size_t num_devices_;
  bool is_straight_;
  std::vector<double> best_;    ///< [downset][devices used]
  std::vector<Choice> choice_;  ///< The last stage of that.
};

bool fits(const StageCost& cost, const Downset& before, const Downset& after, std::size_t first,
          std::size_t replicas) {
  const double limit = cost.memory_limit(first, replicas);
  return limit == 0 || cost.memory_bytes(before, after, first, replicas) <= limit;
}

/// The fastest plan of a shape, if any is faster than `bound`.
std::optional<Partition> plan_shape(const Cuts& cuts, const StageCost& cost, bool is_straight,
                                    double bound) {
  const PipelineShape shape = cost.shape();
  const double share = 1 / (cost.fastest_speed() * static_cast<double>(shape.num_pipelines));
  Search search(cuts, shape.num_devices, is_straight);
  const double seconds = search.run(
      bound,
      [&](const Downset& before, const Downset& after, std::size_t first, std::size_t replicas) {
        if (!fits(cost, before, after, first, replicas)) return never;
        return cost.seconds(before, after, first, replicas);
      },
      [&](const Downset& before, const Downset& after) {
        return (after.seconds - before.seconds) * share;
      });
  if (!(seconds < bound)) return {};
  Partition plan;
  plan.num_pipelines = shape.num_pipelines;
  plan.devices_per_pipeline = shape.num_devices;
  plan.seconds = seconds;
  search.for_each_stage(
      [&](const Downset& before, const Downset& after, std::size_t first, std::size_t replicas) {
        Stage stage = cost.describe(before, after, first, replicas);
        stage.operators = difference(after.members, before.members);
        plan.stages.push_back(std::move(stage));
      });
  std::reverse(plan.stages.begin(), plan.stages.end());
  return plan;
}

/// Shapes in the order in which they are tried: replicas of the whole first, then the most devices.
std::vector<PipelineShape> shapes_of(std::size_t num_devices, const PartitionOptions& options,
                                     std::size_t most_per_pipeline) {
  if (options.num_stages) return {{*options.num_stages, 1}};
  std::vector<PipelineShape> shapes;
  for (std::size_t n = 1; n <= most_per_pipeline; ++n) {
    const std::size_t most = num_devices / n;
    const std::size_t fewest = num_devices <= most_devices_per_pipeline ? 1 : most;
    for (std::size_t b = fewest; b <= most; ++b) shapes.push_back({n, b});
  }
  std::stable_sort(shapes.begin(), shapes.end(), [](PipelineShape a, PipelineShape b) {
    if ((a.num_devices == 1) != (b.num_devices == 1)) return a.num_devices == 1;
    return a.num_devices * a.num_pipelines > b.num_devices * b.num_pipelines;
  });
  return shapes;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string in_gigabytes(double bytes) {
  std::string text(32, '\0');
  text.resize(
      static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.3f GB", bytes / 1e9)));
  return text;
}

/// Throws: of all plans of one pipeline the one whose worst stage exceeds its memory least, and
/// that stage.
[[noreturn]] void refuse_for_memory(const OperatorGraph& graph, const Cuts& cuts,
                                    const schedule::Topology& cluster,
                                    const PartitionOptions& options, std::size_t most_devices) {
  double least = never;
  std::string text;
  const bool is_straight = options.num_stages.has_value();
  for (std::size_t n = options.num_stages.value_or(most_devices); n > 0; --n) {
    const StageCost cost(cluster, options, {n, 1});
    Search search(cuts, n, is_straight);
    const auto excess = [&](const Downset& before, const Downset& after, std::size_t first,
                            std::size_t replicas) {
      const double limit = cost.memory_limit(first, replicas);
      return limit == 0 ? 0 : cost.memory_bytes(before, after, first, replicas) / limit;
    };
    const double found = search.run(least, excess, [](const auto&, const auto&) { return 0.0; });
    if (found < least) {
      least = found;
      search.for_each_stage([&](const Downset& before, const Downset& after, std::size_t first,
                                std::size_t replicas) {
        if (excess(before, after, first, replicas) < found) return;
        const auto operators = difference(after.members, before.members);
        text = "the stage of " + counted(operators.size(), "operator") + ", " +
               graph[operators.front()].name + " to " + graph[operators.back()].name + ", needs " +
               in_gigabytes(cost.memory_bytes(before, after, first, replicas)) + " on device " +
               std::to_string(first) + ", which has " +
               in_gigabytes(cost.memory_limit(first, replicas)) + " (a pipeline of " +
               counted(n, "device") + ")";
      });
    }
    if (is_straight) break;
  }
  throw Error(ErrorCode::input, cluster.name() + ": found no plan that fits in memory: at best " +
                                    text +
                                    "; expected more memory, more devices or smaller operators");
}

void check_options(const OperatorGraph& graph, const schedule::Topology& cluster,
                   const PartitionOptions& options) {
  WEIR_EXPECT(!graph.is_empty(), input, "found no operator that takes time; expected at least one");
  WEIR_EXPECT(std::isfinite(options.parameter_copies) && options.parameter_copies >= 0, usage,
              "found " + std::to_string(options.parameter_copies) +
                  " copies of the parameters; expected 0 or more");
  WEIR_EXPECT(options.micro_batches_per_update > 0, usage,
              "found 0 micro-batches per update; expected at least 1");
  if (!options.num_stages) return;
  const std::size_t stages = *options.num_stages;
  WEIR_EXPECT(stages > 0 && stages <= graph.size(), input,
              "found " + std::to_string(stages) + " stages for " + std::to_string(graph.size()) +
                  " operators; expected 1 to as many");
  WEIR_EXPECT(stages <= cluster.num_devices(), input,
              "found " + std::to_string(stages) + " stages for " +
                  std::to_string(cluster.num_devices()) + " devices; expected 1 to as many");
}

/// Replicas of the whole graph on all devices.
std::optional<double> find_data_parallel(const Cuts& cuts, const schedule::Topology& cluster,
                                         const PartitionOptions& options) {
  const StageCost cost(cluster, options, {1, cluster.num_devices()});
  if (!fits(cost, cuts.downsets.front(), cuts.downsets.back(), 0, 1)) return {};
  return cost.seconds(cuts.downsets.front(), cuts.downsets.back(), 0, 1);
}

/// The most devices of one pipeline for which all stages can be tried.
std::size_t most_per_pipeline(const Cuts& cuts, std::size_t num_devices) {
  std::size_t most = std::min(num_devices, most_devices_per_pipeline);
  while (most > 1 && cuts.num_pairs * static_cast<double>(most * most) > most_work) --most;
  return most;
}

Partition partition_operators(const OperatorGraph& graph, const schedule::Topology& cluster,
                              const PartitionOptions& options) {
  check_options(graph, cluster, options);
  const Cuts cuts = find_cuts(graph, options.most_downsets);
  const std::size_t num_devices = cluster.num_devices();
  const std::size_t most = most_per_pipeline(cuts, num_devices);
  const auto shapes = shapes_of(num_devices, options, most);
  Partition best;
  double bound = never;
  for (const PipelineShape shape : shapes) {
    const StageCost cost(cluster, options, shape);
    const auto num_used = static_cast<double>(shape.num_devices * shape.num_pipelines);
    if (cuts.downsets.back().seconds / num_used / cost.fastest_speed() >= bound) continue;
    auto plan = plan_shape(cuts, cost, options.num_stages.has_value(), bound);
    if (!plan) continue;
    best = std::move(*plan);
    bound = best.seconds;
  }
  if (best.stages.empty()) refuse_for_memory(graph, cuts, cluster, options, most);
  best.num_devices = num_devices;
  best.one_device_seconds = cuts.downsets.back().seconds;
  best.data_parallel_seconds = find_data_parallel(cuts, cluster, options);
  best.num_downsets = cuts.downsets.size();
  best.is_exact = cuts.is_complete && (options.num_stages.has_value() || most == num_devices);
  return best;
}

/// What takes nothing of any device: inputs, and views (no time, no parameters) that nothing
/// reads.
bool is_free(const OperatorGraph& graph, std::size_t i) {
  const Operator& op = graph[i];
  const bool is_unread_view = graph.consumers(i).empty() && !graph.producers(i).empty() &&
                              op.seconds() == 0 && op.parameter_bytes == 0;
  return op.is_input || is_unread_view;
}

/// Adds each input to the first stage that reads it, each unread view to the last that feeds it.
void add_free_operators(const OperatorGraph& graph, std::vector<Stage>& stages) {
  std::vector<std::size_t> stage_of(graph.size(), stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (const std::size_t i : stages[s].operators) stage_of[i] = s;
  }
  for (const std::size_t i : graph.topological_order()) {
    if (!is_free(graph, i)) continue;
    std::size_t stage = graph.consumers(i).empty() ? 0 : stages.size() - 1;
    for (const std::size_t c : graph.consumers(i)) stage = std::min(stage, stage_of[c]);
    for (const std::size_t p : graph.producers(i)) stage = std::max(stage, stage_of[p]);
    stage_of[i] = stage;
    stages[stage].operators.push_back(i);
  }
  for (Stage& stage : stages) std::sort(stage.operators.begin(), stage.operators.end());
}

}  // namespace

Partition partition(const OperatorGraph& graph, const schedule::Topology& cluster,
                    const PartitionOptions& options) {
  std::vector<bool> is_kept(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) is_kept[i] = !is_free(graph, i);
  const Subgraph computed = select(graph, is_kept);
  Partition plan = partition_operators(computed.graph, cluster, options);
  for (Stage& stage : plan.stages) {
    for (std::size_t& i : stage.operators) i = computed.original[i];
  }
  add_free_operators(graph, plan.stages);
  return plan;
}

double batch_seconds(const Partition& plan, std::size_t num_micro_batches) {
  if (num_micro_batches == 0) return 0;
  const std::size_t num_turns = (num_micro_batches + plan.num_pipelines - 1) / plan.num_pipelines;
  double first = 0;
  for (const Stage& stage : plan.stages) first += stage.compute_seconds + stage.input_seconds;
  const double turn = plan.seconds * static_cast<double>(plan.num_pipelines);
  return first + static_cast<double>(num_turns - 1) * turn;
}

std::string name_of(Bound bound) {
  switch (bound) {
    case Bound::compute: return "compute";
    case Bound::gradients: return "gradients";
    case Bound::input: return "input";
    case Bound::output: return "output";
  }
  return "unknown";
}

}  // namespace weir::training
