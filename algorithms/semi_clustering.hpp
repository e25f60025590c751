// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct SemiClusteringOptions {
  std::size_t max_clusters = 4;  ///< kept per vertex, and published per iteration (C_max)
  std::size_t max_members = 8;   ///< of one cluster (V_max)
  double boundary_factor = 0.5;  ///< f_B, 0 to 1
  std::int64_t iterations = 10;  ///< at most
  RunOptions run{};
};

/// A group of vertices and the weights of its inner and of its boundary edges.
struct SemiCluster {
  std::vector<VertexId> members;  ///< ascending
  double inner = 0;               ///< I_c
  double boundary = 0;            ///< B_c

  /// (I_c - f_B B_c) / (V_c (V_c - 1) / 2); a single vertex has score 1.
  double score(double boundary_factor) const {
    const auto size = static_cast<double>(members.size());
    if (members.size() == 1) return 1;
    return (inner - boundary_factor * boundary) / (size * (size - 1) / 2);
  }
  bool contains(VertexId id) const {
    return std::binary_search(members.begin(), members.end(), id);
  }

  template <class Archive>
  void serialize(Archive& archive, const unsigned int /*version*/) {
    archive& members& inner& boundary;
  }
  friend bool operator==(const SemiCluster&, const SemiCluster&) = default;
};

/// Semi-clusters of every vertex ([Malewicz10 §5.4], with the order that docs/semantics.md fixes).
///
/// Superstep 0 lets every vertex hear of its arcs; in superstep 1 each adds up the weights of the
/// edges to each neighbour and publishes itself alone. In every later one, which is an iteration, a
/// vertex takes the clusters it heard of and those among them that it can join, publishes the best
/// of all and keeps the best that it is in. The job ends after an iteration that changed nobody's
/// list.
struct SemiClusteringProgram {
  struct Value {
    std::vector<std::pair<VertexId, double>> weights;  ///< to each neighbour, ascending
    double weight = 0;                                 ///< sum of them
    std::vector<SemiCluster> clusters;                 ///< best first
    std::vector<SemiCluster> published;
  };
  /// What a neighbour published, with the weight of the edge it came along.
  struct Message {
    VertexId source = 0;
    double weight = 1;
    std::vector<SemiCluster> clusters;

    template <class Archive>
    void serialize(Archive& archive, const unsigned int /*version*/) {
      archive& source& weight& clusters;
    }
  };
  struct HasChanged : Aggregator<Any> {};
  using Aggregators = weir::Aggregators<HasChanged>;
  static constexpr Edges along_edges = Edges::both;
  static constexpr Superstep first_iteration = 2;

  SemiClusteringOptions options{};

  Value init(const VertexInfo&) const { return {}; }

  void master(NoMaster&, MasterHandle<SemiClusteringProgram>& master) const {
    const Superstep num_done = master.superstep() - first_iteration;
    if (num_done >= options.iterations || (num_done > 0 && !master.aggregated(HasChanged{})))
      master.halt();
  }

  void compute(VertexHandle auto& v, const auto& inbox) const {
    Value& value = v.value();
    v.scatter();
    if (v.superstep() == 0) return;
    if (v.superstep() < first_iteration) {
      value.weights = neighbour_weights(v.id(), inbox);
      for (const auto& [neighbour, weight] : value.weights) value.weight += weight;
      value.clusters = value.published = {joined({}, v.id(), value)};
      return;
    }
    std::vector<SemiCluster> heard, own = value.clusters;
    for (const Message& message : inbox) {
      if (message.source == v.id()) continue;
      for (const SemiCluster& cluster : message.clusters) {
        offer(cluster, heard);
        if (cluster.contains(v.id())) {
          offer(cluster, own);
        } else if (cluster.members.size() < options.max_members) {
          const SemiCluster larger = joined(cluster, v.id(), value);
          offer(larger, heard);
          offer(larger, own);
        }
      }
    }
    v.aggregate(HasChanged{}, !same_members(own, value.clusters));
    value.clusters = std::move(own);
    value.published = std::move(heard);
  }

  std::vector<SemiCluster> publish(const Value& value, const VertexInfo&) const {
    return value.published;
  }
  Message along(const std::vector<SemiCluster>& published, const auto& arc) const {
    if constexpr (WeightedArc<decltype(arc)>) {
      return {arc.source, static_cast<double>(arc.value), published};
    } else {
      return {arc.source, 1, published};
    }
  }

 private:
  static std::vector<std::pair<VertexId, double>> neighbour_weights(VertexId id,
                                                                    const auto& inbox) {
    std::vector<std::pair<VertexId, double>> weights;
    for (const Message& message : inbox) {
      if (message.source != id) weights.emplace_back(message.source, message.weight);
    }
    std::stable_sort(weights.begin(), weights.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t num_neighbours = 0;
    for (const auto& [neighbour, weight] : weights) {
      if (num_neighbours > 0 && weights[num_neighbours - 1].first == neighbour)
        weights[num_neighbours - 1].second += weight;
      else
        weights[num_neighbours++] = {neighbour, weight};
    }
    weights.resize(num_neighbours);
    return weights;
  }

  SemiCluster joined(SemiCluster cluster, VertexId id, const Value& value) const {
    double inside = 0;
    for (const VertexId member : cluster.members) {
      const auto place = std::lower_bound(
          value.weights.begin(), value.weights.end(), member,
          [](const auto& weight, VertexId neighbour) { return weight.first < neighbour; });
      if (place != value.weights.end() && place->first == member) inside += place->second;
    }
    const double outside = value.weight - inside;
    cluster.inner += inside;
    cluster.boundary += outside - inside;
    WEIR_EXPECT(std::isfinite(cluster.inner - options.boundary_factor * cluster.boundary), input,
                "found weights that add up to more than float64 holds; expected smaller ones");
    auto& members = cluster.members;
    members.insert(std::lower_bound(members.begin(), members.end(), id), id);
    return cluster;
  }

  bool is_better(const SemiCluster& a, const SemiCluster& b) const {
    const double score_a = a.score(options.boundary_factor);
    const double score_b = b.score(options.boundary_factor);
    return score_a != score_b ? score_a > score_b : a.members < b.members;
  }

  /// Puts a cluster into a list of the best, best first, where it belongs and is not yet.
  void offer(const SemiCluster& cluster, std::vector<SemiCluster>& best) const {
    if (best.size() == options.max_clusters && !is_better(cluster, best.back())) return;
    for (const SemiCluster& each : best) {
      if (each.members == cluster.members) return;
    }
    const auto place = std::find_if(best.begin(), best.end(), [&](const SemiCluster& each) {
      return is_better(cluster, each);
    });
    best.insert(place, cluster);
    if (best.size() > options.max_clusters) best.pop_back();
  }

  static bool same_members(const std::vector<SemiCluster>& a, const std::vector<SemiCluster>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.members == y.members; });
  }
};

/// The best semi-clusters that hold each vertex, best first: by score descending, then by the
/// members ascending. Direction and loops are ignored, the weights of parallel edges add up;
/// without edge values each edge weighs 1. Order and scores are exact as long as sums of weights
/// are. Collective. Error{usage} for options out of range, Error{input} where a sum is not finite.
///
/// As text the value of a vertex is its clusters separated by spaces, each as
/// SCORE:MEMBER,MEMBER,...
RunResult<std::vector<SemiCluster>> semi_clustering(const Graph<NoValue>& graph,
                                                    const SemiClusteringOptions& options = {});
RunResult<std::vector<SemiCluster>> semi_clustering(const Graph<double>& graph,
                                                    const SemiClusteringOptions& options = {});

extern const Algorithm semi_clustering_algorithm;

}  // namespace weir
