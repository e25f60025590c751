// run: mpirun -n 2
// SPDX-License-Identifier: Apache-2.0
// PageRank as one writes it oneself.
#include <cstdio>

#include <weir/engine/engine.hpp>
#include <weir/engine/runtime/mpi/mpi_session.hpp>

// [program]
struct PageRank {
  struct DanglingRank : weir::Aggregator<weir::Sum<double>> {};
  using Value = double;    // rank; sums to 1 over the graph
  using Message = double;  // rank arriving along one in-edge
  using Combiner = weir::Sum<double>;
  using Aggregators = weir::Aggregators<DanglingRank>;
  weir::Superstep iterations = 20;

  Value init(const weir::VertexInfo& v) const { return 1.0 / double(v.num_vertices); }

  void compute(weir::VertexHandle auto& v, const weir::Inbox<Message>& inbox) const {
    const double n = double(v.num_vertices());
    if (v.superstep() > 0)
      v.value() = 0.15 / n + 0.85 * (inbox.combined(Combiner{}) + v.aggregated(DanglingRank{}) / n);
    if (v.superstep() == iterations) return v.vote_to_halt();
    if (v.out_degree() > 0)
      v.scatter();
    else
      v.aggregate(DanglingRank{}, v.value());
  }

  double publish(double rank, const weir::VertexInfo& v) const {
    return rank / double(v.out_degree);
  }
};
// [program]

int main(int argc, char** argv) {
  weir::MpiSession mpi(argc, argv);
  weir::Context context(mpi.world_port(), {.threads = 1});
  std::vector<weir::Edge<weir::NoValue>> edges;
  if (context.is_root()) edges = {{1, 2}, {2, 3}};
  const auto graph = weir::build_graph<weir::NoValue>(context, weir::in_memory(edges));
  const auto [ranks, report] = weir::run(graph, PageRank{});
  ranks.for_each([](weir::VertexId id, double rank) { std::printf("%d %.9f\n", int(id), rank); });
}
