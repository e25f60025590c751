// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <weir/algorithms/algorithm.hpp>
#include <weir/engine/superstep/run.hpp>

namespace weir {

struct PageRankOptions {
  Superstep iterations = 20;          ///< number; the cap where a tolerance is given
  std::optional<double> tolerance{};  ///< stop when the L1 change of an iteration is at most this
  double damping = 0.85;
  bool is_weighted = false;  ///< rank leaves along an edge in proportion to its value
  std::vector<VertexId>
      teleport{};  ///< personalised: jumps and dangling mass go here; empty: anywhere
  RunOptions run{};
};

/// PageRank with redistributed dangling mass ([Page99]; start, dangling rule and fixed iterations
/// as in [Iosup16]):
///
///     r'(v) = (1 - d) t(v) + d (sum over in-edges u->v of r(u) w(u,v) / W(u) + t(v) D)
///
/// t(v) is 1/n, or 1/|T| on the teleport set; D is the rank of vertices without out-edges (or whose
/// out-weights sum to 0); r starts as t.
template <bool is_weighted>
struct PageRankProgram {
  struct DanglingRank : Aggregator<Sum<double>> {};
  struct RankChange : Aggregator<Sum<double>> {
    static constexpr const char* name = "rank_change";
  };
  struct WeightedRank {
    double rank = 0;
    double out_weight = 0;
  };
  using Value = std::conditional_t<is_weighted, WeightedRank, double>;
  using Message = double;
  using Combiner = Sum<double>;
  using Aggregators = weir::Aggregators<DanglingRank, RankChange>;
  static constexpr bool reads_arcs = is_weighted;

  Superstep iterations = 20;
  std::optional<double> tolerance{};
  double damping = 0.85;
  std::span<const VertexId> teleport{};  ///< ascending

  double teleport_share(VertexId id, std::uint64_t num_vertices) const {
    if (teleport.empty()) return 1.0 / static_cast<double>(num_vertices);
    const bool is_target = std::binary_search(teleport.begin(), teleport.end(), id);
    return is_target ? 1.0 / static_cast<double>(teleport.size()) : 0.0;
  }

  Value init(const VertexInfo& v) const { return Value{teleport_share(v.id, v.num_vertices)}; }

  void master(NoMaster&, MasterHandle<PageRankProgram>& master) const {
    const bool has_converged =
        tolerance && master.superstep() > 1 && master.aggregated(RankChange{}) <= *tolerance;
    if (has_converged || master.superstep() > iterations) master.halt();
  }

  void compute(VertexHandle auto& v, const Inbox<double>& inbox) const {
    double& rank = rank_of(v.value());
    if (v.superstep() > 0) {
      const double share = teleport_share(v.id(), v.num_vertices());
      const double arriving = inbox.combined(Combiner{}) + share * v.aggregated(DanglingRank{});
      const double next = (1 - damping) * share + damping * arriving;
      if (tolerance) v.aggregate(RankChange{}, std::abs(next - rank));
      rank = next;
    }
    if (v.superstep() == iterations) return;
    if (out_weight(v) > 0) {
      v.scatter();
    } else {
      v.aggregate(DanglingRank{}, rank);
    }
  }

  double publish(const Value& value, const VertexInfo& source) const {
    if constexpr (is_weighted) {
      const double per_weight = value.rank / value.out_weight;
      WEIR_EXPECT(std::isfinite(value.out_weight) && std::isfinite(per_weight), input,
                  "the values of the out-edges sum to " + std::to_string(value.out_weight) +
                      ", which float64 cannot share out");
      return per_weight;
    } else {
      return value / static_cast<double>(source.out_degree);
    }
  }
  double along(double published, const WeightedArc auto& arc) const requires is_weighted {
    return published * static_cast<double>(arc.value);
  }

 private:
  static double& rank_of(Value& value) {
    if constexpr (is_weighted) {
      return value.rank;
    } else {
      return value;
    }
  }
  static double out_weight(auto& v) {
    if constexpr (is_weighted) {
      if (v.superstep() == 0) {
        for (const auto& arc : v.arcs()) v.value().out_weight += static_cast<double>(arc.value);
      }
      return v.value().out_weight;
    } else {
      return static_cast<double>(v.out_degree());
    }
  }
};

/// Ranks of all vertices; they sum to 1. Collective. Error{usage} for options out of range,
/// Error{input} for a teleport vertex that is not in the graph or a negative weight.
RunResult<double> pagerank(const Graph<NoValue>& graph, const PageRankOptions& options = {});
RunResult<double> pagerank(const Graph<double>& graph, const PageRankOptions& options = {});

extern const Algorithm pagerank_algorithm;

}  // namespace weir
