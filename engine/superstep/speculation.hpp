// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <weir/engine/superstep/decision.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/engine/superstep/shard_race.hpp>
#include <weir/engine/superstep/shard_replicas.hpp>
#include <weir/engine/superstep/summary.hpp>

namespace weir {

/// Runs the supersteps of an executor, those that take long as a race of all ranks: what the driver
/// sees of speculation.
template <class Executor>
class RunSpeculation {
 public:
  RunSpeculation(Context& context, Executor& executor, const RunOptions& options)
      : context_(context), executor_(executor), options_(options), lone_(options) {
    if constexpr (is_possible) {
      if (context.size() == 1 || options.speculation.rule == schedule::StragglerRule::off ||
          options.ledger.is_verified)  // which computes every shard twice where it is
        return;
      replicas_.emplace(executor);
      race_.emplace(context, options);
    }
  }

  /// In place of Executor::run. `last`: what all ranks know of the superstep before; `wakes_all`:
  /// the master woke all vertices. Collective.
  void run(const Summary& last, bool wakes_all) {
    const auto start = std::chrono::steady_clock::now();
    Summary& summary = executor_.summary();
    if constexpr (is_possible) {
      if (race_ && is_worth_while(last)) {
        replicas_->begin(wakes_all);
        if (!replicas_->has_tasks()) executor_.run(watch());
        const SpeculationReport report = race_->run(*replicas_);
        replicas_->finish();
        summary.num_stolen = report.num_stolen;
        summary.num_cloned = report.num_cloned;
        summary.num_clones_won = report.num_won;
        summary.num_clones_lost = report.num_lost;
        summary.input_bytes = report.input_bytes;
      } else {
        executor_.run(watch());
      }
    } else {
      executor_.run(watch());
    }
    summary.compute_nanoseconds = static_cast<std::uint64_t>(
        (std::chrono::steady_clock::now() - start) / std::chrono::nanoseconds(1));
  }

 private:
  static constexpr bool is_possible = ShardReplicas<Executor>::is_possible;
  /// A race costs two messages a rank: lost in supersteps that take so long.
  static constexpr std::uint64_t least_nanoseconds = 5'000'000;

  /// Where nobody helps: for injected slowness.
  class LoneWatch final : public RowWatch {
   public:
    explicit LoneWatch(const RunOptions& options) : options_(options) {}
    std::size_t rows_to_go(std::size_t num_done) override {
      constexpr std::size_t some = 128;
      options_.between_rows(num_done);
      return some;
    }

   private:
    const RunOptions& options_;
  };

  RowWatch* watch() { return options_.between_rows ? &lone_ : nullptr; }
  bool is_worth_while(const Summary& last) const {
    return options_.speculation.rule == schedule::StragglerRule::forced ||
           last.compute_nanoseconds >= least_nanoseconds;
  }

  Context& context_;
  Executor& executor_;
  const RunOptions& options_;
  LoneWatch lone_;
  struct None {};
  std::optional<std::conditional_t<is_possible, ShardReplicas<Executor>, None>> replicas_;
  std::optional<ShardRace> race_;
};

}  // namespace weir
