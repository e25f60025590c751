// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/stage_cost.hpp>

#include <algorithm>
#include <bit>

namespace weir::training {

namespace {

/// The worse of two links, in each respect.
schedule::Link slower(const schedule::Link& a, const schedule::Link& b) {
  return {std::min(a.bandwidth, b.bandwidth), std::max(a.latency_seconds, b.latency_seconds)};
}

}  // namespace

StageCost::StageCost(const schedule::Topology& cluster, const PartitionOptions& options,
                     PipelineShape shape)
    : options_(options), shape_(shape) {
  const std::size_t n = shape.num_devices;
  fastest_speed_ = 0;
  for (const schedule::Device& device : cluster.devices()) {
    fastest_speed_ = std::max(fastest_speed_, device.speed);
  }
  places_.resize(n * n);
  for (std::size_t first = 0; first < n; ++first) {
    for (std::size_t replicas = 1; first + replicas <= n; ++replicas) {
      places_[first * n + replicas - 1] = make_place(cluster, first, replicas);
    }
  }
  boundaries_.resize(n);
  for (std::size_t i = 1; i < n; ++i) {
    boundaries_[i] = cluster.link_between(i - 1, i);
    for (std::size_t b = 1; b < shape.num_pipelines; ++b) {
      boundaries_[i] = slower(boundaries_[i], cluster.link_between(b * n + i - 1, b * n + i));
    }
  }
}

StageCost::Place StageCost::make_place(const schedule::Topology& cluster, std::size_t first,
                                       std::size_t replicas) const {
  Place place;
  const std::size_t n = shape_.num_devices;
  const auto& devices = cluster.devices();
  // One replica more than a place that is known.
  const std::size_t added = first + replicas - 1;
  place.slowest_speed = devices[added].speed;
  if (replicas > 1) place = this->place(first, replicas - 1);
  for (std::size_t b = 0; b < shape_.num_pipelines; ++b) {
    const schedule::Device& device = devices[b * n + added];
    place.slowest_speed = std::min(place.slowest_speed, device.speed);
    if (device.memory_bytes > 0 &&
        (place.memory_limit == 0 || device.memory_bytes < place.memory_limit)) {
      place.memory_limit = device.memory_bytes;
    }
  }
  const std::size_t last = (shape_.num_pipelines - 1) * n + added;
  if (last != first) place.gradients = cluster.link_between(first, last);
  return place;
}

double StageCost::gradient_seconds(double bytes, const Place& place, std::size_t replicas) const {
  const std::size_t num_replicas = replicas * shape_.num_pipelines;
  if (num_replicas == 1 || bytes == 0) return 0;
  const auto r = static_cast<double>(num_replicas);
  const auto num_steps = 2 * static_cast<double>(std::bit_width(num_replicas - 1));
  return 2 * (r - 1) / r * bytes / place.gradients.bandwidth +
         num_steps * place.gradients.latency_seconds;
}

double StageCost::transfer_seconds(double bytes, std::size_t boundary) const {
  const schedule::Link& link = boundaries_[boundary];
  return 2 * (bytes / link.bandwidth + link.latency_seconds);
}

std::size_t StageCost::num_in_flight(std::size_t first, std::size_t replicas) const {
  return (shape_.num_devices - first + replicas - 1) / replicas;
}

double StageCost::seconds(const Downset& before, const Downset& after, std::size_t first,
                          std::size_t replicas) const {
  const Place& where = place(first, replicas);
  double longest = (after.seconds - before.seconds) / where.slowest_speed;
  const double bytes = after.parameter_bytes - before.parameter_bytes;
  longest = std::max(longest, gradient_seconds(bytes, where, replicas) /
                                  static_cast<double>(options_.micro_batches_per_update));
  if (first > 0) longest = std::max(longest, transfer_seconds(before.boundary_bytes, first));
  const std::size_t end = first + replicas;
  if (end < shape_.num_devices) {
    longest = std::max(longest, transfer_seconds(after.boundary_bytes, end));
  }
  return longest / static_cast<double>(replicas * shape_.num_pipelines);
}

double StageCost::memory_bytes(const Downset& before, const Downset& after, std::size_t first,
                               std::size_t replicas) const {
  return options_.parameter_copies * (after.parameter_bytes - before.parameter_bytes) +
         static_cast<double>(num_in_flight(first, replicas)) *
             (after.activation_bytes - before.activation_bytes);
}

Stage StageCost::describe(const Downset& before, const Downset& after, std::size_t first,
                          std::size_t replicas) const {
  const Place& where = place(first, replicas);
  Stage stage;
  stage.first_device = first;
  stage.num_replicas = replicas;
  stage.num_in_flight = num_in_flight(first, replicas);
  stage.parameter_bytes = after.parameter_bytes - before.parameter_bytes;
  stage.memory_bytes = memory_bytes(before, after, first, replicas);
  stage.compute_seconds = (after.seconds - before.seconds) / where.slowest_speed;
  stage.gradient_seconds = gradient_seconds(stage.parameter_bytes, where, replicas);
  if (first > 0) stage.input_seconds = transfer_seconds(before.boundary_bytes, first);
  if (first + replicas < shape_.num_devices) {
    stage.output_seconds = transfer_seconds(after.boundary_bytes, first + replicas);
  }
  const double gradients =
      stage.gradient_seconds / static_cast<double>(options_.micro_batches_per_update);
  double longest = stage.compute_seconds;
  const auto consider = [&](double seconds, Bound bound) {
    if (seconds > longest) stage.bound = bound;
    longest = std::max(longest, seconds);
  };
  consider(gradients, Bound::gradients);
  consider(stage.input_seconds, Bound::input);
  consider(stage.output_seconds, Bound::output);
  stage.seconds = longest / static_cast<double>(replicas * shape_.num_pipelines);
  return stage;
}

}  // namespace weir::training
