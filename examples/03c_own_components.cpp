// run: mpirun -n 2
// SPDX-License-Identifier: Apache-2.0
// Connected components as one writes them oneself: messages against the edges too.
#include <cstdio>

#include <weir/engine/engine.hpp>
#include <weir/engine/runtime/mpi/mpi_session.hpp>

// [program]
struct ConnectedComponents {
  using Value = weir::VertexId;  // smallest id of the component
  using Message = weir::VertexId;
  using Combiner = weir::Min<weir::VertexId>;
  static constexpr weir::Edges along_edges = weir::Edges::both;

  Value init(const weir::VertexInfo& v) const { return v.id; }

  void compute(weir::VertexHandle auto& v, const weir::Inbox<Message>& inbox) const {
    const auto smallest = inbox.combined(Combiner{});
    if (v.superstep() == 0 || smallest < v.value()) {
      v.value() = std::min(v.value(), smallest);
      v.scatter();
    }
    v.vote_to_halt();
  }
};
// [program]

int main(int argc, char** argv) {
  weir::MpiSession mpi(argc, argv);
  weir::Context context(mpi.world_port(), {.threads = 1});
  std::vector<weir::Edge<weir::NoValue>> edges;
  if (context.is_root()) edges = {{1, 2}, {3, 2}, {10, 11}, {-5, 11}};
  const auto graph = weir::build_graph<weir::NoValue>(context, weir::in_memory(edges));
  const auto [components, report] = weir::run(graph, ConnectedComponents{});
  components.for_each(
      [](weir::VertexId id, auto label) { std::printf("%d %d\n", int(id), int(label)); });
}
