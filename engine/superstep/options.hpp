// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/resilience/snapshot_point.hpp>
#include <weir/engine/schedule/straggler_policy.hpp>

namespace weir {

/// How messages reach their targets; the bits of the result are the same.
enum class Direction {
  automatic,  ///< push or pull by how much work is left; monotone programs to local fixed points
  push,       ///< sources write along their edges (inexact combiners: they mark who pulls)
  pull,       ///< every target reads its list
};

/// What ranks computed for others, over all ranks (docs/guide/stragglers.md).
struct SpeculationReport {
  std::uint64_t num_stolen = 0;   ///< shards that waited at one rank and were given to another
  std::uint64_t num_cloned = 0;   ///< shards that two ranks computed
  std::uint64_t num_won = 0;      ///< clones that ended before the first attempt
  std::uint64_t num_lost = 0;     ///< clones that did not
  std::uint64_t input_bytes = 0;  ///< that were sent to those who helped
};

/// What one superstep did, over all ranks; seconds are this rank's.
struct SuperstepReport {
  Superstep superstep = 0;
  std::size_t phase = 0;
  bool is_sparse = false;          ///< this rank visited only candidates
  std::uint64_t num_computed = 0;  ///< vertices that were active
  std::uint64_t num_scattered = 0;
  std::uint64_t num_messages = 0;  ///< along arcs and by send
  std::uint64_t num_dropped = 0;   ///< messages and added edges without a vertex at their end
  std::uint64_t num_mutations = 0;
  std::uint64_t bytes_sent = 0;  ///< between ranks
  double compute_seconds = 0;
  double exchange_seconds = 0;
  double barrier_seconds = 0;
  SpeculationReport speculation;
  std::vector<std::pair<std::string, double>> aggregates;  ///< named ones only
};

/// Why a run ended.
enum class Ending {
  quiet,           ///< nothing was active and no message in flight
  halted,          ///< the master said so
  superstep_limit  ///< max_supersteps was reached
};

/// What a run did. Equal on every rank except for the seconds and `is_sparse`.
struct RunReport {
  /// False for block programs, and where a monotone program ran to local fixed points: then the
  /// numbers of supersteps and messages depend on ranks and threads, though the values do not.
  bool is_synchronous = true;
  Ending ending = Ending::quiet;
  double seconds = 0;  ///< first compute to last barrier
  std::uint64_t num_supersteps = 0;
  std::uint64_t num_messages = 0;
  std::uint64_t num_dropped = 0;
  std::uint64_t bytes_sent = 0;
  SpeculationReport speculation;
  std::vector<SuperstepReport> supersteps;
};

/// Stops a run from another thread or a signal handler. Copies share one flag.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

/// Where a run keeps its state from time to time, so that the job can be started again after a
/// failure and goes on from there, at any number of ranks, to the same bits
/// (docs/guide/failures.md). Programs that change the topology are refused; block programs take
/// none and begin anew.
struct Snapshots {
  std::string directory{};  ///< one folder that all ranks reach; empty: no snapshots
  /// A quicker folder that all ranks reach, such as one in memory: it takes most snapshots,
  /// `directory` one in eight and the last before a stop. Empty, or not one folder for all ranks:
  /// `directory` takes all.
  std::string fast_directory{};
  Superstep every = 0;          ///< supersteps between two; 0: by cost and `mtbf` (Young, Daly)
  double mtbf_seconds = 86400;  ///< mean time between failures of the whole job
  bool resume = false;          ///< goes on from the newest whole snapshot, if there is one
  /// Tells runs in the folder apart by what a result depends on and the engine cannot see: it sees
  /// the graph, the types, the seed, the vertices that start, and the first values where they are
  /// plain numbers. Two runs of one program with other options need different texts.
  std::string job{};
  /// Called where a failure may strike the snapshot that goes on with this superstep, on the thread
  /// that writes or reads.
  std::function<void(SnapshotPoint, Superstep)> at{};
  /// Asks for a snapshot at the next barrier. Then all ranks throw Error{cancelled}, and the token
  /// of each is pulled.
  CancelToken stop{};
};

/// How ranks that are done help slow ones (docs/guide/stragglers.md). The bits of the result are
/// the same. Programs that change the topology, and monotone ones unless the rule is `forced`, are
/// computed where they are.
struct Speculation {
  schedule::StragglerRule rule = schedule::StragglerRule::progress_rate;
  /// Every shard that two ranks computed is compared; Error{internal} names the vertex where they
  /// part.
  bool verify = false;
};

/// What a run says of its state after every superstep, so that two runs can be told apart and
/// damage to memory be found (docs/guide/ledger.md). Block programs keep none.
struct Ledger {
  std::string file{};  ///< written by rank 0, anew unless the run goes on; empty: none
  /// What a result depends on and the engine cannot see, for people and to tell ledgers apart: one
  /// line.
  std::string job{};
  /// Computes every superstep twice and looks at all of its state and messages again before they
  /// are used: Error{corruption} where bits changed. Monotone programs run synchronously then.
  bool is_verified = false;

  bool is_on() const { return is_verified || !file.empty(); }
};

inline constexpr Superstep no_superstep_limit = std::numeric_limits<Superstep>::max();

/// How a program runs. Every rank passes the same values; callbacks are this rank's own.
struct RunOptions {
  /// A limit makes monotone programs run synchronously.
  Superstep max_supersteps = no_superstep_limit;
  Direction direction = Direction::automatic;
  std::uint64_t seed = 1;  ///< of `v.random()`
  CancelToken cancel{};    ///< agreed on at the next barrier: Error{cancelled} on all ranks
  Snapshots snapshots{};
  Speculation speculation{};
  Ledger ledger{};
  std::function<void(const SuperstepReport&)> progress{};  ///< after every superstep
  std::function<void(Superstep)> before_superstep{};
  std::function<void(Superstep)> after_superstep{};
  /// Called by every thread that computes a shard with the number of vertices that it visited:
  /// before the first, now and then, after the last. For injected slowness.
  std::function<void(std::size_t)> between_rows{};
};

}  // namespace weir
