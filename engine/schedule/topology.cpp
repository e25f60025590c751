// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/topology.hpp>

#include <algorithm>
#include <cmath>

#include <weir/engine/model/check.hpp>

namespace weir::schedule {

namespace {

constexpr std::size_t most_devices = std::size_t{1} << 20;

void check_link(const std::string& name, const Level& level) {
  WEIR_EXPECT(std::isfinite(level.link.bandwidth) && level.link.bandwidth > 0, input,
              name + ": level " + level.name + ": found a bandwidth of " +
                  std::to_string(level.link.bandwidth) + " B/s; expected one above 0");
  WEIR_EXPECT(std::isfinite(level.link.latency_seconds) && level.link.latency_seconds >= 0, input,
              name + ": level " + level.name + ": found a latency of " +
                  std::to_string(level.link.latency_seconds) + " s; expected one of 0 or more");
}

/// Each group follows the one before it, and begins where a group of `outer` begins.
void check_groups(const std::string& name, const Level& level, const Level* outer) {
  const auto& group = level.group_of_device;
  for (std::size_t d = 0; d < group.size(); ++d) {
    const std::uint32_t before = d == 0 ? 0 : group[d - 1];
    const bool is_next = group[d] == before || (d > 0 && group[d] == before + 1);
    const bool leaves_outer =
        outer != nullptr && d > 0 && outer->group_of_device[d] != outer->group_of_device[d - 1];
    WEIR_EXPECT(is_next && (!leaves_outer || group[d] != before), input,
                name + ": level " + level.name + ": found device " + std::to_string(d) +
                    " in group " + std::to_string(group[d]) +
                    "; expected groups of consecutive devices, each inside one of the level above");
  }
}

}  // namespace

Topology::Topology(std::string name, std::vector<Level> levels, std::vector<Device> devices)
    : name_(std::move(name)), levels_(std::move(levels)), devices_(std::move(devices)) {
  WEIR_EXPECT(!devices_.empty() && devices_.size() <= most_devices, input,
              name_ + ": found " + std::to_string(devices_.size()) + " devices; expected 1 to " +
                  std::to_string(most_devices));
  WEIR_EXPECT(!levels_.empty(), input, name_ + ": found no level; expected at least one");
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    WEIR_EXPECT(levels_[l].group_of_device.size() == devices_.size(), input,
                name_ + ": level " + levels_[l].name + ": found groups of " +
                    std::to_string(levels_[l].group_of_device.size()) + " devices; expected " +
                    std::to_string(devices_.size()));
    check_link(name_, levels_[l]);
    check_groups(name_, levels_[l], l == 0 ? nullptr : &levels_[l - 1]);
  }
  WEIR_EXPECT(num_groups(0) == 1, input,
              name_ + ": found " + std::to_string(num_groups(0)) +
                  " groups at the outermost level; expected one");
  for (const Device& device : devices_) {
    WEIR_EXPECT(std::isfinite(device.speed) && device.speed > 0, input,
                name_ + ": found a device of speed " + std::to_string(device.speed) +
                    "; expected one above 0");
  }
}

std::size_t Topology::num_groups(std::size_t level) const {
  return std::size_t{levels_[level].group_of_device.back()} + 1;
}

std::size_t Topology::common_level(std::size_t a, std::size_t b) const {
  if (a == b) return levels_.size();
  std::size_t level = levels_.size() - 1;
  while (level > 0 && levels_[level].group_of_device[a] != levels_[level].group_of_device[b]) {
    --level;
  }
  return level;
}

Topology Topology::first(std::size_t num_devices) const {
  WEIR_EXPECT(num_devices > 0 && num_devices <= devices_.size(), usage,
              name_ + ": found " + std::to_string(num_devices) +
                  " devices asked for; expected 1 to " + std::to_string(devices_.size()));
  std::vector<Level> levels = levels_;
  for (Level& level : levels) level.group_of_device.resize(num_devices);
  const auto end = devices_.begin() + static_cast<std::ptrdiff_t>(num_devices);
  return Topology(name_, std::move(levels), {devices_.begin(), end});
}

void Topology::scale_speed(std::size_t device, double factor) {
  WEIR_EXPECT(device < devices_.size(), usage,
              name_ + ": found device " + std::to_string(device) + "; expected one below " +
                  std::to_string(devices_.size()));
  WEIR_EXPECT(std::isfinite(factor) && factor > 0, usage,
              "found a speed factor of " + std::to_string(factor) + "; expected one above 0");
  devices_[device].speed *= factor;
}

void Topology::set_memory(double bytes) {
  for (Device& device : devices_) device.memory_bytes = bytes;
}

Topology make_tree(const std::string& name, std::vector<Level> levels,
                   const std::vector<std::size_t>& arity, const Device& device) {
  WEIR_EXPECT(!levels.empty() && levels.size() == arity.size(), usage,
              name + ": found " + std::to_string(levels.size()) + " levels and " +
                  std::to_string(arity.size()) + " sizes; expected as many, and at least one");
  std::size_t num_devices = 1;
  for (const std::size_t count : arity) {
    WEIR_EXPECT(count > 0 && count <= most_devices / num_devices, usage,
                name + ": found a level of " + std::to_string(count) + "; expected 1 to " +
                    std::to_string(most_devices) + " devices in all");
    num_devices *= count;
  }
  std::size_t group_size = num_devices;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].group_of_device.resize(num_devices);
    for (std::size_t d = 0; d < num_devices; ++d) {
      levels[l].group_of_device[d] = static_cast<std::uint32_t>(d / group_size);
    }
    group_size /= arity[l];
  }
  std::vector<Device> devices(num_devices, device);
  for (std::size_t d = 0; d < num_devices; ++d) devices[d].name += std::to_string(d);
  return Topology(name, std::move(levels), std::move(devices));
}

}  // namespace weir::schedule
