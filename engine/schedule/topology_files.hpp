// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <weir/engine/schedule/topology.hpp>

namespace weir::schedule {

/// Files that describe a node or a cluster; what is taken from each is in docs/planning.md.
enum class TopologyFormat {
  automatic,   ///< Told by the content.
  nvidia_smi,  ///< Output of `nvidia-smi topo -m`.
  nccl,        ///< NCCL's topology XML.
  hwloc,       ///< hwloc's XML, versions 1 to 3.
  slurm,       ///< Slurm's topology.conf, trees and blocks.
  astra_sim,   ///< ASTRA-sim's network YAML.
};

struct TopologyFileOptions {
  TopologyFormat format = TopologyFormat::automatic;
  /// Of each link that the file names no speed of; by default that of PCIe 3.0 with 16 lanes.
  Link unknown_link{15.75e9, 0};
  /// Devices in a node of a file that lists nodes only, and the link between these.
  std::size_t devices_per_node = 1;
  Link inside_node{300e9, 0};
};

/// Reads a topology; plain or packed by gzip or zstd, `-` is standard input.
///
/// Throws Error{input} with the text `FILE:LINE: found ...; expected ...`.
Topology read_topology(const std::string& path, const TopologyFileOptions& options = {});

/// The same from memory; `name` is for errors.
Topology parse_topology(const std::string& name, std::string_view text,
                        const TopologyFileOptions& options = {});

}  // namespace weir::schedule
