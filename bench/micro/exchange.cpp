// SPDX-License-Identifier: Apache-2.0
// One delivery between two ranks of this process, the same bytes each way; and what a superstep's
// end costs, a fold over all ranks.
#include <cstdint>

#include <benchmark/benchmark.h>

#include <weir/bench/micro/bench_graphs.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir::bench {

namespace {

constexpr std::byte again{1};
constexpr std::byte stop{0};

/// Swaps as many bytes with the other rank and returns the first byte of what came.
std::byte swap(Context& context, std::size_t num_bytes, std::byte first) {
  Bytes bytes(num_bytes);
  bytes.front() = first;
  Exchange delivery(context, "swap");
  delivery.send(1 - context.rank(), std::move(bytes));
  return delivery.close().front().bytes.front();
}

void exchange_bytes(benchmark::State& state) {
  const auto num_bytes = static_cast<std::size_t>(state.range(0));
  run_in_process(2, {.threads = 1}, [&](Context& context) {
    if (!context.is_root()) {
      while (swap(context, num_bytes, again) == again) {
      }
      return;
    }
    for (auto _ : state) swap(context, num_bytes, again);
    swap(context, num_bytes, stop);
  });
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void fold_over_ranks(benchmark::State& state) {
  run_in_process(static_cast<Rank>(state.range(0)), {.threads = 1}, [&](Context& context) {
    if (!context.is_root()) {
      while (all_fold(context, Max<std::int64_t>{}, 0) > 0) {
      }
      return;
    }
    for (auto _ : state) all_fold(context, Max<std::int64_t>{}, 1);
    all_fold(context, Max<std::int64_t>{}, 0);
  });
}

BENCHMARK(exchange_bytes)
    ->Arg(8)
    ->Arg(1 << 10)
    ->Arg(1 << 16)
    ->Arg(1 << 20)
    ->Arg(1 << 24)
    ->UseRealTime()
    ->MinTime(min_seconds);
BENCHMARK(fold_over_ranks)->Arg(1)->Arg(2)->UseRealTime()->MinTime(min_seconds);

}  // namespace

}  // namespace weir::bench
