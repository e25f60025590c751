// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/trial_sources.hpp>

#include <algorithm>
#include <limits>
#include <span>

#include <weir/engine/runtime/collectives.hpp>

namespace weir::cli {

namespace {

constexpr std::uint64_t gap_seed = 27491095;

/// The vertices of all ranks as one list, ascending by id: ranks own ascending ranges of ids.
template <class E>
class AscendingVertices {
 public:
  explicit AscendingVertices(const Graph<E>& graph) : graph_(graph) {
    const auto sizes = all_gather(graph.context(), std::uint64_t{graph.vertices()->size()});
    const auto own = static_cast<std::size_t>(graph.context().rank());
    for (std::size_t rank = 0; rank < own; ++rank) begin_ += sizes[rank];
  }

  /// The vertex at a position, if it may be a source. Collective.
  std::vector<TrialSource> at(std::uint64_t position) const {
    const Vertices& vertices = *graph_.vertices();
    std::string name;
    std::vector<VertexId> ids;
    if (position >= begin_ && position - begin_ < vertices.size()) {
      const Row row = vertices.rows_by_id()[static_cast<std::size_t>(position - begin_)];
      if (vertices.out_degree(row) > 0 || graph_.num_arcs() == 0) {
        ids.push_back(vertices.id(row));
        name = graph_.names() ? std::string(graph_.names()->name_of(ids.front()))
                              : std::to_string(ids.front());
      }
    }
    ids = all_concatenate(graph_.context(), std::span<const VertexId>(ids));
    const auto letters = all_concatenate(graph_.context(), std::span<const char>(name));
    if (ids.empty()) return {};
    return {{std::string(letters.begin(), letters.end()), ids.front()}};
  }

 private:
  const Graph<E>& graph_;
  std::uint64_t begin_ = 0;
};

}  // namespace

GapDraw::GapDraw(std::uint64_t num_vertices) : random_(gap_seed), num_vertices_(num_vertices) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t most_32 = std::numeric_limits<std::uint32_t>::max();
  mask_ = num_vertices <= most_32 ? most_32 : most;
  const std::uint64_t rest = most % num_vertices;
  cutoff_ = rest == num_vertices - 1 ? 0 : (most - rest) & mask_;
}

std::uint64_t GapDraw::operator()() {
  std::uint64_t drawn = random_() & mask_;
  while (cutoff_ != 0 && drawn >= cutoff_) drawn = random_() & mask_;
  return drawn % num_vertices_;
}

std::vector<TrialSource> draw_sources(const AnyGraph& any, int count) {
  return std::visit(
      [&](const auto& graph) {
        std::vector<TrialSource> sources;
        if (graph.num_vertices() == 0) return sources;
        const AscendingVertices vertices(graph);
        GapDraw draw(graph.num_vertices());
        while (sources.size() < static_cast<std::size_t>(count)) {
          for (TrialSource& source : vertices.at(draw())) sources.push_back(std::move(source));
        }
        return sources;
      },
      any);
}

}  // namespace weir::cli
