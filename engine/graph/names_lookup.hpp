// SPDX-License-Identifier: Apache-2.0
// Names of vertices of other ranks.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/engine/graph/graph.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir {

/// Names by id, for ids that one rank asked about.
class FetchedNames {
 public:
  /// Asks the owners for the names of `ids`, in any order, with repeats. Collective.
  template <class E>
  static FetchedNames fetch(const Graph<E>& graph, std::vector<VertexId> ids);

  /// Name of an id that was asked about; empty when it is no vertex of the graph.
  std::string_view find(VertexId id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (at == ids_.end() || *at != id) return {};
    return names_[static_cast<std::size_t>(at - ids_.begin())];
  }

 private:
  std::vector<VertexId> ids_;       // ascending
  std::vector<std::string> names_;  // of ids_; a vertex's name is never empty
};

template <class E>
FetchedNames FetchedNames::fetch(const Graph<E>& graph, std::vector<VertexId> ids) {
  Context& context = graph.context();
  FetchedNames fetched;
  fetched.ids_ = std::move(ids);
  std::vector<VertexId>& wanted = fetched.ids_;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  // Owners ascend with ids, so the answers come back in the order of the questions.
  std::vector<std::vector<VertexId>> questions(static_cast<std::size_t>(context.size()));
  for (const VertexId id : wanted) {
    questions[static_cast<std::size_t>(graph.shards().owner_of(id))].push_back(id);
  }
  std::vector<std::vector<std::string>> answers;
  for (const auto& asked : exchange(context, std::move(questions))) {
    auto& answer = answers.emplace_back();
    for (const VertexId id : asked) {
      const bool is_vertex = graph.vertices()->find(id).has_value();
      answer.emplace_back(is_vertex ? graph.names()->name_of(id) : std::string_view{});
    }
  }
  for (auto& answer : exchange(context, std::move(answers))) {
    std::move(answer.begin(), answer.end(), std::back_inserter(fetched.names_));
  }
  return fetched;
}

/// Ids of the vertices of these names, the same list on every rank; empty where there is none.
/// Collective.
template <class E>
std::vector<std::optional<VertexId>> find_named(const Graph<E>& graph,
                                                std::span<const std::string> names) {
  struct Found {
    std::uint64_t index;
    VertexId id;
  };
  std::vector<Found> own;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!graph.names()) break;
    if (const auto id = graph.names()->find(names[i])) own.push_back({i, *id});
  }
  std::vector<std::optional<VertexId>> ids(names.size());
  for (const Found& found : all_concatenate(graph.context(), std::span<const Found>(own))) {
    ids[found.index] = found.id;
  }
  return ids;
}

}  // namespace weir
