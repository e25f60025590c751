// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <weir/engine/runtime/context.hpp>

namespace weir::cli {

/// The host of each rank, told by its name; hosts are numbered from 0 by their first rank.
/// Collective.
std::vector<std::uint32_t> hosts_of_ranks(Context& context);

}  // namespace weir::cli
