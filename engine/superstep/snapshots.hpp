// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <weir/engine/resilience/snapshot_store.hpp>
#include <weir/engine/runtime/fnv_hash.hpp>
#include <weir/engine/superstep/decision.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/engine/superstep/recorder.hpp>
#include <weir/engine/superstep/state.hpp>
#include <weir/engine/superstep/summary.hpp>

namespace weir {

/// When the ranks of a run take snapshots, write them and find them again. Knows bytes alone.
///
/// A snapshot is taken at a barrier and written by a thread of its own; that all ranks are done is
/// learnt at a later barrier, and then rank 0 writes the manifest, in the background too. While one
/// is written no other is begun, so memory is that of one.
///
/// A shard that did not change is not written again: its record is that of the snapshot before the
/// last, not of the last, so that damage to one of the two that are kept leaves the other whole.
class SnapshotService {
 public:
  /// What tells a run from others. `program` and `graph`: hashes.
  struct Identity {
    std::uint64_t program = 0;
    std::uint64_t graph = 0;
    std::string name;  ///< for people
    std::uint64_t num_shards = 0;
  };
  /// A snapshot as this rank reads it: every byte was checked.
  struct Found {
    std::string path;
    Bytes shared;
    std::vector<Bytes> of_shards;  ///< by own shard
  };

  /// Clears the folder of what never was whole. Collective.
  SnapshotService(Context& context, const RunOptions& options, Identity identity, ShardRange own);
  ~SnapshotService() = default;
  SnapshotService(const SnapshotService&) = delete;
  SnapshotService& operator=(const SnapshotService&) = delete;

  /// The newest whole snapshot of this run. Names on the log what is not used. Collective.
  std::optional<Found> find();

  /// What the others learn at the barrier.
  void report(Summary& own);
  /// After it: brings what is being written further. Collective.
  void advance(const Summary& agreed);
  /// Whether a snapshot is to be taken now; equal on every rank. `next`: the superstep to come.
  bool is_due(Superstep next, const Summary& agreed) const;
  /// Waits until nothing is being written. Collective.
  void settle();
  /// The records of a new snapshot, to be filled: one per own shard, on rank 0 one more.
  std::span<SnapshotRecord> open();
  /// Writes them. `seconds`: how long filling took.
  void start(Superstep next, double seconds, const Summary& agreed);
  /// Superstep from which the last whole snapshot goes on; none yet: nothing.
  std::optional<Superstep> last_whole() const { return last_whole_; }

 private:
  enum class Stage { idle, writing, concluding };
  /// A folder of snapshots, and what is known of those in it.
  struct Tier {
    SnapshotStore store;
    std::optional<std::uint64_t> good{};    // number of the last that is known to be whole
    std::vector<SnapshotPlace> last{};      // own records there, where it was written by this run
    std::vector<SnapshotPlace> previous{};  // those of the one before
  };
  struct Written {
    std::optional<WrittenSnapshotFile> file;
    std::string error;
    double seconds = 0;
  };
  using Clock = std::chrono::steady_clock;

  void prepare(Tier& tier);
  void drop_fast_unless_shared();
  bool is_busy();
  std::size_t tier_of_next(const Summary& agreed) const;
  Tier& tier() { return tiers_[tier_]; }
  void conclude(bool has_failed);
  void finish_conclusion();
  double interval_seconds() const;

  Context& context_;
  const Snapshots& options_;
  Identity identity_;
  ShardRange own_;
  std::vector<Tier> tiers_;     // of `directory`, and of `fast_directory` while that is used
  std::size_t tier_ = 0;        // of what is being written
  std::uint64_t number_ = 0;    // of the next snapshot
  std::uint64_t num_fast_ = 0;  // since the last in `directory`
  std::optional<Superstep> last_whole_;
  Superstep last_ = 0;     // superstep after which the last was taken
  Superstep writing_ = 0;  // of what is being written
  Clock::time_point taken_at_;
  double cost_seconds_ = 0.1;  // that a snapshot holds the ranks up
  double write_seconds_ = 0;
  Stage stage_ = Stage::idle;
  std::vector<SnapshotRecord> records_;
  std::vector<SnapshotPlace> writing_places_;  // own records of what is being concluded
  std::optional<Written> written_;
  std::future<Written> future_;  // last: its end is waited for before the rest goes
};

namespace detail {

void append_report(Bytes& out, const RunReport& report);
RunReport take_report(BytesView& in);
/// Throws Error{cancelled}, after telling this rank's token, which other ranks may have been asked
/// by. Collective.
[[noreturn]] void throw_stopped(Context& context, const Snapshots& options, Superstep next,
                                std::optional<Superstep> snapshot);

/// Types, seed and starts: what the engine sees of a run besides its values. Members of programs
/// may be pointers, so they are no part of it.
template <class Executor, class First, class... Rest>
std::uint64_t hash_of_run(const std::tuple<First, Rest...>& programs, const RunOptions& options) {
  FnvHash hash;
  hash.add(std::string_view(typeid(Executor).name()));
  hash.add(options.seed);
  if constexpr (StartingProgram<First>) {
    for (const VertexId id : std::get<0>(programs).starts())
      hash.add(static_cast<std::uint64_t>(id));
  }
  return hash.value();
}

}  // namespace detail

/// Takes snapshots of a run and goes on from them: what the driver sees.
template <class Executor, class P>
class RunSnapshots {
 public:
  /// Collective.
  template <class G, class Programs>
  RunSnapshots(G& graph, Executor& executor, const Programs& programs, const RunOptions& options)
      : context_(graph.context()), executor_(executor), options_(options) {
    if (options.snapshots.directory.empty()) return;
    context_.expect(is_possible, ErrorCode::usage,
                    "no snapshots can be taken of this program: it changes the topology, or its "
                    "values cannot travel");
    if constexpr (is_possible) {
      FnvHash program;
      program.add(detail::hash_of_run<Executor>(programs, options));
      program.add(all_fold(context_, Sum<std::uint64_t>{},
                           SavedState<Executor>(executor).hash_of_values()));
      SnapshotService::Identity identity{program.value(), hash_of_topology(graph), typeid(P).name(),
                                         graph.shards().num_shards()};
      service_.emplace(context_, options, std::move(identity), graph.vertices()->shards());
    }
  }

  /// Takes up the newest snapshot; returns the superstep to begin with. Collective.
  Superstep resume(Agreed<P>& agreed, std::size_t& phase, Recorder& recorder) {
    Superstep step = 0;
    if constexpr (is_possible) {
      if (!service_) return step;
      const auto found = service_->find();
      if (!found) return step;
      SavedState<Executor> state(executor_);
      context_.agree([&] {
        try {
          step = take_shared(BytesView(found->shared), agreed, phase, recorder);
          state.begin_loading(phase, agreed.summary);
          const ShardRange own = state.shards();
          context_.parallel_for(own.size(), [&](std::size_t s) {
            state.load(own.begin + static_cast<ShardIndex>(s), BytesView(found->of_shards[s]));
          });
        } catch (const Error& error) {
          throw Error(ErrorCode::input, found->path + ": " + std::string(error.text()));
        }
      });
      state.finish_loading();
    }
    return step;
  }

  /// Before the barrier.
  void report(Summary& own) {
    own.wants_to_stop = options_.snapshots.stop.is_cancelled() ? 1 : 0;
    if (service_) service_->report(own);
  }

  /// After a superstep was committed. Throws Error{cancelled} when any rank was asked to stop.
  /// Collective.
  void committed(Superstep next, std::size_t phase, const Agreed<P>& agreed,
                 const Recorder& recorder) {
    const bool is_stopped = agreed.summary.wants_to_stop > 0;
    if constexpr (is_possible) {
      if (service_) {
        service_->advance(agreed.summary);
        if (is_stopped) service_->settle();
        if (service_->is_due(next, agreed.summary)) take(next, phase, agreed, recorder);
        if (is_stopped) service_->settle();
      }
    }
    if (is_stopped)
      detail::throw_stopped(context_, options_.snapshots, next,
                            service_ ? service_->last_whole() : std::optional<Superstep>());
  }

 private:
  using Master = MasterOf<P>;
  using Tags = AggregatorsOf<P>;
  static constexpr bool has_master = !std::is_empty_v<Master>;
  static constexpr bool is_possible =
      SavedState<Executor>::is_possible && (!has_master || Transferable<Master>);

  void take(Superstep next, std::size_t phase, const Agreed<P>& agreed, const Recorder& recorder) {
    const auto start = std::chrono::steady_clock::now();
    const std::span<SnapshotRecord> records = service_->open();
    SavedState<Executor> state(executor_);
    state.begin_saving();
    const ShardRange own = state.shards();
    context_.parallel_for(own.size(), [&](std::size_t s) {
      state.save(own.begin + static_cast<ShardIndex>(s), records[s].bytes);
    });
    if (context_.is_root()) append_shared(records.back().bytes, next, phase, agreed, recorder);
    const std::chrono::duration<double> filling = std::chrono::steady_clock::now() - start;
    service_->start(next, filling.count(), agreed.summary);
  }

  /// What all ranks know alike.
  static void append_shared(Bytes& out, Superstep next, std::size_t phase, const Agreed<P>& agreed,
                            const Recorder& recorder) {
    append_plain(out, next);
    append_plain(out, std::uint64_t{phase});
    append_plain(out, agreed.summary.num_unhalted);
    append_plain(out, agreed.summary.num_scattered);
    append_plain(out, agreed.summary.num_sent);
    append_plain(out, agreed.summary.next_bucket);
    if constexpr (Tags::size > 0)
      encode(std::span<const typename Tags::Values>(&agreed.aggregated, 1), out);
    if constexpr (has_master) encode(std::span<const Master>(&agreed.master, 1), out);
    detail::append_report(out, recorder.report());
  }
  Superstep take_shared(BytesView in, Agreed<P>& agreed, std::size_t& phase, Recorder& recorder) {
    const auto step = in.take<Superstep>();
    phase = in.take<std::uint64_t>();
    WEIR_EXPECT(phase < Executor::num_phases, input, "a snapshot has a phase that is not known");
    agreed.summary.num_unhalted = in.take<std::uint64_t>();
    agreed.summary.num_scattered = in.take<std::uint64_t>();
    agreed.summary.num_sent = in.take<std::uint64_t>();
    agreed.summary.next_bucket = in.take<std::uint64_t>();
    if constexpr (Tags::size > 0) agreed.aggregated = take_one<typename Tags::Values>(in);
    if constexpr (has_master) agreed.master = take_one<Master>(in);
    recorder.resume(context_, detail::take_report(in));
    WEIR_EXPECT(in.empty(), input, "a snapshot is longer than its state");
    return step;
  }
  template <class T>
  static T take_one(BytesView& in) {
    std::vector<T> one;
    decode(in, one);
    WEIR_EXPECT(one.size() == 1, input, "a snapshot lacks what the ranks agreed on");
    return std::move(one.front());
  }

  Context& context_;
  Executor& executor_;
  const RunOptions& options_;
  std::optional<SnapshotService> service_;
};

}  // namespace weir
