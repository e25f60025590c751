// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/parallel_plan_text.hpp>

#include <cmath>
#include <vector>

#include <weir/cli/plan_text.hpp>

namespace weir::cli {

namespace {

using training::Layout;
using training::NamedPart;
using training::ParallelPlan;

std::string seconds(double value) { return fixed(value, 4); }
std::string gigabytes(double bytes) { return fixed(bytes / 1e9, 3); }

double utilisation(const ParallelPlanInput& input, const ParallelPlan& plan) {
  return model_flops_utilisation(input.request.model, plan.layout, plan.time.total(),
                                 input.request.machine.peak_flops);
}

/// A row for each plan, a column for each part that some plan has, and their sum.
template <class Parts, class Format>
std::string split(const ParallelPlanInput& input, Parts parts, Format format) {
  std::vector<std::vector<std::string>> rows = {{"plan"}};
  for (std::size_t i = 0; i < input.plans.best.size(); ++i) rows.push_back({std::to_string(i + 1)});
  const std::size_t num_parts = parts(input.plans.best.front()).size();
  std::vector<double> totals(input.plans.best.size(), 0);
  for (std::size_t part = 0; part < num_parts; ++part) {
    bool is_used = false;
    for (const ParallelPlan& plan : input.plans.best) is_used |= parts(plan)[part].value > 0;
    if (!is_used) continue;
    rows.front().push_back(parts(input.plans.best.front())[part].name);
    for (std::size_t i = 0; i < input.plans.best.size(); ++i) {
      const double value = parts(input.plans.best[i])[part].value;
      totals[i] += value;
      rows[i + 1].push_back(format(value));
    }
  }
  rows.front().push_back("total");
  for (std::size_t i = 0; i < totals.size(); ++i) rows[i + 1].push_back(format(totals[i]));
  return aligned(rows);
}

/// `slower: bubble +0.1200 s; faster: data -0.0100 s`.
std::string comparison(const ParallelPlan& plan, const ParallelPlan& best) {
  const std::vector<NamedPart> parts = parts_of(plan.time);
  const std::vector<NamedPart> others = parts_of(best.time);
  std::string slower;
  std::string faster;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double more = parts[i].value - others[i].value;
    if (std::abs(more) < 0.001 * best.time.total()) continue;
    std::string& text = more > 0 ? slower : faster;
    text += (text.empty() ? "" : ", ") + std::string(parts[i].name) + (more > 0 ? " +" : " ") +
            seconds(more) + " s";
  }
  if (slower.empty() && faster.empty()) return "no part differs by a thousandth of the whole";
  if (slower.empty()) return "faster: " + faster;
  return "slower: " + slower + (faster.empty() ? "" : "; faster: " + faster);
}

std::string terabytes(double bytes) { return fixed(bytes / 1e12, 3); }

/// A row for each placement, the chosen first.
std::string table_of(const std::vector<training::PlacementScore>& placements) {
  std::vector<std::vector<std::string>> rows = {
      {"placement", "seconds", "more_%", "hops_x_TB", "uplink_s"}};
  for (const training::PlacementScore& each : placements) {
    rows.push_back({each.source, seconds(each.seconds),
                    fixed(100 * (each.seconds / placements.front().seconds - 1), 2),
                    terabytes(each.hop_bytes), seconds(each.uplink_seconds)});
  }
  return aligned(rows);
}

}  // namespace

std::string describe(const std::vector<training::PlacementScore>& placements) {
  const training::PlacementScore& chosen = placements.front();
  return chosen.source + ", best of " + std::to_string(placements.size()) + "; " +
         seconds(chosen.seconds) + " s simulated, " + terabytes(chosen.hop_bytes) +
         " TB x hops, busiest uplink " + seconds(chosen.uplink_seconds) + " s";
}

std::string table_of(const ParallelPlanInput& input) {
  const training::ParallelPlanRequest& request = input.request;
  std::string text =
      "model    " + request.model.name + ": " + fixed(num_parameters(request.model) / 1e9, 3) +
      "e9 parameters, " +
      (request.model.has_experts()
           ? fixed(num_active_parameters(request.model) / 1e9, 3) + "e9 for a token, "
           : std::string()) +
      std::to_string(request.model.sequence) + " tokens per sample\n";
  text += "cluster  " + input.cluster + ": " + std::to_string(request.num_devices) + " devices, " +
          std::to_string(request.machine.devices_per_node) + " in a node, " +
          fixed(request.machine.peak_flops / 1e12, 0) + " TF/s, " +
          (request.memory_bytes > 0 ? gigabytes(request.memory_bytes) + " GB each to use"
                                    : std::string("memory not limited")) +
          '\n';
  const ParallelPlan& best = input.plans.best.front();
  text += "plan     " + describe(best.layout) + '\n';
  text += "time     " + seconds(best.time.total()) + " s per iteration of " +
          std::to_string(request.global_batch) + " samples, " +
          fixed(100 * utilisation(input, best), 1) + " % of the peak\n";
  text += "placed   " + describe(input.placements) + "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"plan", "tensor", "context", "pipeline", "data", "expert", "micro_batch", "micro_batches",
       "chunks", "schedule", "recompute", "zero", "seconds", "peak_%", "memory_GB"}};
  for (const ParallelPlan& plan : input.plans.best) {
    const Layout& layout = plan.layout;
    rows.push_back({std::to_string(rows.size()), std::to_string(layout.tensor),
                    std::to_string(layout.context), std::to_string(layout.pipeline),
                    std::to_string(layout.data), std::to_string(layout.expert),
                    std::to_string(layout.micro_batch), fixed(layout.num_micro_batches(), 0),
                    std::to_string(layout.interleave), std::string(name_of(layout.schedule)),
                    std::string(name_of(layout.recompute)), std::to_string(layout.zero_stage),
                    seconds(plan.time.total()), fixed(100 * utilisation(input, plan), 1),
                    gigabytes(plan.memory.total_bytes())});
  }
  return text + aligned(rows);
}

std::string explain(const ParallelPlanInput& input) {
  const auto times = [](const ParallelPlan& plan) { return parts_of(plan.time); };
  const auto bytes = [](const ParallelPlan& plan) { return parts_of(plan.memory); };
  std::string text = "\nseconds of an iteration\n" + split(input, times, seconds);
  text += "\nGB of a device of the first stage\n" + split(input, bytes, gigabytes);
  text += "\nwhy\n  plan 1 is the fastest of " + std::to_string(input.plans.num_fitting) +
          " layouts that fit in memory, of " + std::to_string(input.plans.num_considered) +
          " considered\n";
  const ParallelPlan& best = input.plans.best.front();
  for (std::size_t i = 1; i < input.plans.best.size(); ++i) {
    const ParallelPlan& plan = input.plans.best[i];
    text += "  plan " + std::to_string(i + 1) + " takes " +
            fixed(100 * (plan.time.total() / best.time.total() - 1), 2) + " % longer; " +
            comparison(plan, best) + '\n';
  }
  text += "\nplacements of plan 1, simulated\n" + table_of(input.placements);
  return text;
}

}  // namespace weir::cli
