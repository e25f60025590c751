// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/shard_race.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <weir/engine/runtime/bytes.hpp>
#include <weir/engine/schedule/straggler_policy.hpp>

namespace weir {

namespace {

using Clock = std::chrono::steady_clock;
using schedule::Assignment;
using schedule::StragglerRule;
using schedule::TaskState;

constexpr auto poll_interval = std::chrono::microseconds(500);
constexpr auto status_interval = std::chrono::milliseconds(5);
constexpr auto decision_interval = std::chrono::milliseconds(2);
/// A rank that will be done by then is not helped, nor one that will be done in less than this
/// share of the time that the superstep took so far.
constexpr double least_backlog_seconds = 5e-3;
constexpr double least_backlog_share = 0.5;
/// Nor are shards given to a rank that never saw them for less.
constexpr double least_first_backlog_seconds = 0.1;
/// A rank that computed nothing so far may only not have been let run.
constexpr double least_silence_seconds = 0.1;
/// A shard that takes less is not cloned: it would be done before the clone is.
constexpr double least_cloned_seconds = 20e-3;
/// A helper from which nothing came for so long is not waited for.
constexpr auto least_patience = std::chrono::milliseconds(20);

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

enum class Kind : std::uint8_t {
  status,  ///< any rank to 0: Status, then its Running
  help,    ///< 0 to an owner: Help
  input,   ///< owner to helper: the place, then the input
  ask,     ///< helper to owner: the place, then a question
  answer,  ///< owner to helper: the place, then the answer
  result,  ///< helper to owner: the place, then the result; without one: could not be computed
  cancel,  ///< owner to helper: the place
  end,     ///< 0 to all
};

struct Status {
  std::uint32_t num_waiting = 0;
  std::uint32_t num_done = 0;
  std::uint32_t num_lanes = 1;
  std::uint32_t num_running = 0;
  std::uint32_t num_known = 0;  ///< waiting, of those that some helper saw before
  double busy_seconds = 0;      ///< of all lanes
  double first_giving_seconds = 0, giving_seconds = 0;
  double first_taking_seconds = 0, taking_seconds = 0;
  bool is_idle = false;      ///< nothing to do
  bool is_complete = false;  ///< all own shards are computed, here or elsewhere
};
struct Running {
  double elapsed_seconds = 0;
  double progress = 0;
  bool has_clone = false;  ///< or cannot have one
};
struct Help {
  Rank helper = 0;
  std::uint32_t num_steals = 0;
  std::uint32_t num_clones = 0;
};

template <class... Parts>
Bytes message(Kind kind, const Parts&... parts) {
  Bytes bytes;
  append_plain(bytes, kind);
  (append_plain(bytes, parts), ...);
  return bytes;
}

}  // namespace

/// One superstep's race on one rank. The calling thread alone sends and receives; what threads
/// share is behind the mutex.
class ShardRace::Round {
 public:
  Round(ShardRace& race, ShardTasks& tasks)
      : race_(race),
        context_(race.context_),
        options_(race.options_),
        tasks_(tasks),
        exchange_(race.context_, "race of shards"),
        caller_(std::this_thread::get_id()),
        statuses_(static_cast<std::size_t>(race.context_.size())),
        stages_(tasks.size(), Stage::waiting),
        was_given_(tasks.size(), 0) {}

  SpeculationReport run() {
    if (is_forced()) give_all();
    compute_own();
    while (!is_over_) {
      compare();
      exchange_.wait(
          [&] {
            tick();
            return is_over_ || has_waiting() || !inputs_.empty() || !arrived_.empty() || overdue();
          },
          [&](const Batch& batch) { receive(batch); });
      if (is_over_) break;
      if (has_waiting()) {
        compute_own();
      } else if (!inputs_.empty()) {
        help();
      } else if (!arrived_.empty()) {
        accept_next();
      } else if (const auto place = overdue()) {
        ++report_.num_cloned;
        compute_one(*place);
        tell();
      }
    }
    compare();
    exchange_.close([&](const Batch& batch) {  // too late
      BytesView in(batch.bytes);
      if (in.take<Kind>() != Kind::input) return;
      in.take<std::uint32_t>();
      tasks_.set_aside(batch.source, in.rest());
    });
    if (num_computed_ > 0) race_.shard_seconds_ = busy_seconds_ / num_computed_;
    return report_;
  }

 private:
  enum class Stage : std::uint8_t {
    waiting,
    given,    ///< another rank computes it
    running,  ///< computed here
    done
  };

  /// How many rows to compute between two questions: so many that asking costs nothing, so few that
  /// an answer is not late where a row takes long.
  class Pace {
   public:
    std::size_t next() {
      const auto now = Clock::now();
      const auto took = now - std::exchange(asked_at_, now);
      if (took < std::chrono::microseconds(100)) {
        count_ = std::min(2 * count_, most);
      } else if (took > std::chrono::milliseconds(1)) {
        count_ = std::max<std::size_t>(count_ / 4, 1);
      }
      return count_;
    }

   private:
    static constexpr std::size_t most = 512;
    Clock::time_point asked_at_ = Clock::now();
    std::size_t count_ = 16;
  };

  /// An attempt at an own shard.
  class Attempt final : public RowWatch {
   public:
    Attempt(Round& round, std::size_t of) : place(of), round_(round) {}
    std::size_t rows_to_go(std::size_t num_done) override {
      num_rows.store(num_done, std::memory_order_relaxed);
      return round_.goes_on(is_stopped, num_done) ? pace_.next() : 0;
    }
    const std::size_t place;
    const Clock::time_point start = Clock::now();
    std::atomic<bool> is_stopped{false};
    std::atomic<std::size_t> num_rows{0};
    std::optional<Bytes> state{};                    // what it began with, if it can be cloned
    std::optional<std::pair<Rank, Bytes>> result{};  // of the clone that won

   private:
    Round& round_;
    Pace pace_;
  };

  /// An attempt at another rank's shard.
  class HelpingAttempt final : public RowWatch {
   public:
    HelpingAttempt(Round& round, Rank of, std::uint32_t at, AcceptedShard& accepted)
        : owner(of), place(at), shard(accepted), round_(round) {}
    std::size_t rows_to_go(std::size_t num_done) override {
      return round_.goes_on(is_stopped, num_done) ? pace_.next() : 0;
    }
    const Rank owner;
    const std::uint32_t place;
    AcceptedShard& shard;
    std::atomic<bool> is_stopped{false};

   private:
    Round& round_;
    Pace pace_;
  };

  /// What another rank computes for this one.
  struct Outstanding {
    Rank helper = 0;
    Clock::time_point since = Clock::now();
  };

  bool is_root() const { return context_.is_root(); }
  bool is_forced() const { return options_.speculation.rule == StragglerRule::forced; }
  /// Whether every result is awaited, to be compared.
  bool awaits_all() const { return options_.speculation.verify || is_forced(); }
  bool is_caller() const { return std::this_thread::get_id() == caller_; }

  // Computing own shards.

  bool has_waiting() {
    const std::lock_guard lock(mutex_);
    return find_waiting() != stages_.size();
  }
  std::size_t find_waiting() {
    while (next_ < stages_.size() && stages_[next_] != Stage::waiting) ++next_;
    return next_;
  }

  /// Computes waiting shards on all threads until there are none.
  void compute_own() {
    on_all_threads([&] {
      for (;;) {
        std::size_t place;
        {
          const std::lock_guard lock(mutex_);
          place = find_waiting();
          if (place == stages_.size()) return;
          stages_[place] = Stage::running;
        }
        compute_one(place);
      }
    });
    tell();
  }

  /// Runs body() on all threads; the calling one goes on to receive until the others are done.
  template <class F>
  void on_all_threads(const F& body) {
    std::atomic<int> num_working{0};
    context_.parallel_for(static_cast<std::size_t>(context_.num_threads()), [&](std::size_t) {
      {
        struct Working {
          explicit Working(std::atomic<int>& of) : count(of) { count.fetch_add(1); }
          ~Working() { count.fetch_sub(1); }
          Working(const Working&) = delete;
          Working& operator=(const Working&) = delete;
          std::atomic<int>& count;
        } working(num_working);
        body();
      }
      if (!is_caller()) return;
      while (num_working.load() > 0) {
        poll();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
  }

  void compute_one(std::size_t place) {
    Attempt* attempt = nullptr;
    {
      const std::lock_guard lock(mutex_);
      stages_[place] = Stage::running;
      attempt = &attempts_.emplace_back(*this, place);
    }
    // What a clone starts from is kept where shards take so long that keeping it costs nothing.
    const bool is_cloneable =
        !is_forced() && was_given_[place] == 0 &&
        std::max(race_.shard_seconds_, mean_shard_seconds()) >= least_cloned_seconds;
    if (is_cloneable) {
      Bytes state = tasks_.state(place);
      const std::lock_guard lock(mutex_);
      attempt->state = std::move(state);
    }
    tasks_.compute(place, *attempt);

    std::optional<std::pair<Rank, Bytes>> won;
    {
      const std::lock_guard lock(mutex_);
      won = std::move(attempt->result);
      busy_seconds_ += seconds(Clock::now() - attempt->start);
      ++num_computed_;
      attempts_.remove_if([&](const Attempt& each) { return &each == attempt; });
      if (!won) {
        stages_[place] = Stage::done;
        ++num_done_;
        if (outstanding_.contains(place) && !awaits_all()) losers_.push_back(place);
      }
    }
    if (won) finish_elsewhere(place, won->first, won->second);
  }

  void finish_elsewhere(std::size_t place, Rank helper, std::span<const std::byte> result) {
    tasks_.install(place, helper, result);
    const std::lock_guard lock(mutex_);
    stages_[place] = Stage::done;
    ++num_done_;
  }

  double mean_shard_seconds() {
    const std::lock_guard lock(mutex_);
    return num_computed_ == 0 ? 0 : busy_seconds_ / num_computed_;
  }

  /// An own shard that is with a helper from which nothing came for long.
  std::optional<std::size_t> overdue() {
    if (awaits_all()) return std::nullopt;
    const auto patience = std::max<Clock::duration>(
        least_patience, 8 * std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(race_.shard_seconds_)));
    const auto now = Clock::now();
    for (const auto& [place, with] : outstanding_) {
      const auto heard = heard_.find(with.helper);
      const auto since = heard == heard_.end() ? with.since : std::max(with.since, heard->second);
      if (stages_[place] == Stage::given && now - since > patience) return place;
    }
    return std::nullopt;
  }

  // Giving shards away.

  static void learn(double& cost, Clock::duration found) {
    constexpr double weight = 0.25;  // of the latest
    cost += weight * (seconds(found) - cost);
  }

  void give(std::size_t place, const Bytes* state, Rank helper) {
    const auto start = Clock::now();
    double& cost =
        tasks_.is_known(place, helper) ? race_.giving_.seconds : race_.giving_.first_seconds;
    Bytes bytes = message(Kind::input, static_cast<std::uint32_t>(place));
    const Bytes input = tasks_.input(place, state, helper);
    bytes.insert(bytes.end(), input.begin(), input.end());
    report_.input_bytes += bytes.size();
    exchange_.send(helper, std::move(bytes));
    learn(cost, Clock::now() - start);
    const std::lock_guard lock(mutex_);
    outstanding_[place] = {helper};
    was_given_[place] = 1;
    if (stages_[place] == Stage::done && !awaits_all()) losers_.push_back(place);  // meanwhile
  }

  /// Half of the shards go away, of the others clones: before any is computed.
  void give_all() {
    const Rank num_others = context_.size() - 1;
    for (std::size_t place = 0; place < stages_.size(); ++place) {
      if (tasks_.num_rows(place) == 0) continue;
      const auto step = static_cast<Rank>(place / 2 % static_cast<std::size_t>(num_others));
      give(place, nullptr, (context_.rank() + 1 + step) % context_.size());
      if (place % 2 == 0) {
        stages_[place] = Stage::given;
        ++report_.num_stolen;
      } else {
        ++report_.num_cloned;
      }
    }
  }

  void give_as_told(const Help& help) {
    // What the helper saw before is sent in less time. What another saw is left to that one, which
    // will ask soon, but once for a few, so that in time helpers share evenly.
    std::uint32_t num_given = 0;
    const auto give_those = [&](std::uint32_t most, const auto& is_right) {
      for (std::size_t i = stages_.size(); i-- > 0 && num_given < most;) {
        if (was_given_[i] != 0 || tasks_.num_rows(i) == 0 || !is_right(i)) continue;
        {
          const std::lock_guard lock(mutex_);
          if (stages_[i] != Stage::waiting) continue;
          stages_[i] = Stage::given;
        }
        give(i, nullptr, help.helper);
        ++report_.num_stolen;
        ++num_given;
      }
    };
    give_those(help.num_steals, [&](std::size_t i) { return tasks_.is_known(i, help.helper); });
    give_those(help.num_steals, [&](std::size_t i) { return !tasks_.is_known(i); });
    constexpr std::uint32_t few = 16;  // one in so many
    if (taught_.insert(help.helper).second)
      give_those(std::min(help.num_steals, num_given + 1 + help.num_steals / few),
                 [](std::size_t) { return true; });
    for (std::uint32_t k = 0; k < help.num_clones; ++k) {
      const auto longest = longest_to_clone();
      if (!longest) break;
      give(longest->first, &longest->second, help.helper);
      ++report_.num_cloned;
    }
    tell();
  }

  /// The attempt that has run longest of those that can be cloned, and what it began with.
  std::optional<std::pair<std::size_t, Bytes>> longest_to_clone() {
    const std::lock_guard lock(mutex_);
    Attempt* longest = nullptr;
    for (Attempt& each : attempts_) {
      if (!each.state || was_given_[each.place] != 0) continue;
      if (longest == nullptr || each.start < longest->start) longest = &each;
    }
    if (longest == nullptr) return std::nullopt;
    return std::pair(longest->place, std::move(*std::exchange(longest->state, std::nullopt)));
  }

  void receive_result(Rank helper, std::size_t place, std::span<const std::byte> result) {
    heard_[helper] = Clock::now();
    const auto found = outstanding_.find(place);
    if (found == outstanding_.end() || found->second.helper != helper) return;
    bool is_free = false;
    {
      const std::lock_guard lock(mutex_);
      outstanding_.erase(found);
      Stage& stage = stages_[place];
      if (result.empty()) {
        if (stage == Stage::given) stage = Stage::waiting, next_ = std::min(next_, place);
      } else if (stage == Stage::done) {
        ++report_.num_lost;
        if (awaits_all()) to_compare_.push_back({place, helper, {result.begin(), result.end()}});
      } else if (options_.speculation.verify && stage != Stage::given) {
        ++report_.num_won;  // the own attempt goes on all the same
        to_compare_.push_back({place, helper, {result.begin(), result.end()}});
      } else if (stage == Stage::running) {
        ++report_.num_won;
        for (Attempt& attempt : attempts_) {
          if (attempt.place != place) continue;
          attempt.result.emplace(helper, Bytes(result.begin(), result.end()));
          attempt.is_stopped.store(true, std::memory_order_relaxed);
        }
      } else {
        is_free = true;
        if (stage == Stage::waiting) ++report_.num_won;
        stage = Stage::running;
      }
    }
    if (is_free) finish_elsewhere(place, helper, result);
    if (is_complete()) tell();
  }

  /// A clone's result that did not count.
  struct ToCompare {
    std::size_t place;
    Rank helper;
    Bytes result;
  };
  /// Compares clones with what was computed here, while no other thread computes.
  void compare() {
    std::erase_if(to_compare_, [&](const ToCompare& clone) {
      if (stages_[clone.place] != Stage::done) return false;
      if (tasks_.result(clone.place) != clone.result)
        tasks_.refuse(clone.place, clone.helper, clone.result);
      return true;
    });
  }

  bool is_complete() {
    const std::lock_guard lock(mutex_);
    return num_done_ == stages_.size() && (!awaits_all() || outstanding_.empty());
  }

  // Helping.

  /// An input that was not looked at yet.
  struct Arrived {
    Rank owner;
    std::uint32_t place;
    Bytes input;
  };

  /// One at a time, so that results of others are not kept waiting.
  void accept_next() {
    const Arrived next = std::move(arrived_.front());
    arrived_.pop_front();
    const auto start = Clock::now();
    AcceptedShard& shard = tasks_.accept(next.owner, next.input);
    const Bytes question = shard.question();
    learn(question.empty() ? race_.taking_.seconds : race_.taking_.first_seconds,
          Clock::now() - start);
    const std::lock_guard lock(mutex_);
    if (question.empty()) {
      inputs_.emplace_back(*this, next.owner, next.place, shard);
    } else {
      asking_.emplace_back(*this, next.owner, next.place, shard);
      Bytes bytes = message(Kind::ask, next.place);
      bytes.insert(bytes.end(), question.begin(), question.end());
      exchange_.send(next.owner, std::move(bytes));
    }
  }

  /// Computes what others gave, until nothing is left.
  void help() {
    on_all_threads([&] {
      for (;;) {
        if (is_caller()) {
          poll();
          if (!arrived_.empty()) accept_next();
        }
        HelpingAttempt* attempt = nullptr;
        {
          const std::lock_guard lock(mutex_);
          if (inputs_.empty()) return;
          helping_.splice(helping_.end(), inputs_, inputs_.begin());
          attempt = &helping_.back();
        }
        auto result = attempt->shard.compute(*attempt);
        const std::lock_guard lock(mutex_);
        if (!attempt->is_stopped.load(std::memory_order_relaxed)) {
          results_.push_back({attempt->owner, attempt->place, std::move(result)});
        }
        helping_.remove_if([&](const HelpingAttempt& each) { return &each == attempt; });
      }
    });
    send_results();
    tell();
  }

  struct Result {
    Rank owner;
    std::uint32_t place;
    std::optional<Bytes> bytes;
  };

  void send_results() {
    std::vector<Result> results;
    {
      const std::lock_guard lock(mutex_);
      results.swap(results_);
    }
    for (const Result& result : results) {
      Bytes bytes = message(Kind::result, result.place);
      if (result.bytes) bytes.insert(bytes.end(), result.bytes->begin(), result.bytes->end());
      exchange_.send(result.owner, std::move(bytes));
    }
  }

  void drop_help(const auto& is_dropped) {
    std::erase_if(arrived_, [&](const Arrived& each) {
      if (!is_dropped(each)) return false;
      tasks_.set_aside(each.owner, each.input);
      return true;
    });
    const std::lock_guard lock(mutex_);
    asking_.remove_if(is_dropped);
    inputs_.remove_if(is_dropped);
    for (HelpingAttempt& each : helping_) {
      if (is_dropped(each)) each.is_stopped.store(true, std::memory_order_relaxed);
    }
  }

  // Talking.

  /// Between rows: whether the attempt that asks is to go on.
  bool goes_on(const std::atomic<bool>& is_stopped, std::size_t num_rows) {
    if (options_.between_rows) options_.between_rows(num_rows);
    if (is_caller() && Clock::now() - polled_at_ >= poll_interval) {
      poll();
      if (options_.between_rows) options_.between_rows(0);  // it is computing that is slow
    }
    return !is_stopped.load(std::memory_order_relaxed);
  }

  /// On the calling thread: sends and receives what is due.
  void poll() {
    send_results();
    exchange_.poll([&](const Batch& batch) { receive(batch); });
    tick();
    polled_at_ = Clock::now();
  }

  void tick() {
    const auto now = Clock::now();
    std::vector<std::size_t> losers;
    {
      const std::lock_guard lock(mutex_);
      losers.swap(losers_);
    }
    for (const std::size_t place : losers) {
      const auto found = outstanding_.find(place);
      if (found == outstanding_.end()) continue;
      ++report_.num_lost;
      exchange_.send(found->second.helper,
                     message(Kind::cancel, static_cast<std::uint32_t>(place)));
      const std::lock_guard lock(mutex_);
      outstanding_.erase(found);
    }
    if (now - told_at_ >= status_interval) tell();
    if (is_root() && now - decided_at_ >= decision_interval) decide();
  }

  /// Tells rank 0 how far this one is.
  void tell() {
    told_at_ = Clock::now();
    Status status;
    status.is_complete = is_complete();
    std::vector<Running> running;
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < stages_.size(); ++i) {
        if (stages_[i] != Stage::waiting) continue;
        ++status.num_waiting;
        if (tasks_.is_known(i)) ++status.num_known;
      }
      status.num_done = num_computed_;
      status.num_lanes = static_cast<std::uint32_t>(context_.num_threads());
      status.busy_seconds = busy_seconds_;
      status.first_giving_seconds = race_.giving_.first_seconds;
      status.giving_seconds = race_.giving_.seconds;
      status.first_taking_seconds = race_.taking_.first_seconds;
      status.taking_seconds = race_.taking_.seconds;
      status.is_idle = status.num_waiting == 0 && attempts_.empty() && arrived_.empty() &&
                       asking_.empty() && inputs_.empty() && helping_.empty();
      for (const Attempt& each : attempts_) {
        const double num_rows = static_cast<double>(tasks_.num_rows(each.place));
        const double share = static_cast<double>(each.num_rows.load(std::memory_order_relaxed)) /
                             std::max(num_rows, 1.0);
        running.push_back(
            {seconds(told_at_ - each.start), std::min(share, 1.0), !each.state.has_value()});
      }
    }
    status.num_running = static_cast<std::uint32_t>(running.size());
    if (is_root()) return hear(0, status, std::move(running));
    Bytes bytes = message(Kind::status, status);
    for (const Running& each : running) append_plain(bytes, each);
    exchange_.send(0, std::move(bytes));
  }

  void receive(const Batch& batch) {
    BytesView in(batch.bytes);
    switch (in.take<Kind>()) {
      case Kind::status: {
        const auto status = in.take<Status>();
        std::vector<Running> running;
        for (std::uint32_t i = 0; i < status.num_running; ++i)
          running.push_back(in.take<Running>());
        return hear(batch.source, status, std::move(running));
      }
      case Kind::help: return give_as_told(in.take<Help>());
      case Kind::input: {
        const auto place = in.take<std::uint32_t>();
        if (is_over_) return tasks_.set_aside(batch.source, in.rest());
        arrived_.push_back({batch.source, place, Bytes(in.rest().begin(), in.rest().end())});
        return;
      }
      case Kind::ask: {
        const auto place = in.take<std::uint32_t>();
        heard_[batch.source] = Clock::now();
        const Bytes answer = tasks_.answer(place, batch.source, in.rest());
        Bytes bytes = message(Kind::answer, place);
        bytes.insert(bytes.end(), answer.begin(), answer.end());
        report_.input_bytes += bytes.size();
        return exchange_.send(batch.source, std::move(bytes));
      }
      case Kind::answer: {
        const auto place = in.take<std::uint32_t>();
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(asking_.begin(), asking_.end(), [&](const auto& each) {
          return each.owner == batch.source && each.place == place;
        });
        if (found == asking_.end()) return;  // called off
        found->shard.take_answer(in.rest());
        inputs_.splice(inputs_.end(), asking_, found);
        return;
      }
      case Kind::result: {
        const auto place = in.take<std::uint32_t>();
        return receive_result(batch.source, place, in.rest());
      }
      case Kind::cancel: {
        const auto place = in.take<std::uint32_t>();
        return drop_help(
            [&](const auto& each) { return each.owner == batch.source && each.place == place; });
      }
      case Kind::end: return end();
    }
  }

  void end() {
    is_over_ = true;
    drop_help([](const auto&) { return true; });
  }

  // Rank 0.

  struct Heard {
    bool has_any = false;
    Status status;
    std::vector<Running> running;
    Clock::time_point at;
  };

  void hear(Rank rank, const Status& status, std::vector<Running> running) {
    statuses_[static_cast<std::size_t>(rank)] = {true, status, std::move(running), Clock::now()};
    const bool is_all_complete =
        std::all_of(statuses_.begin(), statuses_.end(),
                    [](const Heard& each) { return each.has_any && each.status.is_complete; });
    if (is_over_ || !is_all_complete) return;
    for (Rank r = 1; r < context_.size(); ++r) exchange_.send(r, message(Kind::end));
    for (std::size_t r = 0; r < statuses_.size(); ++r) {
      const Status& last = statuses_[r].status;
      if (last.busy_seconds > 0) race_.speeds_[r] = last.num_done / last.busy_seconds;
    }
    end();
  }

  void decide() {
    decided_at_ = Clock::now();
    if (is_forced() || is_over_) return;
    const bool is_any_idle = std::any_of(statuses_.begin(), statuses_.end(), [](const Heard& each) {
      return each.has_any && each.status.is_idle;
    });
    if (!is_any_idle) return;

    schedule::StragglerSnapshot snapshot;
    for (std::uint32_t r = 0; r < statuses_.size(); ++r) add_to(snapshot, r);
    schedule::StragglerOptions rules;
    rules.rule = options_.speculation.rule;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Help> helps;  // by (owner, helper)
    for (const Assignment& each : relieve_stragglers(snapshot, rules)) {
      const std::uint32_t owner = snapshot.tasks[each.task].worker;
      Help& help = helps[{owner, each.worker}];
      help.helper = static_cast<Rank>(each.worker);
      ++(each.kind == Assignment::Kind::steal ? help.num_steals : help.num_clones);
    }
    for (const auto& [ranks, help] : helps) {
      const auto& [owner, helper] = ranks;
      Status& status = statuses_[owner].status;
      status.num_waiting -= std::min(status.num_waiting, help.num_steals);
      statuses_[helper].status.is_idle = false;  // until it tells of itself again
      if (owner == 0) {
        give_as_told(help);
      } else {
        exchange_.send(static_cast<Rank>(owner), message(Kind::help, help));
      }
    }
  }

  /// What is known of a rank, for the policy. Shards weigh alike, so that one is the unit of work.
  void add_to(schedule::StragglerSnapshot& snapshot, std::uint32_t rank) const {
    const auto& [has_any, status, running, at] = statuses_[rank];
    schedule::WorkerView worker;
    worker.speed = race_.speeds_[rank];
    if (!has_any) {
      snapshot.workers.push_back(worker);
      return;
    }
    if (status.busy_seconds > 0 && status.num_done > 0)
      worker.speed = status.num_done / status.busy_seconds;
    worker.num_lanes = status.num_lanes;
    worker.is_idle = status.is_idle;
    snapshot.workers.push_back(worker);
    snapshot.now_seconds = seconds(decided_at_.time_since_epoch());
    schedule::TaskView task;
    task.worker = rank;
    if (status.num_done > 0 && status.busy_seconds > 0) {
      task.state = TaskState::done;
      task.work = status.num_done;
      task.end_seconds = status.busy_seconds;
      snapshot.tasks.push_back(task);
      task.work = 1;
      task.end_seconds = 0;
    }
    task.state = TaskState::running;
    for (const Running& each : running) {
      task.start_seconds = seconds(at.time_since_epoch()) - each.elapsed_seconds;
      task.progress = each.progress;
      task.has_clone = each.has_clone;
      snapshot.tasks.push_back(task);
    }
    task.state = TaskState::waiting;
    task.progress = 0;
    task.has_clone = false;
    const double backlog_seconds =
        worker.speed > 0 ? status.num_waiting / (worker.speed * worker.num_lanes) : 1;
    const double elapsed_seconds = seconds(decided_at_ - began_at_);
    if (backlog_seconds < std::max(least_backlog_seconds, least_backlog_share * elapsed_seconds) ||
        (status.num_done == 0 && elapsed_seconds < least_silence_seconds))
      return;
    // The owner makes the inputs of all helpers one after the other.
    const Taking taking = mean_taking();
    const std::uint32_t num_known = std::min(status.num_known, status.num_waiting);
    task.transfer_seconds = taking.num_idle * status.first_giving_seconds + taking.first_seconds;
    if (backlog_seconds >= least_first_backlog_seconds)
      snapshot.tasks.insert(snapshot.tasks.end(), status.num_waiting - num_known, task);
    task.transfer_seconds = taking.num_idle * status.giving_seconds + taking.seconds;
    snapshot.tasks.insert(snapshot.tasks.end(), num_known, task);  // those at the end go first
  }

  /// Of the ranks that are idle.
  struct Taking {
    std::uint32_t num_idle = 0;
    double first_seconds = 0, seconds = 0;
  };
  Taking mean_taking() const {
    Taking taking;
    for (const Heard& each : statuses_) {
      if (!each.has_any || !each.status.is_idle) continue;
      ++taking.num_idle;
      taking.first_seconds += each.status.first_taking_seconds;
      taking.seconds += each.status.taking_seconds;
    }
    taking.first_seconds /= std::max(taking.num_idle, 1U);
    taking.seconds /= std::max(taking.num_idle, 1U);
    return taking;
  }

  ShardRace& race_;
  Context& context_;
  const RunOptions& options_;
  ShardTasks& tasks_;
  Exchange exchange_;
  const std::thread::id caller_;
  SpeculationReport report_;
  bool is_over_ = false;
  const Clock::time_point began_at_ = Clock::now();
  Clock::time_point polled_at_{}, told_at_ = began_at_, decided_at_ = began_at_;
  std::vector<Heard> statuses_;  // on rank 0, by rank
  std::deque<Arrived> arrived_;
  std::set<Rank> taught_;                    // helpers that were given what another one knows
  std::map<Rank, Clock::time_point> heard_;  // when a helper last asked or had a result

  std::mutex mutex_;
  std::vector<Stage> stages_;                       // by place
  std::vector<std::uint8_t> was_given_;             // by place; a shard is given away once
  std::map<std::size_t, Outstanding> outstanding_;  // by place
  std::size_t next_ = 0;                            // no waiting place before it
  std::list<Attempt> attempts_;
  std::vector<ToCompare> to_compare_;  // by the calling thread alone
  std::vector<std::size_t> losers_;    // places whose clone is to be called off
  std::size_t num_done_ = 0;
  std::uint32_t num_computed_ = 0;  // here
  double busy_seconds_ = 0;
  std::list<HelpingAttempt> asking_;  // accepted, waiting for an answer
  std::list<HelpingAttempt> inputs_;  // ready, not begun
  std::list<HelpingAttempt> helping_;
  std::vector<Result> results_;  // to be sent
};

ShardRace::ShardRace(Context& context, const RunOptions& options)
    : context_(context),
      options_(options),
      speeds_(static_cast<std::size_t>(context.size()), 0.0) {}

SpeculationReport ShardRace::run(ShardTasks& tasks) { return Round(*this, tasks).run(); }

}  // namespace weir
