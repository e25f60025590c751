// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <weir/engine/training/placed_plan.hpp>

namespace weir::simulation {

/// What a message between two cells crosses. A cell is the tensor and context ranks of one stage of
/// one pipeline; each sends its share to the rank of the same coordinates.
struct Route {
  struct Hold {
    std::size_t link = 0;
    double seconds = 0;
  };

  double seconds = 0;       ///< Of a message that meets no other.
  std::vector<Hold> holds;  ///< Links, and for how long the message fills each.
};

/// The links of a cluster that a plan uses: an adapter of each cell in and out, and the uplinks of
/// switches where they carry less than the adapters below. A link carries one message after the
/// other.
class Network {
 public:
  explicit Network(const training::PlacedPlan& plan);

  /// True if messages of different pipelines can meet on a link.
  bool is_shared() const { return is_shared_; }

  /// From a pipeline rank to another of the same data rank.
  Route route(std::size_t data, std::size_t from, std::size_t to) const;

  /// Sends a message at `now`, no earlier than those before, and returns when it has arrived; all
  /// takes `stretch` times as long.
  double send(const Route& route, double now, double stretch);

  /// How much longer rings of tensor ranks take where they are than where the time model thinks,
  /// the ranks of a stage side by side, on a cluster whose nodes are all joined by its slowest
  /// link: they may leave the node, and share its adapters; or stay behind a switch.
  double tensor_factor(std::size_t rank) const { return tensor_factor_[rank]; }
  /// The same of the slowest ring of gradients of a pipeline rank.
  double data_factor(std::size_t pipeline_rank) const { return data_factor_[pipeline_rank]; }

  /// The same of the slowest ring of context ranks, and of the slowest exchange between experts, in
  /// which every rank sends every other as much and uplinks are shared.
  const training::ExchangeFactors& exchange_factors() const { return exchange_factors_; }

 private:
  const training::PlacedPlan& plan_;
  bool is_shared_ = false;
  double adapter_bytes_per_second_ = 0;
  /// Of the groups of a level towards the level above, of one device.
  std::vector<double> uplink_bytes_per_second_;
  std::vector<std::vector<std::size_t>> group_sizes_;
  std::vector<std::size_t> first_link_;  ///< Of the groups of a level.
  std::vector<double> free_at_;
  std::vector<double> tensor_factor_;
  std::vector<double> data_factor_;
  training::ExchangeFactors exchange_factors_;
};

}  // namespace weir::simulation
