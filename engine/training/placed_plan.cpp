// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/placed_plan.hpp>

#include <numeric>

#include <weir/engine/model/check.hpp>

namespace weir::training {

namespace {

constexpr std::int64_t most_ticks = std::int64_t{1} << 24;

}  // namespace

RankCoordinates coordinates_of(const Layout& layout, std::size_t rank) {
  RankCoordinates at;
  const auto next = [&](std::int64_t size) {
    const std::size_t here = rank % static_cast<std::size_t>(size);
    rank /= static_cast<std::size_t>(size);
    return here;
  };
  at.tensor = next(layout.tensor);
  at.context = next(layout.context);
  at.pipeline = next(layout.pipeline);
  at.data = rank;
  return at;
}

std::size_t rank_at(const Layout& layout, const RankCoordinates& at) {
  return ((at.data * static_cast<std::size_t>(layout.pipeline) + at.pipeline) *
              static_cast<std::size_t>(layout.context) +
          at.context) *
             static_cast<std::size_t>(layout.tensor) +
         at.tensor;
}

PlacedPlan place_in_order(const ParallelPlanRequest& request, const ParallelPlans& found,
                          const schedule::Topology& cluster) {
  const Layout& layout = found.best.front().layout;
  const auto num_ranks = static_cast<std::size_t>(layout.num_devices());
  WEIR_EXPECT(num_ranks <= cluster.num_devices(), input,
              cluster.name() + ": found " + std::to_string(cluster.num_devices()) +
                  " devices; expected " + std::to_string(num_ranks));
  std::vector<std::uint32_t> devices(num_ranks);
  std::iota(devices.begin(), devices.end(), std::uint32_t{0});
  const std::int64_t num_ticks =
      layout.global_batch / layout.micro_batch / layout.data * layout.pipeline * layout.interleave;
  WEIR_EXPECT(num_ticks <= most_ticks, input,
              request.model.name + ": found " + std::to_string(num_ticks) +
                  " passes of an iteration; expected at most 2^24, by a larger micro-batch");
  return {request.model,
          found.best.front(),
          request.machine,
          request.software,
          cluster,
          std::move(devices),
          make_schedule(layout),
          request.memory_bytes,
          found.num_considered,
          found.num_fitting};
}

std::vector<std::int64_t> layers_of_stages(const PlacedPlan& plan) {
  const auto num_stages = static_cast<std::int64_t>(plan.schedule.num_stages());
  std::vector<std::int64_t> layers(plan.schedule.num_stages(), plan.model.num_layers / num_stages);
  for (std::int64_t i = 0; i < plan.model.num_layers % num_stages; ++i) {
    ++layers[static_cast<std::size_t>(num_stages - 1 - i)];
  }
  return layers;
}

}  // namespace weir::training
