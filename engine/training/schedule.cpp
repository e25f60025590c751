// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/schedule.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <weir/engine/model/check.hpp>

namespace weir::training {

namespace {

using Ticks = std::vector<Tick>;

/// Appends passes of one rank, each next micro-batch of a chunk in turn.
class TickList {
 public:
  TickList(std::size_t num_chunks, std::size_t num_micro_batches)
      : num_micro_batches_(num_micro_batches), next_(num_chunks) {}

  /// How often the pass was asked for, micro-batches that are not there included.
  std::size_t num(Pass pass, std::size_t chunk = 0) const {
    return next_[chunk][static_cast<std::size_t>(pass)];
  }
  void add(Pass pass, std::size_t chunk = 0) {
    const std::size_t micro_batch = next_[chunk][static_cast<std::size_t>(pass)]++;
    if (micro_batch >= num_micro_batches_) return;
    ticks_.push_back(
        {pass, static_cast<std::uint32_t>(chunk), static_cast<std::uint32_t>(micro_batch)});
  }
  void add(Pass pass, std::size_t chunk, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) add(pass, chunk);
  }
  Ticks take() { return std::move(ticks_); }

 private:
  std::size_t num_micro_batches_;
  std::vector<std::array<std::size_t, 4>> next_;
  Ticks ticks_;
};

Ticks gpipe(std::size_t m) {
  TickList list(1, m);
  list.add(Pass::forward, 0, m);
  list.add(Pass::backward, 0, m);
  return list.take();
}

Ticks one_f_one_b(std::size_t p, std::size_t rank, std::size_t m) {
  TickList list(1, m);
  list.add(Pass::forward, 0, p - 1 - rank);
  for (std::size_t j = 0; j < m; ++j) {
    list.add(Pass::forward);
    list.add(Pass::backward);
  }
  return list.take();
}

/// Virtual micro-batch k is of chunk (k mod p v) / p, and of micro-batch (k / p v) p + k mod p.
Ticks interleaved(std::size_t p, std::size_t rank, std::size_t m, std::size_t v) {
  const auto tick = [&](Pass pass, std::size_t k) {
    const std::size_t chunk = k % (p * v) / p;
    return Tick{pass, static_cast<std::uint32_t>(pass == Pass::forward ? chunk : v - 1 - chunk),
                static_cast<std::uint32_t>(k / (p * v) * p + k % p)};
  };
  const std::size_t num = m * v;
  const std::size_t ahead = std::min(num, 2 * (p - 1 - rank) + (v - 1) * p);
  Ticks ticks;
  for (std::size_t k = 0; k < ahead; ++k) ticks.push_back(tick(Pass::forward, k));
  for (std::size_t k = 0; k < num; ++k) {
    if (ahead + k < num) ticks.push_back(tick(Pass::forward, ahead + k));
    ticks.push_back(tick(Pass::backward, k));
  }
  return ticks;
}

Ticks zb_h1(std::size_t p, std::size_t rank, std::size_t m) {
  TickList list(1, m);
  list.add(Pass::forward, 0, p - 1 - rank);
  for (std::size_t j = 0; j < m; ++j) {
    list.add(Pass::forward);
    list.add(Pass::backward_input);
    if (j >= rank) list.add(Pass::backward_weight);
  }
  list.add(Pass::backward_weight, 0, std::min(rank, m));
  return list.take();
}

/// The pattern of at least 2p-1 micro-batches; those that are not there are left out.
Ticks zb_v(std::size_t p, std::size_t rank, std::size_t m) {
  const std::size_t n = std::max(2 * p - 1, m);
  TickList list(2, m);
  const auto backward = [&](std::size_t chunk) {
    list.add(Pass::backward_input, chunk);
    list.add(Pass::backward_weight, chunk);
  };
  // Until the first micro-batch comes back down the V, until its gradient does, until that turns.
  list.add(Pass::forward, 0, 2 * (p - rank) - 1);
  for (std::size_t i = 0; i < rank; ++i) {
    list.add(Pass::forward, 1);
    list.add(Pass::forward, 0);
  }
  for (std::size_t i = rank; i < p; ++i) {
    list.add(Pass::forward, 1);
    backward(1);
  }
  while (list.num(Pass::forward, 1) < n) {
    if (list.num(Pass::forward, 0) < n) list.add(Pass::forward, 0);
    backward(0);
    list.add(Pass::forward, 1);
    backward(1);
  }
  // Gradients of inputs first; those of weights fill what is left.
  for (std::size_t i = 0; i < rank; ++i) {
    list.add(Pass::backward_input, 0);
    list.add(Pass::backward_input, 1);
  }
  for (std::size_t i = rank; i < p; ++i) backward(0);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{0}}) {
    list.add(Pass::backward_weight, chunk, n - list.num(Pass::backward_weight, chunk));
  }
  return list.take();
}

/// Runs ticks in the order of each rank, each as soon as it can.
class Run {
 public:
  Run(const PipelineSchedule& schedule, const std::function<double(std::size_t, Pass)>& seconds)
      : schedule_(schedule),
        seconds_(seconds),
        next_(schedule.num_ranks()),
        timeline_(schedule.num_ranks()),
        forward_end_(schedule.num_stages() * schedule.num_micro_batches, not_yet),
        backward_end_(forward_end_) {
    for (std::size_t r = 0; r < schedule.num_ranks(); ++r) {
      timeline_[r].reserve(schedule.ticks[r].size());
    }
  }

  std::vector<std::vector<Interval>> run() {
    std::size_t num_done = 0;
    std::size_t num_ticks = 0;
    for (const auto& ticks : schedule_.ticks) num_ticks += ticks.size();
    while (num_done < num_ticks) {
      const std::size_t before = num_done;
      for (std::size_t r = 0; r < schedule_.num_ranks(); ++r) {
        while (next_[r] < schedule_.ticks[r].size() && advance(r)) ++num_done;
      }
      if (num_done == before) refuse_circle();
    }
    return std::move(timeline_);
  }

 private:
  static constexpr double not_yet = -1;

  std::size_t slot(std::size_t stage, std::size_t micro_batch) const {
    return stage * schedule_.num_micro_batches + micro_batch;
  }

  /// What a tick waits for besides its rank: the end of another one, or nothing.
  const double* input_of(std::size_t rank, const Tick& tick) const {
    const std::size_t stage = schedule_.stage_of(rank, tick.chunk);
    if (tick.pass == Pass::forward) {
      return stage == 0 ? nullptr : &forward_end_[slot(stage - 1, tick.micro_batch)];
    }
    if (tick.pass == Pass::backward_weight) return &backward_end_[slot(stage, tick.micro_batch)];
    const bool is_last = stage + 1 == schedule_.num_stages();
    return is_last ? &forward_end_[slot(stage, tick.micro_batch)]
                   : &backward_end_[slot(stage + 1, tick.micro_batch)];
  }

  bool advance(std::size_t rank) {
    const Tick& tick = schedule_.ticks[rank][next_[rank]];
    const std::size_t stage = schedule_.stage_of(rank, tick.chunk);
    const double* input = input_of(rank, tick);
    if (input != nullptr && *input == not_yet) return false;
    const std::size_t here = slot(stage, tick.micro_batch);
    if (tick.pass != Pass::forward && forward_end_[here] == not_yet) return false;
    double start = timeline_[rank].empty() ? 0 : timeline_[rank].back().end;
    if (input != nullptr) start = std::max(start, *input);
    const double end = start + seconds_(stage, tick.pass);
    timeline_[rank].push_back({start, end});
    if (tick.pass == Pass::forward) forward_end_[here] = end;
    if (tick.pass == Pass::backward || tick.pass == Pass::backward_input) backward_end_[here] = end;
    ++next_[rank];
    return true;
  }

  /// All ranks stand. Follows from one to whom it waits for until a rank comes again.
  [[noreturn]] void refuse_circle() const {
    std::size_t rank = 0;
    while (next_[rank] == schedule_.ticks[rank].size()) ++rank;
    std::vector<std::size_t> path;
    while (std::find(path.begin(), path.end(), rank) == path.end()) {
      path.push_back(rank);
      rank = awaited(rank);
    }
    std::string text;
    for (auto at = std::find(path.begin(), path.end(), rank); at != path.end(); ++at) {
      const Tick& tick = schedule_.ticks[*at][next_[*at]];
      text += "rank " + std::to_string(*at) + " at " + std::string(name_of(tick.pass)) + ' ' +
              std::to_string(tick.micro_batch) + " of chunk " + std::to_string(tick.chunk) +
              " waits for ";
    }
    throw Error(ErrorCode::input, "schedule: found ticks that wait for each other: " + text +
                                      "rank " + std::to_string(rank));
  }

  std::size_t awaited(std::size_t rank) const {
    const Tick& tick = schedule_.ticks[rank][next_[rank]];
    const std::size_t stage = schedule_.stage_of(rank, tick.chunk);
    if (tick.pass == Pass::forward) return schedule_.rank_of(stage - 1);
    const bool is_before_its_forward = forward_end_[slot(stage, tick.micro_batch)] == not_yet;
    const bool is_last = stage + 1 == schedule_.num_stages();
    if (is_before_its_forward || is_last || tick.pass == Pass::backward_weight) return rank;
    return schedule_.rank_of(stage + 1);
  }

  const PipelineSchedule& schedule_;
  const std::function<double(std::size_t, Pass)>& seconds_;
  std::vector<std::size_t> next_;
  std::vector<std::vector<Interval>> timeline_;
  std::vector<double> forward_end_;
  std::vector<double> backward_end_;
};

/// Every stage passes every micro-batch once each way.
void check_passes(const PipelineSchedule& schedule) {
  constexpr std::uint8_t forward = 1, input = 2, weight = 4;
  std::vector<std::uint8_t> done(schedule.num_stages() * schedule.num_micro_batches, 0);
  for (std::size_t r = 0; r < schedule.num_ranks(); ++r) {
    for (const Tick& tick : schedule.ticks[r]) {
      const std::string what =
          "schedule: rank " + std::to_string(r) + ": found " + std::string(name_of(tick.pass)) +
          ' ' + std::to_string(tick.micro_batch) + " of chunk " + std::to_string(tick.chunk);
      WEIR_EXPECT(tick.chunk < schedule.num_chunks && tick.micro_batch < schedule.num_micro_batches,
                  input,
                  what + "; expected chunks below " + std::to_string(schedule.num_chunks) +
                      ", micro-batches below " + std::to_string(schedule.num_micro_batches));
      const std::uint8_t part = tick.pass == Pass::forward          ? forward
                                : tick.pass == Pass::backward       ? input | weight
                                : tick.pass == Pass::backward_input ? input
                                                                    : weight;
      std::uint8_t& passed =
          done[schedule.stage_of(r, tick.chunk) * schedule.num_micro_batches + tick.micro_batch];
      WEIR_EXPECT((passed & part) == 0, input, what + " twice; expected it once");
      passed |= part;
    }
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    const std::size_t stage = i / schedule.num_micro_batches;
    WEIR_EXPECT(done[i] == (forward | input | weight), input,
                "schedule: rank " + std::to_string(schedule.rank_of(stage)) + ": found no " +
                    ((done[i] & forward) == 0 ? "forward " : "whole backward ") +
                    std::to_string(i % schedule.num_micro_batches) + " of chunk " +
                    std::to_string(schedule.chunk_of(stage)) + "; expected each micro-batch once");
  }
}

}  // namespace

std::string_view name_of(Pass pass) noexcept {
  switch (pass) {
    case Pass::forward: return "forward";
    case Pass::backward: return "backward";
    case Pass::backward_input: return "backward-input";
    case Pass::backward_weight: return "backward-weight";
  }
  return "?";
}

PipelineSchedule make_schedule(const Layout& layout) {
  WEIR_EXPECT(layout.pipeline > 0 && layout.interleave > 0 && layout.data > 0 &&
                  layout.micro_batch > 0 && layout.global_batch > 0 &&
                  layout.global_batch % (layout.data * layout.micro_batch) == 0,
              input, "schedule: found a batch of no whole micro-batches; expected whole ones");
  const auto p = static_cast<std::size_t>(layout.pipeline);
  const auto m = static_cast<std::size_t>(layout.global_batch / (layout.data * layout.micro_batch));
  const auto v = static_cast<std::size_t>(layout.interleave);
  PipelineSchedule schedule;
  schedule.kind = layout.schedule;
  schedule.num_micro_batches = m;
  schedule.num_chunks = layout.schedule == Schedule::zb_v ? 2 : v;
  WEIR_EXPECT(v == 1 || layout.schedule == Schedule::interleaved, input,
              "schedule: found several chunks per stage; expected them with 'interleaved' alone");
  WEIR_EXPECT(layout.schedule != Schedule::interleaved || m % p == 0, input,
              "schedule: found " + std::to_string(m) +
                  " micro-batches; expected a multiple of the " + std::to_string(p) +
                  " stages, as the interleaved schedule needs it");
  for (std::size_t rank = 0; rank < p; ++rank) {
    switch (layout.schedule) {
      case Schedule::gpipe: schedule.ticks.push_back(gpipe(m)); break;
      case Schedule::one_f_one_b: schedule.ticks.push_back(one_f_one_b(p, rank, m)); break;
      case Schedule::interleaved: schedule.ticks.push_back(interleaved(p, rank, m, v)); break;
      case Schedule::zb_h1: schedule.ticks.push_back(zb_h1(p, rank, m)); break;
      case Schedule::zb_v: schedule.ticks.push_back(zb_v(p, rank, m)); break;
    }
  }
  return schedule;
}

void check(const PipelineSchedule& schedule) {
  WEIR_EXPECT(schedule.num_ranks() > 0 && schedule.num_chunks > 0 &&
                  schedule.num_micro_batches > 0 &&
                  (schedule.kind != Schedule::zb_v || schedule.num_chunks == 2),
              input, "schedule: found no ranks, chunks or micro-batches; expected some of each");
  check_passes(schedule);
  run_ticks(schedule, [](std::size_t, Pass) { return 0.0; });
}

std::vector<std::size_t> most_in_flight(const PipelineSchedule& schedule) {
  std::vector<std::size_t> most(schedule.num_ranks(), 0);
  for (std::size_t r = 0; r < schedule.num_ranks(); ++r) {
    std::size_t now = 0;
    for (const Tick& tick : schedule.ticks[r]) {
      if (tick.pass == Pass::forward) most[r] = std::max(most[r], ++now);
      if (tick.pass == Pass::backward || tick.pass == Pass::backward_weight) --now;
    }
  }
  return most;
}

std::vector<std::vector<Interval>> run_ticks(
    const PipelineSchedule& schedule,
    const std::function<double(std::size_t stage, Pass pass)>& seconds) {
  return Run(schedule, seconds).run();
}

double bubble_seconds(const std::vector<std::vector<Interval>>& timeline) {
  double most = 0;
  for (const auto& intervals : timeline) {
    if (intervals.empty()) continue;
    double waiting = intervals.back().end - intervals.front().start;
    for (const Interval& each : intervals) waiting -= each.end - each.start;
    most = std::max(most, waiting);
  }
  return most;
}

}  // namespace weir::training
