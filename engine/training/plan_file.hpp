// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <weir/engine/training/placed_plan.hpp>

namespace weir::training {

/// The plan as JSON, in seconds and bytes; docs/planning.md lists the keys. Equal plans give equal
/// text.
std::string to_json(const PlacedPlan& plan);

/// Reads what to_json() wrote; `name` is told in errors. Throws Error{input} for what is no plan:
/// not JSON, a key that is missing or not as documented, sizes that make no model, ranks that
/// share a device, ticks that cannot be run.
PlacedPlan parse_plan(std::string_view text, const std::string& name);

PlacedPlan read_plan(const std::filesystem::path& path);

}  // namespace weir::training
