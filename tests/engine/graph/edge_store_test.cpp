// SPDX-License-Identifier: Apache-2.0
// Edges in few bytes: what goes in comes out, whatever threads add and take it.
#include <weir/engine/graph/edge_store.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include <weir/engine/graph/id_map.hpp>
#include <weir/engine/graph/radix_sort.hpp>

namespace weir {
namespace {

template <class E>
std::vector<Edge<E>> read_all(EdgeStore<E>& store, bool takes = false) {
  std::vector<Edge<E>> all;
  typename EdgeStore<E>::Reading reading(store, takes);
  typename EdgeStore<E>::Reader reader(reading);
  for (std::vector<Edge<E>> batch; reader.next(batch);)
    all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

template <class E>
bool same_bits(const std::vector<Edge<E>>& a, const std::vector<Edge<E>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.source == y.source && x.target == y.target &&
           std::memcmp(&x.value, &y.value, sizeof(E)) == 0;
  });
}

TEST(EdgeStore, keeps_ids_of_any_size) {
  constexpr VertexId least = std::numeric_limits<VertexId>::min();
  constexpr VertexId greatest = std::numeric_limits<VertexId>::max();
  for (const auto& edges :
       std::vector<std::vector<Edge<NoValue>>>{{{0, 0, {}}},
                                               {{greatest - 1, greatest, {}}},
                                               {{least, least + 0xffffffff, {}}},
                                               {{least, least + 0x100000000, {}}},
                                               {{least, greatest, {}}, {-1, 1, {}}}}) {
    EdgeStore<NoValue> store;
    store.add(edges);
    EXPECT_EQ(read_all(store), edges);
    EXPECT_EQ(store.range().num_seen, 2 * edges.size());
  }
}

TEST(EdgeStore, keeps_every_bit_of_the_values) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& values :
       std::vector<std::vector<double>>{{0, 1, 255},
                                        {0, 256, 65535},
                                        {1, -1, 0.5},
                                        {65536, 16777217},
                                        {-0.0, 3},
                                        {0.1},
                                        {1e300, -1e300},
                                        {infinity, -infinity, std::nan("7")},
                                        {std::numeric_limits<double>::denorm_min()}}) {
    std::vector<Edge<double>> edges;
    for (const double value : values) edges.push_back({1, 2, value});
    EdgeStore<double> store;
    store.add(edges);
    EXPECT_TRUE(same_bits(read_all(store), edges)) << values.front();
  }
}

TEST(EdgeStore, threads_add_and_take_every_edge_once) {
  constexpr std::uint64_t num_each = 300'000;
  constexpr std::uint64_t num_threads = 3;
  EdgeStore<float> store;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < num_threads; ++t) {
    threads.emplace_back([&store, t] {
      std::vector<Edge<float>> edges;
      for (std::uint64_t i = 0; i < num_each; ++i)
        edges.push_back({static_cast<VertexId>(t * num_each + i), 0, static_cast<float>(i)});
      store.add(edges);
    });
  }
  for (auto& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(store.size(), num_threads * num_each);
  std::vector<std::vector<Edge<float>>> taken(num_threads);
  EdgeStore<float>::Reading reading(store, true);
  for (auto& part : taken) {
    threads.emplace_back([&] {
      EdgeStore<float>::Reader reader(reading);
      for (std::vector<Edge<float>> batch; reader.next(batch);)
        part.insert(part.end(), batch.begin(), batch.end());
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<bool> seen(num_threads * num_each);
  for (const auto& part : taken) {
    for (const auto& edge : part) {
      EXPECT_FALSE(seen[static_cast<std::size_t>(edge.source)]);
      seen[static_cast<std::size_t>(edge.source)] = true;
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), num_threads * num_each);
}

TEST(RadixSort, is_stable_at_any_width_of_keys) {
  std::mt19937_64 random(1);
  for (int bits = 0; bits <= 64; bits += 4) {
    const std::uint64_t greatest = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    std::vector<std::pair<std::uint64_t, int>> records;
    for (int i = 0; i < 2'000; ++i) records.emplace_back(random() & greatest & ~3ULL, i);
    auto expected = records;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    auto scratch = records;
    const auto sorted = radix_sort(std::span(records), std::span(scratch), greatest,
                                   [](const auto& record) { return record.first; });
    EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end())) << bits;
  }
}

TEST(IdMap, finds_what_was_put_in_and_nothing_else) {
  IdMap<int> map(-1);
  std::mt19937_64 random(2);
  std::vector<VertexId> ids{0, -1, std::numeric_limits<VertexId>::min(),
                            std::numeric_limits<VertexId>::max()};
  for (int i = 0; i < 5'000; ++i) ids.push_back(static_cast<VertexId>(random()));
  for (int i = 0; i < 5'000; ++i) ids.push_back(VertexId{i} << 40);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (std::size_t i = 0; i < ids.size(); i += 2) map[ids[i]] = static_cast<int>(i);
  for (std::size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(map.find(ids[i]), i % 2 == 0 ? static_cast<int>(i) : -1) << ids[i];
  std::size_t num_visited = 0;
  map.for_each([&](VertexId, int) { ++num_visited; });
  EXPECT_EQ(num_visited, (ids.size() + 1) / 2);
}

}  // namespace
}  // namespace weir
