// SPDX-License-Identifier: Apache-2.0
// The fold of messages in the one order that results are defined by.
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <weir/bench/micro/bench_graphs.hpp>
#include <weir/engine/superstep/fold.hpp>

namespace weir::bench {

namespace {

template <class M>
void fold_messages(benchmark::State& state) {
  using T = typename M::value_type;
  const auto count = static_cast<std::uint64_t>(state.range(0));
  std::vector<T> messages(count, T(1));
  for (auto _ : state) {
    T folded = fold(M{}, std::uint64_t{0}, count,
                    [&](std::uint64_t i) { return messages[static_cast<std::size_t>(i)]; });
    benchmark::DoNotOptimize(folded);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(fold_messages<Sum<double>>)->Arg(8)->Arg(1024)->Arg(65536)->MinTime(min_seconds);
BENCHMARK(fold_messages<Min<std::int64_t>>)->Arg(8)->Arg(1024)->Arg(65536)->MinTime(min_seconds);

}  // namespace

}  // namespace weir::bench
