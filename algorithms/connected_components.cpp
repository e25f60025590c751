// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/connected_components.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <set>

#include <weir/engine/superstep/marks.hpp>

namespace weir {

namespace {

/// The hottest neighbours of each vertex: along them alone most of a large component unites.
constexpr std::size_t num_first = 2;
/// So many of a rank's own shared vertices tell each other rank that they are in its largest set.
constexpr std::ptrdiff_t num_signs = 16;
constexpr Slot num_samples = 1024;
constexpr std::size_t slots_of_run = 1 << 14;

}  // namespace

void ConnectedComponentsProgram::compute(const Block& block, Boundary<Message>& boundary) {
  if (boundary.superstep() == 0) {
    unite_neighbours(block);
    name_sets(block);
    tell_owners(block, boundary);
    return;
  }
  hear(block, boundary);
  if (boundary.superstep() == 1 && largest_ && !is_linked(block, boundary)) unite_skipped(block);
  tell_news(boundary);
}

void ConnectedComponentsProgram::unite_neighbours(const Block& block) {
  sets_.resize(block.num_slots());
  for (const GhostLink& link : block.links()) {
    for (const Slot ghost : link.received) sets_.start(ghost, ghost);
  }
  block.for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      const Slot own = block.slot(row);
      const auto neighbours = block.neighbours(row);
      sets_.start(own, neighbours.empty() ? own : std::min(own, neighbours.front()));
    }
  });
  compress(block);  // else the next arc would have to walk along long chains
  block.for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      const Slot own = block.slot(row);
      const auto neighbours = block.neighbours(row);
      if (!neighbours.empty() && neighbours.front() > own) sets_.unite(own, neighbours.front());
      if (neighbours.size() > 1) sets_.unite(own, neighbours[1]);
    }
  });
  compress(block);
  if (!block.is_directed()) largest_ = find_largest(block);  // else arcs have no other end
  const Slot skipped = largest_.value_or(block.num_slots());
  block.for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      const Slot own = block.slot(row);
      if (sets_.root(own) == skipped) continue;
      const auto neighbours = block.neighbours(row);
      for (std::size_t i = num_first; i < neighbours.size(); ++i) sets_.unite(own, neighbours[i]);
    }
  });
  compress(block);
}

void ConnectedComponentsProgram::compress(const Block& block) {
  block.for_each_run(block.num_slots(), slots_of_run,
                     [&](std::size_t first, std::size_t last) { sets_.compress(first, last); });
}

/// The root that most of a sample has: of the largest set, most likely.
Slot ConnectedComponentsProgram::find_largest(const Block& block) const {
  std::unordered_map<Slot, Slot> counts;
  const Slot step = std::max<Slot>(block.num_slots() / num_samples, 1);
  Slot largest = 0;
  for (std::size_t slot = 0; slot < block.num_slots(); slot += step) {
    const Slot root = sets_.root(static_cast<Slot>(slot));
    if (++counts[root] > counts[largest]) largest = root;
  }
  return largest;
}

void ConnectedComponentsProgram::name_sets(const Block& block) {
  names_.resize(block.num_slots());
  block.for_each_run(block.num_slots(), slots_of_run, [&](std::size_t first, std::size_t last) {
    for (std::size_t slot = first; slot < last; ++slot) {
      if (sets_.root(static_cast<Slot>(slot)) == slot)
        names_[slot] = block.id(static_cast<Slot>(slot));
    }
  });
  const auto lower = [&](Slot root, VertexId id) {
    const std::atomic_ref name(names_[root]);
    for (VertexId now = name.load(std::memory_order_relaxed);
         id < now && !name.compare_exchange_weak(now, id, std::memory_order_relaxed);) {
    }
  };
  block.for_each_run(block.num_slots(), slots_of_run, [&](std::size_t first, std::size_t last) {
    // Slots of one set follow each other, mostly.
    Slot root = sets_.root(static_cast<Slot>(first));
    VertexId smallest = block.id(static_cast<Slot>(first));
    for (std::size_t slot = first + 1; slot < last; ++slot) {
      const Slot next = sets_.root(static_cast<Slot>(slot));
      const VertexId id = block.id(static_cast<Slot>(slot));
      if (next == root) {
        smallest = std::min(smallest, id);
      } else {
        lower(root, smallest);
        root = next;
        smallest = id;
      }
    }
    lower(root, smallest);
  });
}

void ConnectedComponentsProgram::tell_owners(const Block& block, Boundary<Message>& boundary) {
  if (!block.has_ghosts()) return;
  LargeVector<Mark> has_more(block.num_slots());  // roots of sets of more than one slot
  for (std::size_t slot = 0; slot < block.num_slots(); ++slot) {
    const Slot root = sets_.root(static_cast<Slot>(slot));
    if (root != slot) has_more[root] = Mark::set;
  }
  for (const GhostLink& link : block.links()) {
    std::unordered_set<VertexId> names;
    std::optional<VertexId> latest;
    for (const Slot ghost : link.received) {
      const Slot root = sets_.root(ghost);
      if (has_more[root] == Mark::unset) continue;  // nobody here asks for its name
      const VertexId name = names_[root];
      boundary.send(ghost, {name, is_in_largest(ghost)});
      if (latest == name) continue;
      latest = name;
      if (names.insert(name).second) told_.push_back({ghost, name});
    }
  }
  // That the largest sets are one is seen from either end of an arc, and more ranks see both.
  std::set<Slot> signs;
  for (const GhostLink& link : block.links()) {
    for (auto sign = link.sent.begin();
         sign != link.sent.end() && sign - link.sent.begin() < num_signs; ++sign) {
      if (is_in_largest(*sign)) signs.insert(*sign);
    }
  }
  for (const Slot sign : signs) boundary.send(sign, {names_[sets_.root(sign)], true});
}

void ConnectedComponentsProgram::hear(const Block& block, const Boundary<Message>& boundary) {
  heard_from_.resize(block.links().size());
  bool has_united = false;
  std::optional<std::pair<std::size_t, VertexId>> latest;
  for (const auto& [slot, link, heard] : boundary.received()) {
    const VertexId name = heard.front().name;
    has_united |= hear_name(slot, name);
    const std::pair source(link, name);
    if (latest == source || block.is_ghost(slot)) continue;
    latest = source;
    if (heard_from_[link].insert(name).second) told_.push_back({slot, name});
  }
  if (has_united) compress(block);
}

bool ConnectedComponentsProgram::hear_name(Slot slot, VertexId name) {
  if (!heard_latest_ || heard_latest_->first != name)  // most names are that of the largest set
    heard_latest_ = *heard_.try_emplace(name, slot).first;
  const Slot root = sets_.root(slot);
  names_[root] = std::min(names_[root], name);
  if (root == sets_.root(heard_latest_->second)) return false;
  unite(slot, heard_latest_->second);
  return true;
}

void ConnectedComponentsProgram::unite(Slot slot, Slot other) {
  const Slot a = sets_.root(slot);
  const Slot b = sets_.root(other);
  names_[std::min(a, b)] = std::min(names_[a], names_[b]);
  sets_.unite(a, b);
}

bool ConnectedComponentsProgram::is_linked(const Block& block,
                                           const Boundary<Message>& boundary) const {
  std::vector<bool> is_seen(block.links().size());
  for (const auto& [slot, link, heard] : boundary.received()) {
    // All that is in the largest set of one rank has become one set here.
    if (!is_seen[link] && heard.front().is_of_largest) is_seen[link] = is_in_largest(slot);
  }
  return std::all_of(is_seen.begin(), is_seen.end(), [](bool is) { return is; });
}

void ConnectedComponentsProgram::unite_skipped(const Block& block) {
  LargeVector<Mark> is_met(block.num_slots());
  block.for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      if (!is_in_largest(block.slot(row))) continue;
      for (const Slot each : block.neighbours(row)) {
        if (block.is_ghost(each) && !is_in_largest(each))
          std::atomic_ref(is_met[each]).store(Mark::set, std::memory_order_relaxed);
      }
    }
  });
  for_each_set(is_met, [&](std::size_t ghost) {
    unite(static_cast<Slot>(ghost), *largest_);
    told_.push_back({static_cast<Slot>(ghost), std::nullopt});
  });
  compress(block);
}

void ConnectedComponentsProgram::tell_news(Boundary<Message>& boundary) {
  for (Told& each : told_) {
    const VertexId name = names_[sets_.root(each.slot)];
    if (each.name == name) continue;
    each.name = name;
    boundary.send(each.slot, {name, false});
  }
}

RunResult<VertexId> connected_components(const Graph<NoValue>& graph,
                                         const ConnectedComponentsOptions& options) {
  return run(graph, ConnectedComponentsProgram{}, options.run);
}
RunResult<VertexId> connected_components(const Graph<double>& graph,
                                         const ConnectedComponentsOptions& options) {
  return run(graph, ConnectedComponentsProgram{}, options.run);
}

std::uint64_t num_components(const VertexValues<VertexId>& labels) {
  std::uint64_t num_own = 0;
  labels.for_each([&](VertexId id, VertexId label) { num_own += id == label ? 1 : 0; });
  return all_fold(labels.context(), Sum<std::uint64_t>{}, num_own);
}

constinit const Algorithm connected_components_algorithm{
    "wcc", "smallest id of the weakly connected component", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [labels, report] = connected_components(typed, {options.run});
        AlgorithmResult result = make_result(labels, std::move(report), Values::vertex_ids);
        result.facts.emplace_back("components", std::to_string(num_components(labels)));
        return result;
      });
    }};

}  // namespace weir
