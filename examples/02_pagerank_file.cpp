// run: mpirun -n 2
// SPDX-License-Identifier: Apache-2.0
// PageRank of a graph in a file: mpirun -n 2 02_pagerank_file [GRAPH]. Any format that weir reads.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include <weir/algorithms/pagerank.hpp>
#include <weir/engine/engine.hpp>
#include <weir/engine/runtime/mpi/mpi_session.hpp>

int main(int argc, char** argv) try {
  weir::MpiSession mpi(argc, argv);
  weir::Context context(mpi.world_port(), {.threads = 1});

  std::string path = argc > 1 ? argv[1] : "02_web.tsv";
  if (argc == 1 && context.is_root())
    std::ofstream(path) << "# a tiny web\n1\t2\n2\t3\n3\t1\n4\t3\n";
  weir::all_gather(context, 0);  // nobody reads before the file is there

  const auto graph = weir::load_graph<weir::NoValue>(context, {path});
  const auto [ranks, report] = weir::pagerank(graph, {.iterations = 20});

  auto top = ranks.gather();
  std::sort(top.begin(), top.end(), [](auto& a, auto& b) { return a.value > b.value; });
  if (context.is_root()) {
    std::printf("%zu vertices, %.3f s\n", top.size(), report.seconds);
    for (std::size_t i = 0; i < std::min<std::size_t>(top.size(), 10); ++i)
      std::printf("%lld %.6f\n", static_cast<long long>(top[i].id), top[i].value);
  }
} catch (const weir::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
