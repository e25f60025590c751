// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/threads.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include <weir/engine/runtime/fnv_hash.hpp>

namespace weir {

namespace {

namespace fs = std::filesystem;

std::optional<int> whole_cores(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  const double cores = quota / period;
  if (cores >= std::numeric_limits<int>::max()) return std::nullopt;
  const int floor = static_cast<int>(cores);
  return std::max(1, floor + (static_cast<double>(floor) < cores ? 1 : 0));
}

std::optional<double> read_number(const fs::path& file) {
  std::ifstream in(file);
  double number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// "max 100000" or "150000 100000".
std::optional<int> quota_v2(const fs::path& folder) {
  std::ifstream in(folder / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max") return std::nullopt;
  std::istringstream text(quota);
  double microseconds = 0;
  if (!(text >> microseconds)) return std::nullopt;
  return whole_cores(microseconds, period);
}

std::optional<int> quota_v1(const fs::path& folder) {
  const auto quota = read_number(folder / "cpu.cfs_quota_us");
  const auto period = read_number(folder / "cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;  // -1: no quota
  return whole_cores(*quota, *period);
}

/// The smallest quota of `group` and the groups around it, up to `root`.
template <class ReadQuota>
std::optional<int> smallest_quota(const fs::path& root, const fs::path& group, ReadQuota read) {
  std::optional<int> smallest;
  const auto consider = [&](const fs::path& folder) {
    const auto quota = read(folder);
    if (quota) smallest = std::min(*quota, smallest.value_or(*quota));
  };
  fs::path folder = root;
  consider(folder);
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    consider(folder);
  }
  return smallest;
}

bool has_cpu(const std::string& controllers) {
  std::istringstream in(controllers);
  for (std::string name; std::getline(in, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

void keep_smaller(std::optional<int>& quota, std::optional<int> other) {
  if (other) quota = std::min(*other, quota.value_or(*other));
}

}  // namespace

Affinity current_affinity() {
  // The kernel refuses a mask shorter than its own; 2^20 cores are beyond any.
  for (std::size_t num_bits = 1024; num_bits <= (std::size_t{1} << 20); num_bits *= 2) {
    std::vector<cpu_set_t> mask((num_bits + CPU_SETSIZE - 1) / CPU_SETSIZE);
    const std::size_t num_bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, num_bytes, mask.data()) != 0) continue;
    FnvHash cores;
    for (std::size_t core = 0; core < num_bytes * 8; ++core) {
      if (CPU_ISSET_S(core, num_bytes, mask.data())) cores.add(std::uint64_t{core});
    }
    return {std::max(1, CPU_COUNT_S(num_bytes, mask.data())), cores.value()};
  }
  return {num_online_cores(), 0};
}

int num_online_cores() {
  return static_cast<int>(std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, 1L << 20));
}

std::optional<int> cgroup_quota(const CgroupPaths& paths) {
  std::optional<int> quota;
  std::ifstream in(paths.membership);
  for (std::string line; std::getline(in, line);) {  // hierarchy:controllers:path
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) {
      keep_smaller(quota, smallest_quota(paths.root, group, quota_v2));
    } else if (has_cpu(controllers)) {
      keep_smaller(quota, smallest_quota(paths.root / controllers, group, quota_v1));
      if (controllers != "cpu") {
        keep_smaller(quota, smallest_quota(paths.root / "cpu", group, quota_v1));
      }
    }
  }
  return quota;
}

int default_threads(const ThreadShare& share) {
  int threads = share.num_cores / std::max(1, share.ranks_on_cores);
  if (share.quota) threads = std::min(threads, *share.quota / std::max(1, share.ranks_on_host));
  return std::max(1, threads);
}

}  // namespace weir
