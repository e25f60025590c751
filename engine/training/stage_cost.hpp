// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/downsets.hpp>
#include <weir/engine/training/partition.hpp>

namespace weir::training {

/// `num_pipelines` pipelines of `num_devices` devices each.
struct PipelineShape {
  std::size_t num_devices = 1;
  std::size_t num_pipelines = 1;
};

/// What a stage costs on given devices, tabulated for one shape of pipelines.
class StageCost {
 public:
  StageCost(const schedule::Topology& cluster, const PartitionOptions& options,
            PipelineShape shape);

  /// Seconds between two micro-batches of the stage from `before` to `after`, whose replicas are
  /// devices [first, first + replicas) of each pipeline.
  double seconds(const Downset& before, const Downset& after, std::size_t first,
                 std::size_t replicas) const;

  /// Bytes of the stage on one device, and what its smallest device has; 0: not limited.
  double memory_bytes(const Downset& before, const Downset& after, std::size_t first,
                      std::size_t replicas) const;
  double memory_limit(std::size_t first, std::size_t replicas) const {
    return place(first, replicas).memory_limit;
  }

  /// All figures of a stage but its operators.
  Stage describe(const Downset& before, const Downset& after, std::size_t first,
                 std::size_t replicas) const;

  PipelineShape shape() const { return shape_; }
  double fastest_speed() const { return fastest_speed_; }

 private:
  /// The devices of a stage, taken together over all pipelines.
  struct Place {
    double slowest_speed = 1;
    double memory_limit = 0;
    schedule::Link gradients{};  ///< Of the innermost level that joins them.
  };
  const Place& place(std::size_t first, std::size_t replicas) const {
    return places_[first * shape_.num_devices + replicas - 1];
  }
  Place make_place(const schedule::Topology& cluster, std::size_t first,
                   std::size_t replicas) const;
  double gradient_seconds(double bytes, const Place& place, std::size_t replicas) const;
  double transfer_seconds(double bytes, std::size_t boundary) const;
  std::size_t num_in_flight(std::size_t first, std::size_t replicas) const;

  PartitionOptions options_;
  PipelineShape shape_;
  double fastest_speed_ = 1;
  std::vector<Place> places_;
  std::vector<schedule::Link> boundaries_;  ///< [i]: between device i - 1 and device i.
};

}  // namespace weir::training
