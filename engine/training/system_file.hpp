// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weir/engine/schedule/topology.hpp>
#include <weir/engine/training/iteration_time.hpp>

namespace weir::training {

/// A cluster, and what of their peaks its devices and links reach.
struct SystemFile {
  schedule::Topology cluster;
  double peak_flops = 0;         ///< Of the matrix units, 2-byte floats.
  double matmul_efficiency = 0;  ///< Share of it in the largest products.
  double memory_bytes_per_second = 0;
  double node_share = 0;     ///< Of the bandwidth inside a node, in collectives.
  double network_share = 0;  ///< Of the slowest above the nodes.
};

/// Reads a description of a system, Calculon's JSON ([Isaev23]): an object with `matrix`, `mem1`
/// and `networks`, the innermost first, each with the devices that it joins. Of efficiencies that
/// depend on the size of the work the largest is taken. Nothing where the file is none. Throws
/// Error{input} with the key where what it describes cannot be.
std::optional<SystemFile> read_system_file(const std::string& path);

/// The same from memory; `name` is for errors and names the cluster.
std::optional<SystemFile> parse_system_file(const std::string& name, std::string_view text);

/// The machine of some devices of a system: as of any cluster, with the file's shares and latency
/// in the place of usual ones; `peak_flops` in the place of the file's.
Machine machine_of(const SystemFile& system, const schedule::Topology& cluster,
                   std::optional<double> peak_flops);

}  // namespace weir::training
