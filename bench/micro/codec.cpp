// SPDX-License-Identifier: Apache-2.0
// Records to bytes and back: one copy for bitwise records, an archive for others.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <weir/bench/micro/bench_graphs.hpp>
#include <weir/engine/runtime/codec.hpp>

namespace weir::bench {

namespace {

struct Message {
  VertexId target = 0;
  double value = 0;
};

template <class T>
std::vector<T> records(std::size_t count) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      all[i] = "vertex " + std::to_string(i);
    } else {
      all[i] = {static_cast<VertexId>(i), 0.5};
    }
  }
  return all;
}

template <class T>
void encode_records(benchmark::State& state) {
  const auto all = records<T>(static_cast<std::size_t>(state.range(0)));
  Bytes bytes;
  for (auto _ : state) {
    bytes.clear();
    encode(std::span<const T>(all), bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class T>
void decode_records(benchmark::State& state) {
  Bytes bytes;
  encode(std::span<const T>(records<T>(static_cast<std::size_t>(state.range(0)))), bytes);
  std::vector<T> all;
  for (auto _ : state) {
    all.clear();
    BytesView view(bytes);
    decode(view, all);
    benchmark::DoNotOptimize(all.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(encode_records<Message>)->Arg(16)->Arg(65536)->MinTime(min_seconds);
BENCHMARK(decode_records<Message>)->Arg(16)->Arg(65536)->MinTime(min_seconds);
BENCHMARK(encode_records<std::string>)->Arg(1024)->MinTime(min_seconds);
BENCHMARK(decode_records<std::string>)->Arg(1024)->MinTime(min_seconds);

}  // namespace

}  // namespace weir::bench
