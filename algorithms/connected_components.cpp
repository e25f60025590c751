// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/connected_components.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace weir {

namespace {

/// The hottest neighbours of each vertex: along them alone most of a large component unites.
constexpr std::size_t num_first = 2;
constexpr Slot num_samples = 1024;
constexpr std::size_t slots_of_run = 1 << 14;

}  // namespace

void ConnectedComponentsProgram::compute(const Block& block, Boundary<Message>& boundary) {
  if (boundary.superstep() == 0) {
    unite_neighbours(block);
    name_sets(block);
  }
  bool has_united = false;
  for (const auto& [slot, names] : boundary.received()) {
    has_united |= hear(slot, names.front());
    if (block.is_ghost(slot)) told_[slot] = names.front();  // its only other holder knows
  }
  if (has_united) compress(block);
  tell(boundary);
}

void ConnectedComponentsProgram::unite_neighbours(const Block& block) {
  sets_.resize(block.num_slots());
  block.for_each_run(block.num_slots(), slots_of_run,
                     [&](std::size_t first, std::size_t last) { sets_.separate(first, last); });
  block.for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      const auto neighbours = block.neighbours(row);
      for (const Slot each : neighbours.first(std::min(num_first, neighbours.size())))
        sets_.unite(block.slot(row), each);
    }
  });
  compress(block);
  // What the largest set still lacks is found from the other ends of its arcs, if they have lists.
  const bool has_other_ends = !block.is_directed() && !block.has_ghosts();
  const Slot skipped = has_other_ends ? find_largest(block) : block.num_slots();
  block.for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      const Slot own = block.slot(row);
      const auto neighbours = block.neighbours(row);
      if (neighbours.size() <= num_first || sets_.root(own) == skipped) continue;
      for (const Slot each : neighbours.subspan(num_first)) sets_.unite(own, each);
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
  if (!block.links().empty()) told_.resize(block.num_slots());
  block.for_each_run(block.num_slots(), slots_of_run, [&](std::size_t first, std::size_t last) {
    for (std::size_t slot = first; slot < last; ++slot) {
      if (sets_.root(static_cast<Slot>(slot)) == slot)
        names_[slot] = block.id(static_cast<Slot>(slot));
    }
  });
  block.for_each_run(block.num_slots(), slots_of_run, [&](std::size_t first, std::size_t last) {
    for (std::size_t slot = first; slot < last; ++slot) {
      const VertexId id = block.id(static_cast<Slot>(slot));
      const std::atomic_ref name(names_[sets_.root(static_cast<Slot>(slot))]);
      for (VertexId now = name.load(std::memory_order_relaxed);
           id < now && !name.compare_exchange_weak(now, id, std::memory_order_relaxed);) {
      }
    }
  });
}

bool ConnectedComponentsProgram::hear(Slot slot, VertexId name) {
  Slot root = sets_.root(slot);
  if (!heard_latest_ || heard_latest_->first != name)  // most names are that of the largest set
    heard_latest_ = *heard_.try_emplace(name, slot).first;
  const Slot other = sets_.root(heard_latest_->second);
  const bool is_new = other != root;
  if (is_new) {
    name = std::min({name, names_[root], names_[other]});
    sets_.unite(root, other);
    root = std::min(root, other);
  }
  names_[root] = std::min(names_[root], name);
  return is_new;
}

void ConnectedComponentsProgram::tell(Boundary<Message>& boundary) {
  for (const Slot slot : boundary.shared_slots()) {
    const VertexId name = names_[sets_.root(slot)];
    if (boundary.superstep() > 0 && told_[slot] == name) continue;
    told_[slot] = name;
    boundary.send(slot, name);
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
