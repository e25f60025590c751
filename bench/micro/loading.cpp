// SPDX-License-Identifier: Apache-2.0
// From text to edges, and from edges to neighbour lists.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <weir/bench/micro/bench_graphs.hpp>
#include <weir/io/graph_reader.hpp>

namespace weir::bench {

namespace {

constexpr const char* skewed = "rmat:scale=14,edge_factor=16,seed=1";

/// A file of edges that goes with the benchmark.
class EdgeFile {
 public:
  EdgeFile() {
    std::string folder = std::filesystem::temp_directory_path() / "weir-bench-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw Error(ErrorCode::output, folder);
    folder_ = folder;
    std::ofstream out(path());
    for (const auto& edge : generated_edges(skewed)) {
      out << edge.source << ' ' << edge.target << '\n';
    }
  }
  ~EdgeFile() { std::filesystem::remove_all(folder_); }
  EdgeFile(const EdgeFile&) = delete;
  EdgeFile& operator=(const EdgeFile&) = delete;

  std::string path() const { return folder_ / "edges.txt"; }

 private:
  std::filesystem::path folder_;
};

void parse_edge_list(benchmark::State& state) {
  const EdgeFile file;
  std::size_t num_edges = 0;
  for (auto _ : state) {
    io::GraphReader reader({file.path()}, {}, {});
    for (std::vector<Edge<NoValue>> batch; reader.next(batch);) num_edges += batch.size();
  }
  const auto num_bytes = static_cast<std::int64_t>(std::filesystem::file_size(file.path()));
  state.SetBytesProcessed(state.iterations() * num_bytes);
  state.SetItemsProcessed(static_cast<std::int64_t>(num_edges));
}

void build_lists(benchmark::State& state) {
  Context context({.threads = static_cast<int>(state.range(0))});
  const auto edges = generated_edges(skewed);
  for (auto _ : state) {
    GraphBuilder<NoValue> builder(context, {.is_directed = false});
    builder.add_edges(edges);
    const auto graph = builder.finish();
    benchmark::DoNotOptimize(graph.num_arcs());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(edges.size()));
}

BENCHMARK(parse_edge_list)->Unit(benchmark::kMillisecond)->MinTime(min_seconds);
BENCHMARK(build_lists)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MinTime(min_seconds);

}  // namespace

}  // namespace weir::bench
