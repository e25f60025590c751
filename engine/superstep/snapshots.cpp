// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/snapshots.hpp>

#include <algorithm>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/schedule/snapshot_policy.hpp>

namespace weir {

namespace {

using namespace std::chrono_literals;

/// Of snapshots while there is a quicker folder: this many go there to one that does not.
constexpr std::uint64_t fast_per_slow = 7;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Computing comes first: writing takes what it leaves.
void step_back() { (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10); }

std::string after(Superstep next) { return "after superstep " + std::to_string(next - 1); }

}  // namespace

SnapshotService::SnapshotService(Context& context, const RunOptions& options, Identity identity,
                                 ShardRange own)
    : context_(context),
      options_(options.snapshots),
      identity_(std::move(identity)),
      own_(own),
      taken_at_(Clock::now()) {
  context_.expect(options_.every >= 0 && options_.mtbf_seconds > 0, ErrorCode::usage,
                  "snapshots: found a negative interval, or a mean time between failures that is "
                  "not above 0");
  const auto observe = [this](SnapshotPoint point) {
    if (options_.at) options_.at(point, writing_);
  };
  for (const std::string& directory : {options_.directory, options_.fast_directory}) {
    if (directory.empty()) continue;
    tiers_.push_back(
        {SnapshotStore(directory, hash_of_job(options_.job), identity_.program, observe)});
  }
  for (Tier& each : tiers_) prepare(each);
  number_ = all_gather(context_, number_).front();
  context_.agree([&] {
    WEIR_EXPECT(tiers_.front().store.exists(), output,
                options_.directory +
                    ": the folder that rank 0 made is not there; expected one "
                    "that all ranks reach");
  });
  if (tiers_.size() > 1) drop_fast_unless_shared();
}

void SnapshotService::prepare(Tier& tier) {
  context_.agree([&] {
    if (!context_.is_root()) return;
    tier.store.create();
    tier.store.remove_incomplete();
    const auto complete = tier.store.complete();
    if (!complete.empty()) tier.good = complete.front();
    number_ = std::max(number_, tier.store.next_number());
  });
}

/// Each host has a /dev/shm of its own, and the same path there may be left from another job.
void SnapshotService::drop_fast_unless_shared() {
  const SnapshotStore& store = tiers_.back().store;
  const auto now = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  const std::uint64_t token = all_gather(context_, now).front();
  const std::string probe = store.folder() + "/probe-" + std::to_string(token);
  context_.agree([&] {
    WEIR_EXPECT(!context_.is_root() || std::ofstream(probe).good(), output,
                probe + ": cannot create");
  });
  const bool is_missing = all_fold(context_, Any{}, !std::ifstream(probe).good());
  if (context_.is_root()) (void)::unlink(probe.c_str());
  if (!is_missing) return;
  tiers_.pop_back();
  if (context_.is_root())
    context_.log(LogLevel::warning, options_.fast_directory +
                                        ": is not one folder for all ranks; "
                                        "snapshots go to " +
                                        options_.directory + " alone");
}

std::optional<SnapshotService::Found> SnapshotService::find() {
  if (!options_.resume) return std::nullopt;
  std::vector<std::uint64_t> numbers;  // ascending in time over both: number * 2 + tier
  if (context_.is_root()) {
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
      for (const std::uint64_t number : tiers_[t].store.complete())
        numbers.push_back(number * 2 + t);
    }
    std::sort(numbers.rbegin(), numbers.rend());
  }
  numbers = all_concatenate(context_, std::span<const std::uint64_t>(numbers));
  for (const std::uint64_t each : numbers) {
    const std::uint64_t number = each / 2;
    Tier& tier = tiers_[each % 2];
    std::string fault;
    std::optional<SnapshotManifest> manifest;
    Found found;
    try {
      manifest = tier.store.read_manifest(number);
      const bool is_ours =
          manifest->graph == identity_.graph && manifest->num_shards == identity_.num_shards;
      if (is_ours) {
        const SnapshotReader reader(tier.store, number, *manifest);
        found.path = tier.store.path_of(number);
        found.shared = reader.read(identity_.num_shards);
        for (ShardIndex shard = own_.begin; shard < own_.end; ++shard) {
          if (shard - own_.begin == own_.size() / 2 && options_.at)
            options_.at(SnapshotPoint::reading, manifest->superstep);
          found.of_shards.push_back(reader.read(shard));
        }
      }
    } catch (const Error& error) {
      fault = error.text();
    }
    const auto faults = all_gather(context_, std::uint8_t{!fault.empty()});
    const auto first = std::find(faults.begin(), faults.end(), 1) - faults.begin();
    if (first != context_.size()) {
      if (first == context_.rank())
        context_.log(LogLevel::warning, fault + "; this snapshot is not used");
      continue;
    }
    if (found.path.empty()) {
      if (context_.is_root()) {
        context_.log(LogLevel::warning, tier.store.path_of_manifest(number) +
                                            ": is of another graph; this snapshot is "
                                            "not used");
      }
      continue;
    }
    tier.good = number;
    last_ = manifest->superstep;
    last_whole_ = manifest->superstep;
    if (context_.is_root()) {
      context_.log(LogLevel::info,
                   "going on from the snapshot " + after(manifest->superstep) + ": " + found.path);
    }
    return found;
  }
  if (context_.is_root())
    context_.log(LogLevel::info, "found no snapshot of this job; it begins at the start");
  return std::nullopt;
}

bool SnapshotService::is_busy() {
  if (!future_.valid()) return false;
  if (future_.wait_for(0s) != std::future_status::ready) return true;
  written_ = future_.get();
  return false;
}

void SnapshotService::report(Summary& own) {
  own.num_writing = is_busy() ? 1 : 0;
  own.num_failed_writes = written_ && !written_->error.empty() ? 1 : 0;
  const bool is_timed = options_.every == 0 && context_.is_root();
  own.wants_snapshot = is_timed && seconds_since(taken_at_) >= interval_seconds() ? 1 : 0;
}

double SnapshotService::interval_seconds() const {
  // Never faster than they are written.
  const schedule::SnapshotCosts costs{.stall_seconds = cost_seconds_,
                                      .mtbf_seconds = options_.mtbf_seconds};
  return std::max(schedule::refined_daly_interval(costs), write_seconds_);
}

void SnapshotService::advance(const Summary& agreed) {
  if (agreed.num_writing > 0) return;
  if (stage_ == Stage::writing) {
    conclude(agreed.num_failed_writes > 0);
  } else if (stage_ == Stage::concluding) {
    if (agreed.num_failed_writes > 0 && !context_.is_root())
      written_ = Written{{}, "rank 0 wrote no manifest", 0};
    finish_conclusion();
  }
}

bool SnapshotService::is_due(Superstep next, const Summary& agreed) const {
  if (stage_ != Stage::idle) return false;
  if (agreed.wants_to_stop > 0) return true;
  if (agreed.is_quiet()) return false;
  return options_.every > 0 ? next - last_ >= options_.every : agreed.wants_snapshot > 0;
}

std::span<SnapshotRecord> SnapshotService::open() {
  records_.resize(own_.size() + (context_.is_root() ? 1 : 0));
  for (std::size_t i = 0; i < records_.size(); ++i) {
    records_[i].key = i < own_.size() ? own_.begin + i : identity_.num_shards;
    records_[i].bytes.clear();
  }
  return records_;
}

std::size_t SnapshotService::tier_of_next(const Summary& agreed) const {
  const bool is_fast = tiers_.size() > 1 && agreed.wants_to_stop == 0 && num_fast_ < fast_per_slow;
  return is_fast ? 1 : 0;
}

void SnapshotService::start(Superstep next, double seconds, const Summary& agreed) {
  tier_ = tier_of_next(agreed);
  num_fast_ = tier_ == 0 ? 0 : num_fast_ + 1;
  cost_seconds_ = std::max(seconds, 1e-6);
  last_ = writing_ = next;
  taken_at_ = Clock::now();
  stage_ = Stage::writing;
  written_.reset();
  future_ = std::async(std::launch::async, [this, number = number_, &to = tier()] {
    step_back();
    Written written;
    const auto begun = Clock::now();
    try {
      written.file = to.store.write_file(number, static_cast<std::size_t>(context_.rank()),
                                         records_, to.previous);
    } catch (const std::exception& error) {
      written.error = error.what();
    }
    written.seconds = seconds_since(begun);
    return written;
  });
  ++number_;
}

void SnapshotService::conclude(bool has_failed) {
  const std::uint64_t number = number_ - 1;
  Written own = std::move(written_.value());
  written_.reset();
  write_seconds_ = own.seconds;
  if (has_failed) {
    if (!own.error.empty()) {
      context_.log(LogLevel::warning,
                   own.error + "; there is no snapshot " + after(writing_) +
                       (last_whole_ ? ", the one " + after(*last_whole_) + " is kept" : "") +
                       ", and the job goes on");
    }
    if (context_.is_root()) {
      const std::vector<std::uint64_t> kept = tier().store.complete();
      tier().store.keep_only(kept);
    }
    if (tier_ > 0) num_fast_ = fast_per_slow;  // the next one goes to the other folder
    stage_ = Stage::idle;
    return;
  }
  SnapshotManifest manifest{.job = hash_of_job(options_.job),
                            .program = identity_.program,
                            .graph = identity_.graph,
                            .name = identity_.name,
                            .superstep = writing_,
                            .num_shards = identity_.num_shards,
                            .files = all_gather(context_, own.file->file)};
  writing_places_ = std::move(own.file->places);
  stage_ = Stage::concluding;
  if (!context_.is_root()) return;
  future_ = std::async(std::launch::async, [number, manifest = std::move(manifest), &to = tier()] {
    step_back();
    Written concluded;
    try {
      to.store.write_manifest(number, manifest);
      // Kept with the new one: the one before, should the new one be damaged.
      std::vector<std::uint64_t> kept{number};
      if (to.good) kept.push_back(*to.good);
      to.store.keep_only(kept);
    } catch (const std::exception& error) {
      concluded.error = error.what();
    }
    return concluded;
  });
}

void SnapshotService::finish_conclusion() {
  stage_ = Stage::idle;
  if (written_ && !written_->error.empty()) {
    if (context_.is_root())
      context_.log(LogLevel::warning, written_->error + "; there is no snapshot " +
                                          after(writing_) + ", and the job goes on");
    if (tier_ > 0) num_fast_ = fast_per_slow;
  } else {
    tier().good = number_ - 1;
    tier().previous = std::exchange(tier().last, std::move(writing_places_));
    last_whole_ = writing_;
  }
  written_.reset();
}

void SnapshotService::settle() {
  if (stage_ == Stage::writing) {
    if (future_.valid()) written_ = future_.get();
    conclude(all_fold(context_, Any{}, !written_->error.empty()));
  }
  if (stage_ == Stage::concluding) {
    if (future_.valid()) written_ = future_.get();
    const bool has_failed = all_fold(context_, Any{}, written_ && !written_->error.empty());
    if (has_failed && !context_.is_root()) written_ = Written{{}, "rank 0 wrote no manifest", 0};
    finish_conclusion();
  }
}

namespace detail {

namespace {

constexpr auto counters(auto& step) {
  return std::tie(step.superstep, step.phase, step.is_sparse, step.num_computed, step.num_scattered,
                  step.num_messages, step.num_dropped, step.num_mutations, step.bytes_sent,
                  step.compute_seconds, step.exchange_seconds, step.barrier_seconds);
}

}  // namespace

void append_report(Bytes& out, const RunReport& report) {
  append_plain(out, report.num_supersteps);
  append_plain(out, report.num_messages);
  append_plain(out, report.num_dropped);
  append_plain(out, report.bytes_sent);
  append_plain(out, std::uint64_t{report.supersteps.size()});
  for (const SuperstepReport& step : report.supersteps) {
    std::apply([&](const auto&... each) { (append_plain(out, each), ...); }, counters(step));
    append_plain(out, std::uint64_t{step.aggregates.size()});
    for (const auto& [name, value] : step.aggregates) {
      append_plain(out, std::uint64_t{name.size()});
      const auto text = std::as_bytes(std::span(name));
      out.insert(out.end(), text.begin(), text.end());
      append_plain(out, value);
    }
  }
}

RunReport take_report(BytesView& in) {
  RunReport report;
  report.num_supersteps = in.take<std::uint64_t>();
  report.num_messages = in.take<std::uint64_t>();
  report.num_dropped = in.take<std::uint64_t>();
  report.bytes_sent = in.take<std::uint64_t>();
  const auto num_steps = in.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < num_steps; ++i) {
    SuperstepReport& step = report.supersteps.emplace_back();
    std::apply(
        [&](auto&... each) { ((each = in.take<std::remove_reference_t<decltype(each)>>()), ...); },
        counters(step));
    const auto num_aggregates = in.take<std::uint64_t>();
    for (std::uint64_t k = 0; k < num_aggregates; ++k) {
      const auto text = in.take_bytes(in.take<std::uint64_t>());
      std::string name(reinterpret_cast<const char*>(text.data()), text.size());
      step.aggregates.emplace_back(std::move(name), in.take<double>());
    }
  }
  return report;
}

void throw_stopped(Context& context, const Snapshots& options, Superstep next,
                   std::optional<Superstep> snapshot) {
  options.stop.cancel();
  std::string text = "stopped " + after(next) + " as asked; ";
  if (snapshot) {
    text += "a snapshot " + after(*snapshot) + " is kept";
  } else {
    text += "there is no snapshot, so the run will begin anew";
  }
  context.throw_agreed({ErrorCode::cancelled, text});
}

}  // namespace detail

}  // namespace weir
