// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/serial_check.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/number_text.hpp>

namespace weir::cli {

namespace {

struct GatheredArc {
  VertexId source = 0;
  VertexId target = 0;
  double value = 1;
};

/// Everything that ranks have, on root, in rank order.
template <Transferable T>
std::vector<T> gather_on_root(Context& context, std::vector<T> own) {
  std::vector<std::vector<T>> outgoing(static_cast<std::size_t>(context.size()));
  outgoing.front() = std::move(own);
  std::vector<T> all;
  for (std::vector<T>& part : exchange(context, std::move(outgoing))) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// The arcs that end at own vertices.
template <class E>
std::vector<GatheredArc> own_arcs(const Graph<E>& graph) {
  const Side<E>& side = graph.side_for(Edges::out);
  const Vertices& vertices = *graph.vertices();
  std::vector<GatheredArc> arcs;
  for (Row row = 0; row < vertices.size(); ++row) {
    for (std::uint64_t i = side.first(row); i < side.last(row); ++i) {
      GatheredArc& arc = arcs.emplace_back();
      arc.source = side.slots.ids[side.neighbours[i]];
      arc.target = vertices.id(row);
      if constexpr (!std::is_same_v<E, NoValue>) arc.value = static_cast<double>(side.values[i]);
    }
  }
  return arcs;
}

std::vector<VertexId> own_ids(const Vertices& vertices) {
  std::vector<VertexId> ids;
  for (const Row row : vertices.rows_by_id()) ids.push_back(vertices.id(row));
  return ids;
}

/// A line per own vertex, ascending by id; vertices in values are numbers.
std::vector<char> own_lines(const AlgorithmResult& result) {
  const AppendId in_decimal = [](VertexId id, std::string& text) { io::append_number(text, id); };
  std::string text;
  for (const Row row : result.vertices->rows_by_id()) {
    result.append_value(row, in_decimal, text);
    text += '\n';
  }
  return {text.begin(), text.end()};
}

template <class T>
std::vector<std::string> texts_of(const std::vector<T>& values) {
  std::vector<std::string> texts(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) io::append_number(texts[i], values[i]);
  return texts;
}

/// A whole graph, vertices numbered in ascending order of id.
struct WholeGraph {
  std::vector<VertexId> ids;
  std::vector<GatheredArc> arcs;        // ascending by source
  std::vector<std::size_t> first_arcs;  // by source, and one more
  std::vector<std::size_t> targets;     // by arc

  std::size_t index_of(VertexId id) const {
    return static_cast<std::size_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  }
  void index() {
    std::sort(arcs.begin(), arcs.end(),
              [](const auto& left, const auto& right) { return left.source < right.source; });
    first_arcs.assign(ids.size() + 1, 0);
    for (const GatheredArc& arc : arcs) {
      ++first_arcs[index_of(arc.source) + 1];
      targets.push_back(index_of(arc.target));
    }
    std::partial_sum(first_arcs.begin(), first_arcs.end(), first_arcs.begin());
  }
};

std::vector<std::string> levels(const WholeGraph& graph, const AlgorithmOptions& options) {
  constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> levels(graph.ids.size(), unreached);
  std::queue<std::size_t> queue;
  for (const VertexId source : options.sources) {
    levels[graph.index_of(source)] = 0;
    queue.push(graph.index_of(source));
  }
  for (; !queue.empty(); queue.pop()) {
    const std::size_t v = queue.front();
    for (std::size_t i = graph.first_arcs[v]; i < graph.first_arcs[v + 1]; ++i) {
      const std::size_t u = graph.targets[i];
      if (levels[u] != unreached) continue;
      levels[u] = levels[v] + 1;
      queue.push(u);
    }
  }
  return texts_of(levels);
}

std::vector<std::string> distances(const WholeGraph& graph, const AlgorithmOptions& options) {
  std::vector<double> distances(graph.ids.size(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (const VertexId source : options.sources) {
    distances[graph.index_of(source)] = 0;
    queue.emplace(0.0, graph.index_of(source));
  }
  while (!queue.empty()) {
    const auto [distance, v] = queue.top();
    queue.pop();
    if (distance > distances[v]) continue;
    for (std::size_t i = graph.first_arcs[v]; i < graph.first_arcs[v + 1]; ++i) {
      const double candidate = distance + graph.arcs[i].value;
      if (candidate >= distances[graph.targets[i]]) continue;
      distances[graph.targets[i]] = candidate;
      queue.emplace(candidate, graph.targets[i]);
    }
  }
  return texts_of(distances);
}

std::vector<std::string> components(const WholeGraph& graph, const AlgorithmOptions&) {
  std::vector<std::size_t> parents(graph.ids.size());
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  const auto root_of = [&](std::size_t v) {
    while (parents[v] != v) v = parents[v] = parents[parents[v]];
    return v;
  };
  for (std::size_t v = 0; v < graph.ids.size(); ++v) {
    for (std::size_t i = graph.first_arcs[v]; i < graph.first_arcs[v + 1]; ++i) {
      const auto [smaller, larger] = std::minmax({root_of(v), root_of(graph.targets[i])});
      parents[larger] = smaller;
    }
  }
  std::vector<VertexId> labels(graph.ids.size());
  for (std::size_t v = 0; v < labels.size(); ++v) labels[v] = graph.ids[root_of(v)];
  return texts_of(labels);
}

/// From 1/n each; what vertices without out-arcs hold goes to all alike; shares by edge value.
std::vector<std::string> ranks(const WholeGraph& graph, const AlgorithmOptions& options) {
  constexpr Superstep default_iterations = 20;
  const std::size_t n = graph.ids.size();
  std::vector<double> totals(n);
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t i = graph.first_arcs[v]; i < graph.first_arcs[v + 1]; ++i) {
      totals[v] += graph.arcs[i].value;
    }
  }
  std::vector<double> ranks(n, 1 / static_cast<double>(n));
  for (Superstep step = 0; step < options.iterations.value_or(default_iterations); ++step) {
    std::vector<double> arriving(n);
    double dangling = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if (totals[v] == 0) dangling += ranks[v];
      for (std::size_t i = graph.first_arcs[v]; totals[v] > 0 && i < graph.first_arcs[v + 1]; ++i) {
        arriving[graph.targets[i]] += ranks[v] * graph.arcs[i].value / totals[v];
      }
    }
    for (std::size_t v = 0; v < n; ++v) {
      ranks[v] = (1 - options.damping) / static_cast<double>(n) +
                 options.damping * (arriving[v] + dangling / static_cast<double>(n));
    }
  }
  return texts_of(ranks);
}

struct Textbook {
  std::vector<std::string> (*values)(const WholeGraph&, const AlgorithmOptions&) = nullptr;
  double tolerance = 0;  ///< Of a value, relative; 0: the texts are equal.

  bool accepts(const std::string& found, const std::string& expected) const {
    if (tolerance == 0) return found == expected;
    const auto number = io::parse_value(found);
    const double right = io::parse_value(expected).value();
    return number && std::abs(*number - right) <= tolerance * std::abs(right);
  }
};

Textbook textbook(std::string_view algorithm) {
  constexpr double rank_tolerance = 1e-9;  // hubs sum up their ranks in another order
  if (algorithm == "bfs") return {levels};
  if (algorithm == "sssp") return {distances};
  if (algorithm == "wcc") return {components};
  if (algorithm == "pagerank") return {ranks, rank_tolerance};
  return {};
}

}  // namespace

struct SerialCheck::State {
  Context& context;
  WholeGraph graph{};
};

bool SerialCheck::knows(std::string_view algorithm, const AlgorithmOptions& options) {
  if (algorithm == "pagerank" && (options.tolerance || !options.sources.empty())) return false;
  return textbook(algorithm).values != nullptr;
}

SerialCheck::SerialCheck(const AnyGraph& any) {
  std::visit(
      [&](const auto& graph) {
        state_ = std::make_unique<State>(State{graph.context()});
        state_->graph.ids = gather_on_root(graph.context(), own_ids(*graph.vertices()));
        state_->graph.arcs = gather_on_root(graph.context(), own_arcs(graph));
        state_->graph.index();
      },
      any);
}

SerialCheck::~SerialCheck() = default;

void SerialCheck::expect_right(std::string_view algorithm, const AlgorithmOptions& options,
                               const AlgorithmResult& result) const {
  const std::vector<char> found = gather_on_root(state_->context, own_lines(result));
  state_->context.agree([&] {
    if (!state_->context.is_root()) return;
    const std::vector<VertexId>& ids = state_->graph.ids;
    const Textbook book = textbook(algorithm);
    const std::vector<std::string> expected = book.values(state_->graph, options);
    auto begin = found.begin();
    for (std::size_t v = 0; v < ids.size(); ++v) {
      const auto end = std::find(begin, found.end(), '\n');
      const std::string value(begin, end);
      WEIR_EXPECT(book.accepts(value, expected[v]), internal,
                  std::string(algorithm) + ": vertex " + std::to_string(ids[v]) + ": found " +
                      value + "; expected " + expected[v] + " by a serial algorithm");
      begin = end == found.end() ? end : end + 1;
    }
  });
}

}  // namespace weir::cli
