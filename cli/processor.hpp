// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace weir::cli {

/// Where the kernel tells about processors; tests give others.
struct ProcessorPaths {
  std::filesystem::path list = "/proc/cpuinfo";
  std::filesystem::path governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
};

/// What times depend on besides the program. Fields are empty where the system does not tell.
struct Processor {
  std::string name;      ///< E.g. "AMD EPYC 9J14 96-Core Processor".
  std::string governor;  ///< Of the frequency, e.g. "performance".
  std::string system;    ///< Kernel and its release, e.g. "Linux 6.1.0-18-amd64".
  std::string host;
};

Processor this_processor(const ProcessorPaths& paths = {});

}  // namespace weir::cli
