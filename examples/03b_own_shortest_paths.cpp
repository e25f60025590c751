// run: mpirun -n 2
// SPDX-License-Identifier: Apache-2.0
// Shortest paths as one writes them oneself: the message depends on the edge.
#include <array>
#include <cstdio>

#include <weir/engine/engine.hpp>
#include <weir/engine/runtime/mpi/mpi_session.hpp>

// [program]
struct ShortestPaths {
  using Value = double;    // distance from the source
  using Message = double;  // distance by way of one in-edge
  using Combiner = weir::Min<double>;
  static constexpr bool monotone = true;  // early, late or repeated messages change nothing
  weir::VertexId source;
  double delta = 1;  // nearer vertices first, by steps of this length

  double priority(double distance) const { return distance; }
  double bucket_width() const { return delta; }
  std::array<weir::VertexId, 1> starts() const { return {source}; }
  Value init(const weir::VertexInfo&) const { return Combiner::identity(); }  // infinity

  void compute(weir::VertexHandle auto& v, const weir::Inbox<Message>& inbox) const {
    const double distance = inbox.empty() ? 0.0 : inbox.combined(Combiner{});
    if (distance < v.value()) {
      v.value() = distance;
      v.scatter();
    }
    v.vote_to_halt();
  }

  double along(double distance, const weir::WeightedArc auto& arc) const {
    return distance + arc.value;
  }
};
// [program]

int main(int argc, char** argv) {
  weir::MpiSession mpi(argc, argv);
  weir::Context context(mpi.world_port(), {.threads = 1});
  std::vector<weir::Edge<double>> edges;
  if (context.is_root()) edges = {{0, 1, 1}, {0, 3, 3}, {1, 2, 2}, {1, 3, 1}, {3, 4, 4}};
  const auto graph =
      weir::build_graph<double>(context, weir::in_memory(edges), {.is_directed = false});
  const auto [distances, report] = weir::run(graph, ShortestPaths{.source = 1});
  distances.for_each([](weir::VertexId id, double d) { std::printf("%d %g\n", int(id), d); });
}
