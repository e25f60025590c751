// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/named_build.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir {

namespace detail {

namespace {

/// Samples a rank gives per rank of the job; more would divide the names more evenly.
constexpr std::size_t samples_per_rank = 64;

/// This rank's numbers of names in the bytewise order of the names.
std::vector<std::uint32_t> sorted_numbers(const NameTable& table) {
  std::vector<std::uint32_t> numbers(table.size());
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  std::sort(numbers.begin(), numbers.end(),
            [&](std::uint32_t a, std::uint32_t b) { return table.name(a) < table.name(b); });
  return numbers;
}

/// The first name of each rank's share but the first's, the same on all ranks: names are divided by
/// a sample of them. Collective.
std::vector<std::string> choose_splitters(Context& context, const NameTable& table,
                                          const std::vector<std::uint32_t>& sorted) {
  const auto num_ranks = static_cast<std::size_t>(context.size());
  std::vector<std::string> samples;
  context.agree([&] {
    const std::size_t count = std::min(sorted.size(), samples_per_rank);
    for (std::size_t i = 0; i < count; ++i) {
      samples.push_back(table.name(sorted[i * sorted.size() / count]));
    }
  });
  samples = all_concatenate(context, std::span<const std::string>(samples));
  std::sort(samples.begin(), samples.end());
  samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
  std::vector<std::string> splitters;
  for (std::size_t r = 1; r < num_ranks && !samples.empty(); ++r) {
    splitters.push_back(samples[r * samples.size() / num_ranks]);
  }
  return splitters;
}

/// Runs of names with whether each is listed, one per rank.
struct NameRun {
  std::vector<std::string> names;
  std::vector<std::uint8_t> is_listed;
};

/// One source's names at their home, ascending.
using HomeRuns = std::vector<NameRun>;

HomeRuns send_to_homes(Context& context, const NameTable& table,
                       const std::vector<std::uint32_t>& sorted,
                       const std::vector<std::string>& splitters) {
  const auto num_ranks = static_cast<std::size_t>(context.size());
  std::vector<std::vector<std::string>> names(num_ranks);
  std::vector<std::vector<std::uint8_t>> is_listed(num_ranks);
  std::size_t home = 0;
  for (const std::uint32_t number : sorted) {
    const std::string& name = table.name(number);
    while (home < splitters.size() && name >= splitters[home]) ++home;
    names[home].push_back(name);
    is_listed[home].push_back(table.is_listed(number) ? 1 : 0);
  }
  auto arrived_names = exchange(context, std::move(names));
  auto arrived_flags = exchange(context, std::move(is_listed));
  HomeRuns runs(num_ranks);
  for (std::size_t r = 0; r < num_ranks; ++r) {
    runs[r] = {std::move(arrived_names[r]), std::move(arrived_flags[r])};
  }
  return runs;
}

/// The union of the runs: names ascending, each once, listed if any run lists it.
NameRun merge(const HomeRuns& runs) {
  std::vector<std::pair<std::string_view, std::uint8_t>> all;
  for (const NameRun& run : runs) {
    for (std::size_t i = 0; i < run.names.size(); ++i) {
      all.emplace_back(run.names[i], run.is_listed[i]);
    }
  }
  std::sort(all.begin(), all.end());
  NameRun merged;
  for (const auto& [name, is_listed] : all) {
    if (merged.names.empty() || merged.names.back() != name) {
      merged.names.emplace_back(name);
      merged.is_listed.push_back(is_listed);
    }
    merged.is_listed.back() |= is_listed;
  }
  return merged;
}

/// Takes names that no list has out of the run, or refuses them, as `unknown` says. Collective.
void settle_unknown_names(Context& context, NameRun& run, UnknownVertices unknown) {
  if (unknown == UnknownVertices::add) return;
  if (unknown == UnknownVertices::refuse) {
    std::vector<std::string> first;
    const auto at = std::find(run.is_listed.begin(), run.is_listed.end(), std::uint8_t{0});
    if (at != run.is_listed.end()) {
      first.push_back(run.names[static_cast<std::size_t>(at - run.is_listed.begin())]);
    }
    first = all_concatenate(context, std::span<const std::string>(first));
    if (!first.empty())
      context.throw_agreed({ErrorCode::input, "found an edge at vertex \"" + first.front() +
                                                  "\"; expected only vertices of the vertex list"});
    return;
  }
  std::size_t num_kept = 0;
  for (std::size_t i = 0; i < run.names.size(); ++i) {
    if (run.is_listed[i] == 0) continue;
    if (num_kept != i) run.names[num_kept] = std::move(run.names[i]);
    ++num_kept;
  }
  run.names.resize(num_kept);
}

/// What a home answers to one run: the id of each of its names.
std::vector<VertexId> ids_of(const NameRun& run, const NumberedNames& numbered) {
  std::vector<VertexId> ids;
  ids.reserve(run.names.size());
  auto at = numbered.names.begin();
  for (const std::string& name : run.names) {
    at = std::lower_bound(at, numbered.names.end(), name);
    const bool is_kept = at != numbered.names.end() && *at == name;
    ids.push_back(is_kept ? numbered.first_id + (at - numbered.names.begin())
                          : NumberedNames::dropped);
  }
  return ids;
}

}  // namespace

std::uint32_t NameTable::add(std::string_view name, bool is_listed) {
  auto at = numbers_.find(name);
  if (at == numbers_.end()) {
    WEIR_EXPECT(names_.size() < most_names, input,
                "found more than 2^32 different names on one rank; use more ranks");
    at = numbers_.emplace(std::string(name), static_cast<std::uint32_t>(names_.size())).first;
    names_.push_back(&at->first);
    is_listed_.push_back(false);
  }
  if (is_listed) is_listed_[at->second] = true;
  return at->second;
}

NumberedNames number_names(Context& context, const NameTable& table, bool has_list,
                           UnknownVertices unknown) {
  std::vector<std::uint32_t> sorted;
  context.agree([&] { sorted = sorted_numbers(table); });
  const auto splitters = choose_splitters(context, table, sorted);
  const HomeRuns runs = send_to_homes(context, table, sorted, splitters);
  NameRun merged;
  context.agree([&] { merged = merge(runs); });
  if (has_list) settle_unknown_names(context, merged, unknown);

  NumberedNames numbered;
  numbered.names = std::move(merged.names);
  const auto counts = all_gather(context, std::uint64_t{numbered.names.size()});
  for (Rank r = 0; r < context.rank(); ++r) {
    numbered.first_id += static_cast<VertexId>(counts[static_cast<std::size_t>(r)]);
  }
  std::vector<std::vector<VertexId>> answers(runs.size());
  context.agree([&] {
    for (std::size_t r = 0; r < runs.size(); ++r) answers[r] = ids_of(runs[r], numbered);
  });
  // The answers of the homes, one after the other, are in the order of `sorted`.
  numbered.ids.resize(table.size(), NumberedNames::dropped);
  std::size_t next = 0;
  for (const auto& ids : exchange(context, std::move(answers))) {
    for (const VertexId id : ids) numbered.ids[sorted[next++]] = id;
  }
  return numbered;
}

std::shared_ptr<const VertexNames> bring_names_to_owners(Context& context, const ShardMap& shards,
                                                         const NumberedNames& numbered) {
  const auto num_ranks = static_cast<std::size_t>(context.size());
  std::vector<std::vector<std::string>> outgoing(num_ranks);
  std::vector<std::vector<VertexId>> first_ids(num_ranks);
  for (std::size_t i = 0; i < numbered.names.size(); ++i) {
    const VertexId id = numbered.first_id + static_cast<VertexId>(i);
    const auto owner = static_cast<std::size_t>(shards.owner_of(id));
    if (outgoing[owner].empty()) first_ids[owner].push_back(id);
    outgoing[owner].push_back(numbered.names[i]);
  }
  // Homes hold ascending runs, so what a rank gets, by source, is one run.
  std::optional<VertexId> first_id;
  for (const auto& ids : exchange(context, std::move(first_ids))) {
    if (!ids.empty() && !first_id) first_id = ids.front();
  }
  std::vector<std::string> names;
  for (auto& run : exchange(context, std::move(outgoing))) {
    std::move(run.begin(), run.end(), std::back_inserter(names));
  }
  return std::make_shared<const VertexNames>(first_id.value_or(0), std::move(names));
}

}  // namespace detail

template <class E>
void NamedGraphBuilder<E>::add_edges(std::span<const NamedEdge<E>> edges) {
  if (edges.empty()) return;
  const std::lock_guard lock(mutex_);
  std::vector<NumberedEdge> numbered;
  numbered.reserve(edges.size());
  for (const NamedEdge<E>& edge : edges) {
    const std::uint32_t source = table_.add(edge.source, false);
    numbered.push_back({source, table_.add(edge.target, false), edge.value});
  }
  edges_.push_back(std::move(numbered));
}

template <class E>
Graph<E> NamedGraphBuilder<E>::finish() {
  try {
    return build();
  } catch (...) {
    context_->rethrow_for_all();
  }
}

template <class E>
Graph<E> NamedGraphBuilder<E>::build() {
  const detail::NumberedNames numbered =
      detail::number_names(*context_, table_, has_vertex_list_, options_.unknown_vertices);
  table_ = {};
  GraphBuilder<E> builder(*context_, options_);
  context_->agree([&] {
    std::vector<VertexId> ids(numbered.names.size());
    std::iota(ids.begin(), ids.end(), numbered.first_id);
    builder.add_vertices(ids);
    for (; !edges_.empty(); edges_.pop_front()) {
      std::vector<Edge<E>> edges;
      edges.reserve(edges_.front().size());
      for (const NumberedEdge& edge : edges_.front()) {
        const VertexId source = numbered.ids[edge.source];
        const VertexId target = numbered.ids[edge.target];
        if (source == detail::NumberedNames::dropped || target == detail::NumberedNames::dropped)
          continue;
        edges.push_back({source, target, edge.value});
      }
      builder.add_edges(edges);
    }
  });
  Graph<E> graph = builder.finish();
  graph.set_names(detail::bring_names_to_owners(*context_, graph.shards(), numbered));
  return graph;
}

template class NamedGraphBuilder<NoValue>;
template class NamedGraphBuilder<double>;

}  // namespace weir
