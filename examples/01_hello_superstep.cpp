// run: directly
// SPDX-License-Identifier: Apache-2.0
// The smallest whole program: every vertex learns the largest id that can reach it. Three ranks, as
// threads of this process; under mpirun the same program runs on processes (see 02).
#include <cstdio>

#include <weir/engine/engine.hpp>

struct LargestId {
  using Value = weir::VertexId;
  using Message = weir::VertexId;
  using Combiner = weir::Max<weir::VertexId>;

  Value init(const weir::VertexInfo& v) const { return v.id; }

  void compute(weir::VertexHandle auto& v, const weir::Inbox<Message>& inbox) const {
    const auto largest = inbox.combined(Combiner{});
    if (v.superstep() == 0 || largest > v.value()) {
      v.value() = std::max(v.value(), largest);
      v.scatter();  // the value travels along every out-edge, to be read in the next superstep
    }
    v.vote_to_halt();  // until a message wakes it
  }
};

int main() {
  weir::run_in_process(3, {}, [](weir::Context& context) {
    std::vector<weir::Edge<weir::NoValue>> edges;
    if (context.is_root()) edges = {{1, 2}, {2, 3}, {3, 1}, {7, 3}, {5, 4}};
    const auto graph = weir::build_graph<weir::NoValue>(context, weir::in_memory(edges));
    const auto [largest, report] = weir::run(graph, LargestId{});
    const auto all = largest.gather();  // collective: every rank calls it
    if (!context.is_root()) return;
    for (const auto& [id, value] : all)
      std::printf("vertex %lld is reached by %lld\n", static_cast<long long>(id),
                  static_cast<long long>(value));
    std::printf("%llu supersteps\n", static_cast<unsigned long long>(report.num_supersteps));
  });
}
