// SPDX-License-Identifier: Apache-2.0
// weir doctor --probe: what the links of a running job do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/cli/job.hpp>
#include <weir/engine/schedule/link_fit.hpp>

namespace weir::cli {

/// A level of the job's machine, as measured.
struct ProbedLevel {
  std::string name;  ///< "same host" or "between hosts"
  schedule::Link link{};
  schedule::FitSpread spread{};
  std::size_t num_pairs = 0;  ///< Of ranks, one after the other.
};

/// Sends messages of 64 bytes to 4 MiB back and forth between pairs of ranks and fits the link of
/// each level, innermost first, the same on every rank. `hosts`: of each rank. Takes seconds where
/// links are slow. Collective. Throws Error{usage} for one rank and for ranks inside
/// one process, which hand over what they send.
std::vector<ProbedLevel> probe_links(Job& job, const std::vector<std::uint32_t>& hosts);

/// The levels as lines of text.
std::string text_of(const std::vector<ProbedLevel>& levels);

bool has_equal_hosts(const std::vector<std::uint32_t>& hosts);

/// The levels as a cluster file that `weir plan --cluster` reads, one device for each rank, of
/// hosts with equally many ranks.
std::string cluster_file_of(const std::vector<ProbedLevel>& levels,
                            const std::vector<std::uint32_t>& hosts);

}  // namespace weir::cli
