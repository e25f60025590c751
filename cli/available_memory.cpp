// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/available_memory.hpp>

#include <algorithm>
#include <fstream>
#include <string>

namespace weir::cli {

namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> free_on_host(const fs::path& file) {
  constexpr std::uint64_t bytes_per_kilobyte = 1024;
  std::ifstream in(file);
  std::optional<std::uint64_t> bytes;
  std::string key, unit;
  for (std::uint64_t kilobytes = 0; in >> key >> kilobytes && std::getline(in, unit);) {
    if (key == "MemAvailable:" || key == "SwapFree:")
      bytes = bytes.value_or(0) + kilobytes * bytes_per_kilobyte;
  }
  return bytes;
}

void keep_smaller(std::optional<std::uint64_t>& bytes, const fs::path& limit_file) {
  std::ifstream in(limit_file);
  std::uint64_t limit = 0;
  if (in >> limit) bytes = std::min(limit, bytes.value_or(limit));  // no number: "max"
}

}  // namespace

std::optional<std::uint64_t> available_memory_bytes(const MemoryPaths& paths) {
  constexpr const char* limit = "memory.max";
  std::optional<std::uint64_t> bytes = free_on_host(paths.host);
  keep_smaller(bytes, paths.root / limit);
  std::ifstream in(paths.membership);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::")) continue;
    fs::path folder = paths.root;
    for (const fs::path& part : fs::path(line.substr(3)).relative_path()) {
      folder /= part;
      keep_smaller(bytes, folder / limit);
    }
  }
  return bytes;
}

}  // namespace weir::cli
