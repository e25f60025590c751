// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/downsets.hpp>

#include <algorithm>
#include <unordered_map>

namespace weir::training {

bool OperatorSet::is_subset_of(const OperatorSet& other) const {
  for (std::size_t w = 0; w < words_.size(); ++w) {
    if ((words_[w] & ~other.words_[w]) != 0) return false;
  }
  return true;
}

void OperatorSet::unite(const OperatorSet& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
}

std::size_t OperatorSet::size() const {
  std::size_t size = 0;
  for (const std::uint64_t word : words_) size += static_cast<std::size_t>(std::popcount(word));
  return size;
}

std::uint64_t OperatorSet::hash() const {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words_) {  // the finaliser of [Steele14] over a running sum
    hash = (hash ^ word) + 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  }
  return hash;
}

namespace {

struct HashOfSet {
  std::size_t operator()(const OperatorSet& set) const { return set.hash(); }
};

bool has_consumer_outside(const OperatorGraph& graph, std::size_t i, const OperatorSet& members) {
  const auto& consumers = graph.consumers(i);
  return std::any_of(consumers.begin(), consumers.end(),
                     [&](std::size_t consumer) { return !members.contains(consumer); });
}

bool has_all_producers(const OperatorGraph& graph, std::size_t i, const OperatorSet& members) {
  const auto& producers = graph.producers(i);
  return std::all_of(producers.begin(), producers.end(),
                     [&](std::size_t producer) { return members.contains(producer); });
}

}  // namespace

Downset make_downset(const OperatorGraph& graph, OperatorSet members) {
  Downset downset;
  members.for_each([&](std::size_t i) {
    const Operator& op = graph[i];
    ++downset.num_members;
    downset.seconds += op.seconds();
    downset.parameter_bytes += op.parameter_bytes;
    downset.activation_bytes += op.activation_bytes;
    if (has_consumer_outside(graph, i, members)) downset.boundary_bytes += op.output_bytes;
  });
  downset.members = std::move(members);
  return downset;
}

std::optional<std::vector<Downset>> all_downsets(const OperatorGraph& graph, std::size_t most) {
  graph.topological_order();  // refuses cycles
  std::unordered_map<OperatorSet, std::size_t, HashOfSet> known;
  std::vector<OperatorSet> found{OperatorSet(graph.size())};
  known.emplace(found.front(), 0);
  // One operator is added at a time, so the sets come in the order of their sizes.
  for (std::size_t next = 0; next < found.size(); ++next) {
    if (found.size() > most) return std::nullopt;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const OperatorSet& members = found[next];
      if (members.contains(i) || !has_all_producers(graph, i, members)) continue;
      OperatorSet larger = members;
      larger.insert(i);
      if (known.emplace(larger, found.size()).second) found.push_back(std::move(larger));
    }
  }
  std::vector<Downset> downsets;
  downsets.reserve(found.size());
  for (OperatorSet& members : found) downsets.push_back(make_downset(graph, std::move(members)));
  return downsets;
}

std::vector<OperatorSet> ancestors_of(const OperatorGraph& graph) {
  std::vector<OperatorSet> ancestors(graph.size(), OperatorSet(graph.size()));
  for (const std::size_t i : graph.topological_order()) {
    ancestors[i].insert(i);
    for (const std::size_t producer : graph.producers(i)) ancestors[i].unite(ancestors[producer]);
  }
  return ancestors;
}

std::optional<std::vector<Downset>> grown_downsets(const OperatorGraph& graph, std::size_t most) {
  const std::vector<OperatorSet> ancestors = ancestors_of(graph);
  std::vector<OperatorSet> found;
  std::unordered_map<OperatorSet, std::size_t, HashOfSet> known;
  const auto add = [&](const OperatorSet& members, std::size_t i) {
    OperatorSet larger = members;
    larger.unite(ancestors[i]);
    if (known.emplace(larger, found.size()).second) found.push_back(std::move(larger));
  };
  const auto add_next_source = [&](const OperatorSet& members) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (!members.contains(i) && graph.producers(i).empty()) return add(members, i);
    }
  };
  add_next_source(OperatorSet(graph.size()));
  for (std::size_t next = 0; next < found.size(); ++next) {
    if (found.size() > most) return std::nullopt;
    const OperatorSet members = found[next];
    bool has_grown = false;
    members.for_each([&](std::size_t i) {
      for (const std::size_t consumer : graph.consumers(i)) {
        if (members.contains(consumer)) continue;
        add(members, consumer);
        has_grown = true;
      }
    });
    if (!has_grown) add_next_source(members);
  }
  std::vector<Downset> downsets;
  for (OperatorSet& members : found) downsets.push_back(make_downset(graph, std::move(members)));
  std::stable_sort(downsets.begin(), downsets.end(), [](const Downset& a, const Downset& b) {
    return a.num_members < b.num_members;
  });
  return downsets;
}

std::vector<Downset> prefix_downsets(const OperatorGraph& graph, std::size_t most) {
  const std::vector<std::size_t> order = graph.topological_order();
  const double step =
      graph.total().seconds() / static_cast<double>(std::max<std::size_t>(most, 3) - 2);
  const bool takes_all = order.size() < most;
  std::vector<Downset> downsets;
  OperatorSet members(graph.size());
  downsets.push_back(make_downset(graph, members));
  double seconds = 0;
  double next_seconds = step;
  for (std::size_t n = 0; n < order.size(); ++n) {
    members.insert(order[n]);
    seconds += graph[order[n]].seconds();
    if (!takes_all && seconds < next_seconds && n + 1 < order.size()) continue;
    while (next_seconds <= seconds && step > 0) next_seconds += step;
    downsets.push_back(make_downset(graph, members));
  }
  return downsets;
}

std::vector<std::size_t> difference(const OperatorSet& larger, const OperatorSet& smaller) {
  std::vector<std::size_t> members;
  larger.for_each([&](std::size_t i) {
    if (!smaller.contains(i)) members.push_back(i);
  });
  return members;
}

}  // namespace weir::training
