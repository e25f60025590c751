// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/engine/schedule/topology_files.hpp>

/// What the readers of topologies share.
namespace weir::schedule {

/// The text of a file.
struct TopologyText {
  std::string name;
  std::string text;

  std::vector<std::string_view> lines() const;
  std::size_t line_at(std::size_t offset) const;  ///< From 1.

  /// Throws Error{input} with the text `FILE:LINE: found ...; expected ...`; `line` counts from 1.
  [[noreturn]] void fail(std::size_t line, const std::string& found,
                         const std::string& expected) const;
};

/// A device with the groups it is in, outermost first; groups are told apart by their names, and an
/// empty name is a level that the device lacks.
struct Leaf {
  std::string device;
  std::vector<std::string> groups;
};

/// A tree of leaves in their order; levels that join no two devices, or the same devices as the
/// level inside them, are left out.
Topology tree_of(const std::string& name, std::vector<Leaf> leaves, std::vector<Level> levels);

Topology read_nvidia_smi(const TopologyText& text, const TopologyFileOptions& options);
Topology read_nccl(const TopologyText& text, const TopologyFileOptions& options);
Topology read_hwloc(const TopologyText& text, const TopologyFileOptions& options);
Topology read_slurm(const TopologyText& text, const TopologyFileOptions& options);
Topology read_astra_sim(const TopologyText& text, const TopologyFileOptions& options);

}  // namespace weir::schedule
