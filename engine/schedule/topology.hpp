// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::schedule {

/// What it takes to move bytes between two devices.
struct Link {
  double bandwidth = 0;        ///< Bytes per second of one device, each way.
  double latency_seconds = 0;  ///< Of one message.
};

/// Something that computes; a GPU, or a core.
struct Device {
  std::string name;
  double speed = 1;         ///< Work per second, relative to the device that was profiled.
  double memory_bytes = 0;  ///< 0: not known, not limited.
};

/// One level of the tree: the groups that its units are joined in. Two devices that no lower level
/// joins talk over `link`.
struct Level {
  std::string name;  ///< cluster, switch, node, socket, ...
  Link link{};
  std::vector<std::uint32_t> group_of_device;  ///< From 0, never falling.
};

/// A cluster as a tree: levels from the outermost, which is one group of all devices, to the
/// innermost; each group lies inside one group of the level above and holds consecutive devices.
class Topology {
 public:
  /// Throws Error{input} where a level is no refinement of the one above it, or a bandwidth, a
  /// latency or a speed makes no sense.
  Topology(std::string name, std::vector<Level> levels, std::vector<Device> devices);

  const std::string& name() const { return name_; }
  const std::vector<Level>& levels() const { return levels_; }
  const std::vector<Device>& devices() const { return devices_; }
  std::size_t num_devices() const { return devices_.size(); }
  std::size_t num_groups(std::size_t level) const;

  /// The innermost level that joins two devices; the number of levels for a device and itself.
  std::size_t common_level(std::size_t a, std::size_t b) const;

  /// The link between two different devices.
  const Link& link_between(std::size_t a, std::size_t b) const {
    return levels_[common_level(a, b)].link;
  }

  /// Edges of the tree between two devices: 2 within an innermost group, 0 for a device and itself.
  std::size_t hops(std::size_t a, std::size_t b) const {
    return 2 * (levels_.size() - common_level(a, b));
  }

  /// The first `num_devices` devices alone. Throws Error{usage} where there are fewer.
  Topology first(std::size_t num_devices) const;

  /// `factor` times as fast a device. Throws Error{usage} at an unknown device or a factor that is
  /// not above 0.
  void scale_speed(std::size_t device, double factor);

  /// All devices hold that many bytes.
  void set_memory(double bytes);

 private:
  std::string name_;
  std::vector<Level> levels_;
  std::vector<Device> devices_;
};

/// A regular tree of `arity[0]` groups of `arity[1]` groups ... of devices, `levels` outermost
/// first; their `group_of_device` is ignored. Throws Error{usage} for more than 2^20 devices or
/// none.
Topology make_tree(const std::string& name, std::vector<Level> levels,
                   const std::vector<std::size_t>& arity, const Device& device);

/// A cluster named in a few characters; docs/planning.md lists the kinds.
///
/// `KIND-AxB`, B nodes of A devices of a known kind, e.g. `a100-8x1536`; `KIND-AxBxC`, C switches
/// of B nodes; `AxB@X,Y`, devices without a kind at X GB/s inside a node and Y GB/s between nodes,
/// with as many bandwidths as numbers. Throws Error{usage}.
Topology parse_cluster(std::string_view spec);

/// True if it looks like a spec and no file is needed: `NAME-8x2`, `8x2@25,3`, `4@1`.
bool is_cluster_spec(std::string_view text);

}  // namespace weir::schedule
