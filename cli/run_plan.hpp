// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/cli/job.hpp>
#include <weir/cli/load_graph.hpp>
#include <weir/cli/option_set.hpp>

namespace weir::cli {

/// Which algorithms are to run, on what, and where their results go.
struct PlanOptions {
  std::string algorithms;  ///< Between commas.
  std::string sources;     ///< Between commas; empty: none given.
  bool each_source = false;
  std::optional<Superstep> iterations{};
  std::optional<double> tolerance{};
  std::optional<double> damping{};
  bool parents = false;
  std::uint64_t seed = 1;
  std::string output;
};

/// One run of one algorithm.
struct PlannedRun {
  const Algorithm* algorithm = nullptr;
  AlgorithmOptions options{};
  std::vector<std::string> source_names;
  std::string output;  ///< Empty: none.
};

/// Numbers of algorithms: --iterations, --tolerance, --damping, --seed.
void declare_number_options(OptionSet& options, PlanOptions& plan);
/// Options of algorithms: --source, --each-source, --parents, and the numbers.
void declare_plan_options(OptionSet& options, PlanOptions& plan);
/// Faults of the options together, before any rank. Throws Error{usage}.
void check_plan_options(const PlanOptions& plan, bool has_names);
/// Whether one of the algorithms takes no edge values below 0.
bool needs_non_negative(const PlanOptions& plan);
/// Faults that show once the input's properties are known. Throws Error{usage}.
void check_sources(const PlanOptions& plan, const io::GraphHeader& header);

/// Sees that the file of the result, or the folder of the results, can be made. Collective.
void expect_outputs(Job& job, const PlanOptions& plan);
/// Makes the folder of the results, if there is to be one; just before the first result, so that a
/// run that is refused leaves none. Collective.
void make_folder(Job& job, const PlanOptions& plan);

/// The runs in order: options where given, else what the input's properties say, else the
/// algorithm's defaults. Collective. Throws Error{usage | input}.
std::vector<PlannedRun> make_plan(Job& job, const PlanOptions& plan, const LoadedGraph& loaded);

}  // namespace weir::cli
