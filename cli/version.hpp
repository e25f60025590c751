// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weir/cli/world.hpp>

namespace weir::cli {

/// E.g. "0.1.0".
std::string version();
/// E.g. "GCC 12.2.0".
std::string compiler();
/// What --version prints.
std::string version_text(const World& world);

}  // namespace weir::cli
