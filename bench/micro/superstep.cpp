// SPDX-License-Identifier: Apache-2.0
// What a superstep costs by the number of its active vertices: tokens that go round a ring of 2^20
// vertices, one step each superstep.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include <weir/bench/micro/bench_graphs.hpp>

namespace weir::bench {

namespace {

constexpr VertexId ring_length = 1 << 20;

/// A message is the number of steps that its token still goes.
struct Tokens {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Max<std::int64_t>;

  std::span<const VertexId> holders{};
  std::int64_t num_steps = 0;

  std::span<const VertexId> starts() const { return holders; }
  Value init(const VertexInfo&) const { return 0; }

  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.value() = v.superstep() == 0 ? num_steps : inbox.combined(Combiner{});
    if (v.value() > 0) v.scatter();
    v.vote_to_halt();
  }

  Message publish(Value steps, const VertexInfo&) const { return steps - 1; }
};

Graph<NoValue> ring(Context& context) {
  const VertexId begin = ring_length * context.rank() / context.size();
  const VertexId end = ring_length * (context.rank() + 1) / context.size();
  std::vector<Edge<NoValue>> edges;
  for (VertexId id = begin; id < end; ++id) edges.push_back({id, (id + 1) % ring_length, {}});
  return build_graph<NoValue>(context, in_memory(std::move(edges)));
}

/// k tokens on so many ranks of one thread each.
void superstep(benchmark::State& state) {
  const std::int64_t num_tokens = state.range(0);
  constexpr std::int64_t token_steps = 100000;
  constexpr std::int64_t most_steps = 10000;
  std::vector<VertexId> holders;
  for (std::int64_t i = 0; i < num_tokens; ++i) holders.push_back(i * (ring_length / num_tokens));
  const Tokens program{holders, std::clamp<std::int64_t>(token_steps / num_tokens, 10, most_steps)};
  std::uint64_t num_supersteps = 0;
  run_in_process(static_cast<Rank>(state.range(1)), {.threads = 1}, [&](Context& context) {
    const auto graph = ring(context);
    // All ranks take part in as many runs as root is asked for.
    const auto is_wanted = [&](bool by_root) { return all_fold(context, Any{}, by_root); };
    if (!context.is_root()) {
      while (is_wanted(false)) run(graph, program);
      return;
    }
    for (auto _ : state) {
      is_wanted(true);
      const auto result = run(graph, program);
      state.SetIterationTime(result.report.seconds);
      num_supersteps += result.report.num_supersteps;
    }
    is_wanted(false);
  });
  state.counters["per_superstep"] =
      benchmark::Counter(static_cast<double>(num_supersteps),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(superstep)
    ->ArgNames({"active", "ranks"})
    ->ArgsProduct({{1, 10, 1000, 100000}, {1, 2}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->MinTime(min_seconds);

}  // namespace

}  // namespace weir::bench
