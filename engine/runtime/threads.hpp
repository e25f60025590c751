// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace weir {

/// The cores a process is bound to.
struct Affinity {
  int num_cores = 1;
  std::uint64_t mask_hash = 0;  ///< Equal for processes bound to the same cores.
};

Affinity current_affinity();

/// Cores online on this host, bound to or not.
int num_online_cores();

/// Where the kernel tells about control groups; tests give others.
struct CgroupPaths {
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path root = "/sys/fs/cgroup";
};

/// The processor quota of this process's control group and of those around it (version 1 or 2), in
/// whole cores, rounded up; empty without one.
std::optional<int> cgroup_quota(const CgroupPaths& paths = {});

/// What the default number of threads is made of.
struct ThreadShare {
  int num_cores = 1;         ///< Cores this rank is bound to.
  int ranks_on_cores = 1;    ///< Ranks of this host bound to the same cores.
  std::optional<int> quota;  ///< Cores this host's control group may use.
  int ranks_on_host = 1;
};

/// min(cores / ranks on them, quota / ranks on the host), at least 1.
int default_threads(const ThreadShare& share);

}  // namespace weir
