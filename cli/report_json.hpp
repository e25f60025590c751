// SPDX-License-Identifier: Apache-2.0
// What the reports of `weir run` and `weir bench` have in common.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include <weir/cli/report.hpp>

namespace weir::cli {

using Json = nlohmann::ordered_json;

/// A 64-bit number as `0x` and 16 digits.
std::string hexadecimal(std::uint64_t number);

/// The member `graph` of docs/report.md.
Json graph_json(const GraphSummary& graph);

/// The member `machine` of docs/report.md.
Json machine_json(const Job& job, int num_hosts);

/// The text of a file; what is no UTF-8 in it is replaced.
std::string text_of(const Json& json);

/// Root writes the text to a file. Collective. Throws Error{output}.
void write_json(Job& job, const std::string& text, const std::string& path);

}  // namespace weir::cli
