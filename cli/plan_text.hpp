// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/operator_graph.hpp>
#include <weir/engine/training/partition.hpp>
#include <weir/engine/training/pipedream_partition.hpp>

namespace weir::cli {

/// A number with so many digits after the point.
std::string fixed(double value, int digits);

/// Right-aligned columns under their headings, the first row.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// What was planned.
struct PlanInput {
  std::string path;
  const training::OperatorGraph& graph;
  const schedule::Topology& cluster;
  std::optional<std::size_t> num_micro_batches{};
};

/// A plan as a table, in ms and GB.
std::string table_of(const PlanInput& input, const training::Partition& plan);
std::string table_of(const PlanInput& input, const training::PipeDreamPlan& plan);

/// Why each stage is as it is, and what the plan was compared to.
std::string explain(const PlanInput& input, const training::Partition& plan);

/// A plan as JSON (docs/planning.md), in seconds and bytes.
std::string json_of(const PlanInput& input, const training::Partition& plan);

}  // namespace weir::cli
