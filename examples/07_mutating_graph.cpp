// run: mpirun -n 2
// SPDX-License-Identifier: Apache-2.0
// A program that changes the topology: vertices with fewer than k neighbours are peeled off until
// the k-core remains.
#include <cstdio>

#include <weir/engine/engine.hpp>
#include <weir/engine/runtime/mpi/mpi_session.hpp>

struct KCore {
  using Value = std::uint64_t;    // neighbours left
  using Message = std::uint64_t;  // neighbours lost in the last superstep
  using Combiner = weir::Sum<std::uint64_t>;
  static constexpr bool mutates_topology = true;
  std::uint64_t k = 3;

  Value init(const weir::VertexInfo& v) const { return v.out_degree; }

  void compute(weir::VertexHandle auto& v, const weir::Inbox<Message>& lost) const {
    v.value() -= lost.combined(Combiner{});
    if (v.value() < k) {
      v.scatter();  // read by the neighbours before this vertex goes
      v.remove();
    }
    v.vote_to_halt();
  }

  std::uint64_t publish(std::uint64_t, const weir::VertexInfo&) const { return 1; }
};

int main(int argc, char** argv) {
  weir::MpiSession mpi(argc, argv);
  weir::Context context(mpi.world_port(), {.threads = 1});
  std::vector<weir::Edge<weir::NoValue>> edges;  // a clique of four, a triangle hung on it, a tail
  if (context.is_root())
    edges = {{1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}, {4, 5}, {5, 6}, {6, 4}, {6, 7}};
  auto graph =
      weir::build_graph<weir::NoValue>(context, weir::in_memory(edges), {.is_directed = false});
  const auto [neighbours, report] = weir::run(graph, KCore{.k = 3});
  if (context.is_root())
    std::printf("%d vertices and %d edges are left\n", int(graph.num_vertices()),
                int(graph.num_edges()));
  neighbours.for_each(
      [](weir::VertexId id, auto n) { std::printf("%d has %d\n", int(id), int(n)); });
  return graph.num_vertices() == 4 ? 0 : 1;
}
