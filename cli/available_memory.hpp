// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace weir::cli {

/// Where the kernel tells about memory; tests give others.
struct MemoryPaths {
  std::filesystem::path host = "/proc/meminfo";
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path root = "/sys/fs/cgroup";
};

/// The most that processes of this host could still get: what the host has free, swap included, or
/// the limit of a control group (version 2) around this process if that is less. Empty where the
/// kernel does not tell.
std::optional<std::uint64_t> available_memory_bytes(const MemoryPaths& paths = {});

}  // namespace weir::cli
