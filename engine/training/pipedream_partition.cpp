// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/pipedream_partition.hpp>

#include <algorithm>
#include <limits>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/downsets.hpp>

namespace weir::training {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::size_t most_table_entries = std::size_t{1} << 27;

struct State {
  Downset downset;
  double output_bytes = 0;
};

/// The graph without the operators that the optimizer leaves out.
OperatorGraph without_ends(const OperatorGraph& graph) {
  std::vector<bool> is_kept(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const bool is_unused_item =
        graph.consumers(i).empty() && graph[i].kind.starts_with("__getitem__");
    is_kept[i] = !graph[i].is_input && !is_unused_item;
  }
  return select(graph, is_kept).graph;
}

/// Output of a state: of its operators without a consumer inside, and of every operator before one
/// of these that also feeds something that is not.
double output_bytes_of(const OperatorGraph& graph, const std::vector<OperatorSet>& ancestors,
                       const OperatorSet& members) {
  OperatorSet counted(graph.size());
  members.for_each([&](std::size_t last) {
    const auto& consumers = graph.consumers(last);
    const bool is_last = std::none_of(consumers.begin(), consumers.end(),
                                      [&](std::size_t c) { return members.contains(c); });
    if (!is_last) return;
    counted.insert(last);
    ancestors[last].for_each([&](std::size_t i) {
      const auto& fed = graph.consumers(i);
      const bool feeds_others = std::any_of(
          fed.begin(), fed.end(), [&](std::size_t c) { return !ancestors[last].contains(c); });
      if (i != last && feeds_others) counted.insert(i);
    });
  });
  double bytes = 0;
  counted.for_each([&](std::size_t i) { bytes += graph[i].output_bytes; });
  return bytes;
}

/// The states of the optimizer. Smaller sets come first, and times rise nearly evenly, which keeps
/// the searches for splits short.
std::vector<State> find_states(const OperatorGraph& graph, std::size_t most) {
  auto downsets = grown_downsets(graph, most);
  WEIR_EXPECT(downsets.has_value(), input,
              "found more than " + std::to_string(most) +
                  " states of the graph; expected at most that many for PipeDream's objective");
  const std::vector<OperatorSet> ancestors = ancestors_of(graph);
  std::vector<State> states;
  for (Downset& downset : *downsets) {
    const double output_bytes = output_bytes_of(graph, ancestors, downset.members);
    states.push_back({std::move(downset), output_bytes});
  }
  std::stable_sort(states.begin(), states.end(), [](const State& a, const State& b) {
    return a.downset.seconds < b.downset.seconds;
  });
  return states;
}

/// Times of one level; row i holds those of what state i - 1 leaves over, up to state j.
class LevelTable {
 public:
  /// `compute(i, j)` is the time of that on one unit.
  template <class Compute>
  LevelTable(const std::vector<State>& states, const std::vector<std::vector<std::size_t>>& before,
             PipeDreamLevel level, std::size_t num_inner, bool is_outermost, Compute compute)
      : states_(states), before_(before), level_(level), num_inner_(num_inner) {
    const std::size_t n = states.size();
    times_.assign(n * n * units(), never);
    last_.assign(n * n * units(), never);
    least_last_ = last_;
    for (std::size_t j = 0; j < n; ++j) {
      for (const std::size_t k : before_[j]) fill_last_stage(k, j, compute(k + 1, j));
      keep_least_of_last(j);
    }
    for (std::size_t i = 0; i < (is_outermost ? 1 : n); ++i) {
      least_.assign(n * units(), never);
      crossing_.assign(units() * units(), i);
      for (std::size_t j = i; j < n; ++j) solve(i, j, compute(i, j));
    }
  }

  double time(std::size_t i, std::size_t j, std::size_t num_units) const {
    return times_[at(i, num_units) + j];
  }
  double time_on_all(std::size_t i, std::size_t j) const { return time(i, j, units()); }

  /// The stages behind time_on_all(i, j), as ranges of states.
  std::vector<PipeDreamStage> stages(std::size_t i, std::size_t j) const {
    std::vector<PipeDreamStage> stages;
    for (std::size_t num_units = units();;) {
      const auto [k, replicas] = last_split(i, j, num_units);
      if (replicas == 0) {
        stages.push_back({i, j + 1, num_units});
        break;
      }
      stages.push_back({k + 1, j + 1, replicas});
      num_units -= replicas;
      j = k;
    }
    std::reverse(stages.begin(), stages.end());
    return stages;
  }

 private:
  struct Split {
    std::size_t state = 0;
    std::size_t replicas = 0;  ///< Of the last stage; 0: there is no split.
  };

  std::size_t units() const { return level_.num_units; }
  std::size_t at(std::size_t row, std::size_t num_units) const {
    return (row * units() + num_units - 1) * states_.size();
  }

  double parameter_bytes(std::size_t i, std::size_t j) const {
    return states_[j].downset.parameter_bytes -
           (i == 0 ? 0 : states_[i - 1].downset.parameter_bytes);
  }

  /// The gradients of a stage are exchanged among its replicas after each micro-batch.
  double replicated(double seconds, double bytes, std::size_t replicas) const {
    const auto r = static_cast<double>(replicas);
    return (seconds + 4 * (r - 1) * bytes / (level_.bandwidth * r)) / r;
  }

  void fill_last_stage(std::size_t k, std::size_t j, double seconds) {
    const bool has_output = j + 1 < states_.size();
    const double moved =
        std::max(states_[k].output_bytes, has_output ? states_[j].output_bytes : 0);
    const double bytes = parameter_bytes(k + 1, j);
    for (std::size_t r = 1; r <= units(); ++r) {
      const double transfer = 2 * moved / (level_.bandwidth * static_cast<double>(r));
      last_[at(j, r) + k] = std::max(replicated(seconds, bytes, r), transfer);
    }
  }

  void keep_least_of_last(std::size_t j) {
    for (std::size_t r = 1; r <= units(); ++r) {
      double least = never;
      for (std::size_t k = 0; k < j; ++k) {
        least = std::min(least, last_[at(j, r) + k]);
        least_last_[at(j, r) + k] = least;
      }
    }
  }

  void solve(std::size_t i, std::size_t j, double seconds) {
    const double bytes = parameter_bytes(i, j) / static_cast<double>(num_inner_);
    for (std::size_t m = 1; m <= units(); ++m) {
      double best = replicated(seconds, bytes, m);
      for (std::size_t r = 1; r < m; ++r) best = best_split(i, j, m - r, r, best);
      times_[at(i, m) + j] = best;
      double* const least = &least_[(m - 1) * states_.size()];
      for (std::size_t k = j + 1; k-- > i && least[k] > best;) least[k] = best;
    }
  }

  /// The least time below `best` of a head on m units and a last stage on r, or `best`.
  ///
  /// The least time of heads that end at k or later rises with k, that of last stages that begin at
  /// k or earlier falls, and the split can only be better than `best` where both are. These places
  /// lie around the crossing of the two, which moves little from one j to the next.
  double best_split(std::size_t i, std::size_t j, std::size_t m, std::size_t r, double best) {
    const double* const head = &times_[at(i, m)];
    const double* const last = &last_[at(j, r)];
    const double* const least_head = &least_[(m - 1) * states_.size()];
    const double* const least_last = &least_last_[at(j, r)];
    std::size_t& crossing = crossing_[(m - 1) * units() + r - 1];
    while (crossing < j && least_head[crossing] < least_last[crossing]) ++crossing;
    while (crossing > i && least_head[crossing - 1] >= least_last[crossing - 1]) --crossing;
    for (std::size_t k = crossing; k < j && least_head[k] < best; ++k) {
      best = std::min(best, std::max(head[k], last[k]));
    }
    for (std::size_t k = crossing; k-- > i && least_last[k] < best;) {
      best = std::min(best, std::max(head[k], last[k]));
    }
    return best;
  }

  Split last_split(std::size_t i, std::size_t j, std::size_t num_units) const {
    const double best = time(i, j, num_units);
    for (const std::size_t k : before_[j]) {
      for (std::size_t r = 1; k >= i && r < num_units; ++r) {
        const double last = last_[at(j, r) + k];
        if (std::max(time(i, k, num_units - r), last) == best) return {k, r};
      }
    }
    return {};
  }

  const std::vector<State>& states_;
  const std::vector<std::vector<std::size_t>>& before_;
  PipeDreamLevel level_;
  std::size_t num_inner_;
  std::vector<double> times_;       ///< [i][units][j]
  std::vector<double> last_;        ///< [j][replicas][k]: the last stage, from after k up to j.
  std::vector<double> least_last_;  ///< The least of last_ up to k.
  std::vector<double> least_;  ///< [units][k]: the least of times_ from k on, of the row at hand.
  std::vector<std::size_t> crossing_;
};

void check_levels(const std::vector<PipeDreamLevel>& levels, std::size_t num_states) {
  WEIR_EXPECT(!levels.empty(), usage, "found no level of a machine; expected at least one");
  for (const PipeDreamLevel& level : levels) {
    WEIR_EXPECT(level.num_units > 0 && level.bandwidth > 0, usage,
                "found a level of " + std::to_string(level.num_units) + " units at " +
                    std::to_string(level.bandwidth) + " B/s; expected both above 0");
    WEIR_EXPECT(num_states * num_states <= most_table_entries / level.num_units, input,
                "found " + std::to_string(num_states) + " states of the graph on " +
                    std::to_string(level.num_units) +
                    " units; expected squares of states times units of at most " +
                    std::to_string(most_table_entries) + " for PipeDream's objective");
  }
}

double data_parallel_seconds(const Downset& all, const std::vector<PipeDreamLevel>& levels) {
  double seconds = all.seconds;
  double num_inner = 1;
  for (const PipeDreamLevel& level : levels) {
    const auto m = static_cast<double>(level.num_units);
    seconds = (seconds + 4 * (m - 1) * all.parameter_bytes / (level.bandwidth * m) / num_inner) / m;
    num_inner = m;
  }
  return seconds;
}

}  // namespace

std::vector<PipeDreamLevel> levels_of(const schedule::Topology& cluster) {
  std::vector<PipeDreamLevel> levels;
  std::size_t num_inner = cluster.num_devices();
  for (std::size_t l = cluster.levels().size(); l-- > 0;) {
    const schedule::Level& level = cluster.levels()[l];
    const std::size_t num_groups = cluster.num_groups(l);
    const std::size_t size = cluster.num_devices() / num_groups;
    for (std::size_t d = 0; d < cluster.num_devices(); ++d) {
      WEIR_EXPECT(level.group_of_device[d] == d / size, input,
                  cluster.name() + ": found groups of different sizes at level " + level.name +
                      "; expected a regular tree for PipeDream's objective");
    }
    levels.push_back({num_inner / num_groups, level.link.bandwidth});
    num_inner = num_groups;
  }
  return levels;
}

PipeDreamPlan partition_as_pipedream(const OperatorGraph& graph,
                                     const std::vector<PipeDreamLevel>& levels,
                                     std::size_t most_states) {
  const OperatorGraph kept = without_ends(graph);
  WEIR_EXPECT(!kept.is_empty(), input, "found a graph without operators; expected at least one");
  const std::vector<State> states = find_states(kept, most_states);
  check_levels(levels, states.size());

  std::vector<std::vector<std::size_t>> before(states.size());
  for (std::size_t j = 0; j < states.size(); ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      if (states[k].downset.members.is_subset_of(states[j].downset.members)) before[j].push_back(k);
    }
  }
  const auto seconds_between = [&](std::size_t i, std::size_t j) {
    return states[j].downset.seconds - (i == 0 ? 0 : states[i - 1].downset.seconds);
  };
  std::vector<LevelTable> tables;
  tables.reserve(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool is_outermost = l + 1 == levels.size();
    if (l == 0) {
      tables.emplace_back(states, before, levels[l], 1, is_outermost, seconds_between);
      continue;
    }
    const LevelTable& inner = tables.back();
    tables.emplace_back(states, before, levels[l], levels[l - 1].num_units, is_outermost,
                        [&](std::size_t i, std::size_t j) { return inner.time_on_all(i, j); });
  }

  PipeDreamPlan plan;
  plan.num_states = states.size();
  plan.slowest_stage_seconds = tables.back().time_on_all(0, states.size() - 1);
  plan.one_device_seconds = states.back().downset.seconds;
  plan.data_parallel_seconds = data_parallel_seconds(states.back().downset, levels);
  std::vector<PipeDreamStage> outer{{0, states.size(), 1}};
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    std::vector<PipeDreamStage> stages;
    for (const PipeDreamStage& stage : outer) {
      const auto inside = table->stages(stage.begin, stage.end - 1);
      stages.insert(stages.end(), inside.begin(), inside.end());
    }
    plan.levels.push_back(stages);
    outer = std::move(stages);
  }
  return plan;
}

}  // namespace weir::training
