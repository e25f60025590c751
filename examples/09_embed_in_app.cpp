// run: mpirun -n 3
// SPDX-License-Identifier: Apache-2.0
// weir inside an application that owns MPI: a sub-communicator, used twice; progress and
// cancelling; and two graphs at once on two threads of one process.
#include <cstdio>
#include <thread>

#include <weir/algorithms/connected_components.hpp>
#include <weir/algorithms/pagerank.hpp>
#include <weir/engine/engine.hpp>
#include <weir/engine/runtime/mpi/mpi_comm.hpp>

using Edges = std::vector<weir::Edge<weir::NoValue>>;

void analyse(MPI_Comm comm, const Edges& mine, const weir::CancelToken& cancel) {
  weir::Context context(weir::mpi_port(comm),
                        {.threads = 1});  // duplicates comm; MPI stays the caller's
  const auto graph = weir::build_graph<weir::NoValue>(context, weir::in_memory(mine));
  const auto progress = [&](const weir::SuperstepReport& step) {
    if (context.is_root())
      std::printf("superstep %d: %d active\n", int(step.superstep), int(step.num_computed));
  };
  const auto [labels, report] = weir::connected_components(graph, {.run = {.progress = progress}});
  if (const auto* label = labels.find(2)) std::printf("vertex 2 is in component %d\n", int(*label));
  try {
    weir::pagerank(graph, {.run = {.cancel = cancel}});
  } catch (const weir::Error& error) {  // the same on every rank
    if (context.is_root())
      std::printf("%s: %s\n", std::string(name_of(error.code())).c_str(), error.what());
  }
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);  // only the main thread calls MPI
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &half);
  weir::CancelToken cancel;
  if (rank > 0) {
    const Edges mine = rank == 1 ? Edges{{1, 2}, {2, 3}} : Edges{{3, 4}, {8, 9}};
    analyse(half, mine, cancel);
    cancel.cancel();
    analyse(half, mine, cancel);
  } else {
    const auto count = [](const Edges& edges) {
      weir::Context alone;
      std::printf("%d edges\n",
                  int(weir::build_graph<weir::NoValue>(alone, weir::in_memory(edges)).num_edges()));
    };
    std::thread first(count, Edges{{1, 2}}), second(count, Edges{{1, 2}, {2, 1}});
    first.join();
    second.join();
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
}
