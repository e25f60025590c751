// SPDX-License-Identifier: Apache-2.0
// An outside project: a vertex program on two ranks of this process.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <weir/engine/engine.hpp>

struct SmallestInReach {
  using Value = weir::VertexId;
  using Message = weir::VertexId;
  using Combiner = weir::Min<weir::VertexId>;

  Value init(const weir::VertexInfo& v) const { return v.id; }

  void compute(weir::VertexHandle auto& v, const weir::Inbox<Message>& inbox) const {
    const Message smallest = inbox.combined(Combiner{});
    if (v.superstep() == 0 || smallest < v.value()) {
      v.value() = std::min(v.value(), smallest);
      v.scatter();
    }
    v.vote_to_halt();
  }
};

int main() {
  int result = 1;
  weir::run_in_process(2, {}, [&](weir::Context& context) {
    std::vector<weir::Edge<weir::NoValue>> edges;
    if (context.is_root()) edges = {{1, 2}, {2, 3}, {9, 3}};
    const auto graph = weir::build_graph<weir::NoValue>(context, weir::in_memory(edges));
    const auto [smallest, report] = weir::run(graph, SmallestInReach{});
    const auto all = smallest.gather();
    if (context.is_root() && all.size() == 4 && all[2].value == 1) result = 0;
  });
  if (result != 0) std::fputs("vertex 3 is not reached by vertex 1\n", stderr);
  return result;
}
