// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/k_core.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

namespace weir {

namespace {

/// What a ghost counts down from: it never has so few left that it would go.
constexpr std::int64_t ghost_start = std::int64_t{1} << 62;
constexpr std::size_t vertices_of_run = 64;

}  // namespace

void KCoreProgram::compute(const Block& block, Boundary<Message>& boundary) {
  if (boundary.superstep() == 0) begin(block);
  if (boundary.agreed() && *boundary.agreed() != level_) begin_level(block, *boundary.agreed());
  hear(block, boundary);
  peel(block);
  if (!touched_.empty()) {
    tell(boundary);
    return boundary.propose(level_);
  }
  std::erase_if(left_, [&](Slot slot) { return num_left_[slot] <= level_; });
  const auto has_less = [&](Slot a, Slot b) { return num_left_[a] < num_left_[b]; };
  const auto least = std::min_element(left_.begin(), left_.end(), has_less);
  if (least != left_.end()) boundary.propose(num_left_[*least]);
}

void KCoreProgram::begin(const Block& block) {
  neighbourhoods_ = Neighbourhoods(block);
  num_left_.assign(block.num_slots(), ghost_start);
  cores_.assign(block.num_rows(), 0);
  for (Row row = 0; row < block.num_rows(); ++row) {
    const Slot slot = block.slot(row);
    num_left_[slot] = static_cast<std::int64_t>(neighbourhoods_.of(row).size());
    left_.push_back(slot);
  }
}

/// Reads all that are left: over all levels as often as the core numbers sum to, which is at most
/// the number of edges.
void KCoreProgram::begin_level(const Block& block, std::int64_t level) {
  level_ = level;
  for (const Slot slot : left_) {
    if (num_left_[slot] > level) continue;
    cores_[block.row(slot)] = level;
    going_.push_back(slot);
  }
}

void KCoreProgram::hear(const Block& block, const Boundary<Message>& boundary) {
  for (const auto& [slot, link, losses] : boundary.received()) {
    const std::int64_t before = num_left_[slot];
    num_left_[slot] -= losses.front();
    if (before <= level_ || num_left_[slot] > level_) continue;
    cores_[block.row(slot)] = level_;
    going_.push_back(slot);
  }
}

void KCoreProgram::peel(const Block& block) {
  std::mutex mutex;
  while (!going_.empty()) {
    std::vector<Slot> all_following;
    block.for_each_run(going_.size(), vertices_of_run, [&](std::size_t first, std::size_t last) {
      std::vector<Slot> follow;
      std::vector<Slot> touched;
      for (std::size_t i = first; i < last; ++i) remove(block, going_[i], follow, touched);
      const std::lock_guard lock(mutex);
      all_following.insert(all_following.end(), follow.begin(), follow.end());
      touched_.insert(touched_.end(), touched.begin(), touched.end());
    });
    going_ = std::move(all_following);
  }
}

/// Takes one from what is left to each neighbour; adds those that go now, and ghosts that lose
/// their first one since `tell`.
void KCoreProgram::remove(const Block& block, Slot slot, std::vector<Slot>& follow,
                          std::vector<Slot>& touched) {
  for (const Slot each : neighbourhoods_.of(block.row(slot))) {
    const std::atomic_ref num_left(num_left_[each]);
    if (num_left.load(std::memory_order_relaxed) <= level_) continue;  // has gone
    const std::int64_t before = num_left.fetch_sub(1, std::memory_order_relaxed);
    if (before == ghost_start) touched.push_back(each);
    if (before != level_ + 1) continue;
    cores_[block.row(each)] = level_;
    follow.push_back(each);
  }
}

void KCoreProgram::tell(Boundary<Message>& boundary) {
  for (const Slot ghost : touched_)
    boundary.send(ghost, ghost_start - std::exchange(num_left_[ghost], ghost_start));
  touched_.clear();
}

RunResult<std::int64_t> k_core(const Graph<NoValue>& graph, const KCoreOptions& options) {
  return run(graph, KCoreProgram{}, options.run);
}
RunResult<std::int64_t> k_core(const Graph<double>& graph, const KCoreOptions& options) {
  return run(graph, KCoreProgram{}, options.run);
}

constinit const Algorithm k_core_algorithm{
    "kcore", "core numbers; direction, loops and repeated edges are ignored", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [values, report] = k_core(typed, {.run = options.run});
        return make_result(values, std::move(report));
      });
    }};

}  // namespace weir
