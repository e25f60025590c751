// SPDX-License-Identifier: Apache-2.0
// An outside project as an MPI job: the README's program on two processes.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <weir/engine/engine.hpp>
#include <weir/engine/runtime/mpi/mpi_session.hpp>

struct Components {  // weakly connected, after [Malewicz10]
  using Value = weir::VertexId;
  using Message = weir::VertexId;
  using Combiner = weir::Min<weir::VertexId>;
  static constexpr weir::Edges along_edges = weir::Edges::both;

  Value init(const weir::VertexInfo& vertex) const { return vertex.id; }

  void compute(weir::VertexHandle auto& v, const weir::Inbox<Message>& inbox) const {
    const Message smallest = inbox.combined(Combiner{});
    if (v.superstep() == 0 || smallest < v.value()) {
      v.value() = std::min(v.value(), smallest);
      v.scatter();
    }
    v.vote_to_halt();
  }
};

int main(int argc, char** argv) {
  weir::MpiSession mpi(argc, argv);
  weir::Context context(mpi.world_port(), {});
  std::vector<weir::Edge<weir::NoValue>> edges;
  if (context.is_root()) edges = {{1, 2}, {3, 2}, {9, 8}};
  const auto graph = weir::build_graph<weir::NoValue>(context, weir::in_memory(edges));
  const auto [components, report] = weir::run(graph, Components{});
  std::vector<weir::VertexId> found;
  for (const auto& [id, component] : components.gather()) found.push_back(component);
  if (context.size() == 2 && found == std::vector<weir::VertexId>{1, 1, 1, 8, 8}) return 0;
  std::fprintf(stderr, "wrong components, or %d ranks where 2 are expected\n", context.size());
  return 1;
}
