// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/cli/job.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir::cli {

/// What one rank holds of a graph.
struct RankShare {
  std::uint64_t num_vertices = 0;
  std::uint64_t num_arcs = 0;  ///< That end at its vertices.
  std::uint64_t memory_bytes = 0;
};

/// The graph as reports have it.
struct GraphSummary {
  std::vector<std::string> input;
  std::string format;
  bool has_names = false;
  bool is_weighted = false;
  bool is_directed = true;
  std::uint64_t num_vertices = 0;
  std::uint64_t num_edges = 0;
  std::uint64_t num_arcs = 0;
  std::uint32_t num_shards = 0;
  std::uint64_t memory_bytes = 0;  ///< Over all ranks.
  std::vector<RankShare> shares;   ///< By rank.
};

/// Collective.
GraphSummary summarise(const AnyGraph& graph);

/// One algorithm of a run, without its values.
struct AlgorithmRecord {
  std::string name;
  std::vector<std::string> sources;
  RunReport report;
  std::optional<bool> has_converged;
  std::vector<std::pair<std::string, std::string>> facts;
  std::uint64_t digest = 0;
  std::string output;
  std::vector<Traffic> traffic;                     ///< Of the call, by rank.
  std::vector<std::uint64_t> bytes_to_other_hosts;  ///< Of the bytes sent, by rank.
  double prepare_seconds = 0;                       ///< Of the call, around the supersteps.
  double write_seconds = 0;
};

struct RunRecord {
  std::vector<std::string> command_line;
  GraphSummary graph;
  std::string placement = "launcher";
  std::vector<Rank> process_of_rank;
  double place_seconds = 0;
  double load_seconds = 0;
  double total_seconds = 0;
  std::vector<AlgorithmRecord> algorithms;
};

/// What each rank moved since it had moved `before`. Collective.
std::vector<Traffic> traffic_since(Context& context, const Traffic& before);

/// Hosts of the job. Collective.
int num_hosts(Context& context);

std::string_view name_of(Ending ending);

/// The report as docs/report.md describes it, on root; empty elsewhere. Collective.
std::string report_text(Job& job, const RunRecord& run);

/// Writes the report. Collective. Throws Error{output}.
void write_report(Job& job, const RunRecord& run, const std::string& path);

}  // namespace weir::cli
