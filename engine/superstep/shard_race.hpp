// SPDX-License-Identifier: Apache-2.0
// Who computes which shard of a superstep when some ranks are slow: the protocol, which knows
// shards by number and what travels by its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/frontier.hpp>
#include <weir/engine/superstep/options.hpp>

namespace weir {

/// A shard of another rank that is to be computed here.
class AcceptedShard {
 public:
  virtual ~AcceptedShard() = default;
  /// What its owner has to be asked before; empty: nothing.
  virtual Bytes question() const = 0;
  virtual void take_answer(std::span<const std::byte> answer) = 0;
  /// What came of it. Nothing where computing fails: it is for the owner to fail.
  virtual std::optional<Bytes> compute(RowWatch& watch) = 0;
};

/// The shards that one rank has to compute in a superstep, as the race sees them: by place, from 0
/// to `size()`. Calls for different places may come from several threads side by side, except where
/// the calling thread of the context is asked for.
class ShardTasks {
 public:
  virtual ~ShardTasks() = default;

  virtual std::size_t size() const = 0;
  virtual std::size_t num_rows(std::size_t place) const = 0;
  /// Computes a shard where it is; leaves off when the watch says so.
  virtual void compute(std::size_t place, RowWatch& watch) = 0;

  /// What computing a shard begins with and will change.
  virtual Bytes state(std::size_t place) = 0;
  /// All that another rank needs to compute a shard, but for what it then asks. `state`: what it is
  /// to begin with; null where computing it did not begin here. On the calling thread.
  virtual Bytes input(std::size_t place, const Bytes* state, Rank helper) = 0;
  virtual Bytes answer(std::size_t place, Rank helper, std::span<const std::byte> question) = 0;
  /// Whether a rank, or any, knows so much of a shard that its input will be short.
  virtual bool is_known(std::size_t place, Rank helper) const = 0;
  virtual bool is_known(std::size_t place) const = 0;
  /// What came of a shard that was computed here.
  virtual Bytes result(std::size_t place) = 0;
  /// Puts what came of a shard on another rank where `compute` would have, be it that `compute` was
  /// not called or that it left off.
  virtual void install(std::size_t place, Rank helper, std::span<const std::byte> result) = 0;
  /// Another rank made of a shard what is not `result(place)`: the superstep fails.
  virtual void refuse(std::size_t place, Rank helper, std::span<const std::byte> other) = 0;

  /// Takes in what `input` of another rank made; valid until the race is over. On the calling
  /// thread.
  virtual AcceptedShard& accept(Rank owner, std::span<const std::byte> input) = 0;
  /// Remembers what an input that came too late says for later ones.
  virtual void set_aside(Rank owner, std::span<const std::byte> input) = 0;
};

/// Computes the shards of all ranks in one superstep. Ranks that are done take over shards that
/// wait at a slow one (steal) and compute along those that it began (clone). The owner of a shard
/// decides: the first attempt to end counts, the other leaves off. Attempts are byte-identical, so
/// which one counts changes nothing.
///
/// Every rank tells rank 0 how far it is. Rank 0 asks `schedule::relieve_stragglers`, tells who is
/// to help whom, and at last that all shards are computed. With the rule `forced` nobody is asked:
/// half of the shards are given away and the others cloned.
class ShardRace {
 public:
  ShardRace(Context& context, const RunOptions& options);

  /// Collective.
  SpeculationReport run(ShardTasks& tasks);

 private:
  class Round;

  Context& context_;
  const RunOptions& options_;
  std::vector<double> speeds_;  // by rank, of the last race: shards per second and thread
  double shard_seconds_ = 0;    // of this rank's last race: time per shard

  /// Time that a shard takes those who give it away and take it, besides computing it.
  struct Cost {
    double first_seconds = 0;  ///< when the helper sees it for the first time
    double seconds = 0;        ///< later
  };
  Cost giving_{1e-3, 1e-4};
  Cost taking_{8e-3, 4e-4};
};

}  // namespace weir
