// SPDX-License-Identifier: Apache-2.0
// ranks: 1 2 3 4 7
// The reference graphs under MPI: the results that lie beside them, and the bits of one rank alone.
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/runtime/mpi/mpi_comm.hpp>
#include <weir/tests/algorithms/reference_graphs.hpp>
#include <weir/tests/launch/mpi_world.hpp>

namespace weir::test {
namespace {

/// Runs jobs on the ranks of the world; rank 0 compares them with what it finds alone.
class World {
 public:
  World() {
    for (const int threads : {1, 2})
      contexts_.push_back(std::make_unique<Context>(mpi_session().world_port(), watched(threads)));
  }

  bool is_judge() const { return mpi_session().rank() == 0; }

  template <class E, class Job>
  auto run(const TestGraph& graph, const Job& job, bool is_large) const {
    MatrixResult<JobValue<E, Job>> alone;
    if (is_judge()) alone = run_matrix<E>(graph, job, {{1, 1, Direction::automatic}});
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      const int threads = static_cast<int>(i) + 1;
      if (threads > 1 && is_large) break;
      const Graph<E> loaded = engine_graph<E>(*contexts_[i], graph);
      for (const auto direction : {Direction::automatic, Direction::push, Direction::pull}) {
        if (threads > 1 && direction != Direction::automatic) break;
        SCOPED_TRACE(text_of({mpi_session().size(), threads, direction}) + " against one rank");
        const auto found = run_cell<E>(loaded, job, {.direction = direction});
        if (is_judge()) detail::expect_same(found, alone);
      }
    }
    return alone;
  }

 private:
  std::vector<std::unique_ptr<Context>> contexts_;  // [threads - 1]
};

class MpiReferenceGraphs : public reference::ReferenceData {};

TEST_F(MpiReferenceGraphs, OfGraphalyticsAreMet) {
  const World world;
  for (const ReferenceGraph& graph : graphalytics_graphs(graphs_ / "graphalytics"))
    compare_reference(world, graph);
}

TEST_F(MpiReferenceGraphs, ThatWereComputedAreMet) {
  const World world;
  for (const ReferenceGraph& graph : computed_graphs(graphs_ / "reference"))
    compare_reference(world, graph);
}

TEST_F(MpiReferenceGraphs, P2p31IsMet) {
  const World world;
  compare_reference(world, p2p_31_undirected(graphs_ / "p2p-31"));
  compare_reference(world, p2p_31_directed(graphs_ / "p2p-31"));
}

}  // namespace
}  // namespace weir::test
