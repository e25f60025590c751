// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <weir/cli/world.hpp>

namespace weir::cli {

/// Runs the command that the arguments, without the program's name, ask for, and returns the exit
/// code of the process: the same on every rank.
int run_command_line(const std::vector<std::string>& arguments, const World& world);

}  // namespace weir::cli
