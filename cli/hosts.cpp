// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/hosts.hpp>

#include <algorithm>
#include <array>

#include <unistd.h>

#include <weir/engine/runtime/collectives.hpp>

namespace weir::cli {

std::vector<std::uint32_t> hosts_of_ranks(Context& context) {
  std::array<char, 256> own{};
  if (::gethostname(own.data(), own.size() - 1) != 0) own = {};
  const auto names = all_gather(context, own);
  std::vector<std::array<char, 256>> known;
  std::vector<std::uint32_t> hosts;
  for (const auto& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    hosts.push_back(static_cast<std::uint32_t>(found - known.begin()));
    if (found == known.end()) known.push_back(name);
  }
  return hosts;
}

}  // namespace weir::cli
