// SPDX-License-Identifier: Apache-2.0
// weir run --placement: which process of an MPI job is which rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/cli/job.hpp>
#include <weir/cli/load_graph.hpp>
#include <weir/cli/world.hpp>

namespace weir::cli {

/// How ranks, which own consecutive shards, are dealt to processes.
enum class RankPlacement {
  launcher,     ///< As the launcher numbers them.
  packed,       ///< Consecutive ranks on one host.
  round_robin,  ///< Rank after rank on the next host.
  automatic,    ///< The fewest values between hosts; reads the graph once more, before.
};

/// What the job before the job returns: another one follows on the same ranks, so that this is not
/// the end which a supervisor waits for.
constexpr int exit_to_next_job = -1;

/// Which process is which rank. Rank 0 is process 0.
struct Arrangement {
  std::string name = "launcher";
  std::vector<Rank> process_of_rank{};  ///< Empty for ranks inside one process.
  double seconds = 0;                   ///< It took to find.
  /// Bytes this process handed over for each process, headers included; counted by `arranged`.
  std::vector<std::uint64_t> sent{};
};

/// Finds the arrangement of the job that comes, the same on every rank. Collective, over processes
/// as the launcher numbers them. Throws Error{input} for what is wrong with the graph.
Arrangement arrange_ranks(Job& job, RankPlacement placement, const GraphOptions& graph);

/// The same processes with the ranks of the arrangement, which must outlive it. What they send is
/// counted there.
World arranged(const World& world, Arrangement& arrangement);

/// What this process sent to ranks on other hosts. `hosts`: of each rank.
std::uint64_t bytes_to_other_hosts(const Context& context, const Arrangement& arrangement,
                                   const std::vector<std::uint32_t>& hosts);

}  // namespace weir::cli
