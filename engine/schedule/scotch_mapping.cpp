// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/scotch_mapping.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include <weir/engine/model/check.hpp>

#include <scotch/scotch.h>

namespace weir::schedule {

namespace {

/// Imbalance that Scotch may leave between halves; with none its maps are a third longer.
constexpr double tolerance = 0.01;
/// Scotch counts in 32 bits: the heaviest edge and the dearest level become these.
constexpr double heaviest_edge = 10000;
constexpr double dearest_level = 1000;

void expect_done(int status, const char* what) {
  WEIR_EXPECT(status == 0, internal, std::string("Scotch could not ") + what);
}

/// Groups of a level in each group of the one above it, outermost first; empty for irregular trees.
std::vector<SCOTCH_Num> arities_of(const Topology& cluster) {
  std::vector<SCOTCH_Num> arities;
  std::size_t num_outer = 1;
  for (std::size_t l = 0; l <= cluster.levels().size(); ++l) {
    const bool is_leaf = l == cluster.levels().size();
    const std::size_t num_groups = is_leaf ? cluster.num_devices() : cluster.num_groups(l);
    const std::size_t size = cluster.num_devices() / num_groups;
    for (std::size_t d = 0; !is_leaf && d < cluster.num_devices(); ++d) {
      if (cluster.levels()[l].group_of_device[d] != d / size) return {};
    }
    if (l > 0) arities.push_back(static_cast<SCOTCH_Num>(num_groups / num_outer));
    num_outer = num_groups;
  }
  return arities;
}

/// Each device once: a rank whose device is taken gets the next that is free.
std::vector<std::uint32_t> as_permutation(const std::vector<SCOTCH_Num>& parts) {
  std::vector<std::uint32_t> devices(parts.size());
  std::vector<bool> is_taken(parts.size(), false);
  std::vector<std::size_t> homeless;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const auto device = static_cast<std::size_t>(parts[rank]);
    if (is_taken[device]) {
      homeless.push_back(rank);
      continue;
    }
    is_taken[device] = true;
    devices[rank] = static_cast<std::uint32_t>(device);
  }
  std::size_t free = 0;
  for (const std::size_t rank : homeless) {
    while (is_taken[free]) ++free;
    is_taken[free] = true;
    devices[rank] = static_cast<std::uint32_t>(free);
  }
  return devices;
}

/// The traffic as adjacency lists with whole weights.
struct ScotchEdges {
  std::vector<SCOTCH_Num> first;
  std::vector<SCOTCH_Num> neighbor;
  std::vector<SCOTCH_Num> weight;
};

ScotchEdges edges_of(std::size_t num_ranks, const std::vector<Traffic>& traffic) {
  double most = 0;
  for (const Traffic& pair : traffic) most = std::max(most, pair.bytes);
  ScotchEdges edges;
  edges.first.assign(num_ranks + 1, 0);
  const auto is_kept = [](const Traffic& pair) { return pair.bytes > 0 && pair.a != pair.b; };
  for (const Traffic& pair : traffic) {
    if (!is_kept(pair)) continue;
    ++edges.first[pair.a + 1];
    ++edges.first[pair.b + 1];
  }
  std::partial_sum(edges.first.begin(), edges.first.end(), edges.first.begin());
  edges.neighbor.resize(static_cast<std::size_t>(edges.first.back()));
  edges.weight.resize(edges.neighbor.size());
  std::vector<SCOTCH_Num> next(edges.first.begin(), edges.first.end() - 1);
  for (const Traffic& pair : traffic) {
    if (!is_kept(pair)) continue;
    const auto weight = static_cast<SCOTCH_Num>(std::ceil(pair.bytes / most * heaviest_edge));
    for (const auto& [from, to] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
      const auto place = static_cast<std::size_t>(next[from]++);
      edges.neighbor[place] = static_cast<SCOTCH_Num>(to);
      edges.weight[place] = weight;
    }
  }
  return edges;
}

/// Scotch's objects, released together.
struct Mapper {
  SCOTCH_Context context{};
  SCOTCH_Graph plain{};
  SCOTCH_Graph graph{};
  SCOTCH_Arch tree{};
  SCOTCH_Arch part{};
  SCOTCH_Strat strategy{};

  Mapper() {
    expect_done(SCOTCH_contextInit(&context), "make a context");
    expect_done(SCOTCH_graphInit(&plain), "make a graph");
    expect_done(SCOTCH_graphInit(&graph), "make a graph");
    expect_done(SCOTCH_archInit(&tree), "make an architecture");
    expect_done(SCOTCH_archInit(&part), "make an architecture");
    expect_done(SCOTCH_stratInit(&strategy), "make a strategy");
  }
  ~Mapper() {
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&part);
    SCOTCH_archExit(&tree);
    SCOTCH_graphExit(&graph);
    SCOTCH_graphExit(&plain);
    SCOTCH_contextExit(&context);
  }
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;
};

}  // namespace

std::vector<std::uint32_t> map_by_scotch(std::size_t num_ranks, const std::vector<Traffic>& traffic,
                                         const Topology& cluster,
                                         const std::vector<double>& level_costs,
                                         std::uint64_t seed) {
  const std::vector<SCOTCH_Num> arities = arities_of(cluster);
  const ScotchEdges edges = edges_of(num_ranks, traffic);
  if (arities.empty() || num_ranks < 2 || edges.neighbor.empty()) return {};
  std::vector<SCOTCH_Num> costs;
  const double dearest = *std::max_element(level_costs.begin(), level_costs.end());
  for (const double cost : level_costs) {
    costs.push_back(static_cast<SCOTCH_Num>(std::max(1.0, cost / dearest * dearest_level)));
  }
  Mapper mapper;
  // Results of several threads differ from run to run.
  expect_done(SCOTCH_contextThreadSpawn(&mapper.context, 1, nullptr), "keep to one thread");
  SCOTCH_contextRandomSeed(&mapper.context, static_cast<SCOTCH_Num>(seed & 0x7fffffff));
  const auto n = static_cast<SCOTCH_Num>(num_ranks);
  expect_done(SCOTCH_graphBuild(&mapper.plain, 0, n, edges.first.data(), nullptr, nullptr, nullptr,
                                edges.first.back(), edges.neighbor.data(), edges.weight.data()),
              "take the graph of ranks");
  expect_done(SCOTCH_contextBindGraph(&mapper.context, &mapper.plain, &mapper.graph),
              "bind the graph of ranks");
  expect_done(SCOTCH_archTleaf(&mapper.tree, static_cast<SCOTCH_Num>(arities.size()),
                               arities.data(), costs.data()),
              "take the tree of devices");
  const bool is_whole = num_ranks == cluster.num_devices();
  std::vector<SCOTCH_Num> granted(num_ranks);
  std::iota(granted.begin(), granted.end(), 0);
  if (!is_whole) {
    expect_done(SCOTCH_archSub(&mapper.part, &mapper.tree, n, granted.data()), "take the devices");
  }
  expect_done(SCOTCH_stratGraphMapBuild(&mapper.strategy, SCOTCH_STRATDEFAULT, n, tolerance),
              "make a strategy");
  std::vector<SCOTCH_Num> parts(num_ranks, 0);
  expect_done(SCOTCH_graphMap(&mapper.graph, is_whole ? &mapper.tree : &mapper.part,
                              &mapper.strategy, parts.data()),
              "map the ranks");
  return as_permutation(parts);
}

}  // namespace weir::schedule
