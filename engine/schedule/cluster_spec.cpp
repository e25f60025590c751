// SPDX-License-Identifier: Apache-2.0
// Clusters named in a few characters.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <weir/engine/model/check.hpp>
#include <weir/engine/schedule/topology.hpp>
#include <weir/io/number_text.hpp>

namespace weir::schedule {

namespace {

/// Nodes as they are sold: GPUs on NVSwitch, and one network card for each GPU.
struct Kind {
  std::string_view name;
  double memory_bytes;
  Link inside_node;
  Link between_nodes;
};

// Latencies: 10 us within and 20 us between nodes, as [Isaev23] calibrates its systems.
constexpr std::array kinds = {
    Kind{"a100", 80e9, {300e9, 10e-6}, {25e9, 20e-6}},  // NVLink 3: 600 GB/s both ways; 200 Gb/s
    Kind{"h100", 80e9, {450e9, 10e-6}, {50e9, 20e-6}},  // NVLink 4: 900 GB/s both ways; 400 Gb/s
};

constexpr std::string_view expected =
    "KIND-AxB, e.g. a100-8x16 for 16 nodes of 8 (kinds: a100, h100), or AxB@X,Y with GB/s inside "
    "and between nodes";

[[noreturn]] void refuse(std::string_view spec) {
  throw Error(ErrorCode::usage,
              "cluster: found " + io::shown(spec) + "; expected " + std::string(expected));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto cut = text.find(separator);
    parts.push_back(text.substr(0, cut));
    if (cut == std::string_view::npos) return parts;
    text.remove_prefix(cut + 1);
  }
}

/// `8x16` innermost first; nothing where a part is no count.
std::optional<std::vector<std::size_t>> parse_counts(std::string_view text) {
  std::vector<std::size_t> counts;
  for (const std::string_view part : split(text, 'x')) {
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc{} || end != part.data() + part.size() || count == 0) return {};
    counts.push_back(count);
  }
  return counts;
}

/// Levels of a tree by their number, outermost first.
std::vector<Level> named_levels(std::size_t num_levels) {
  std::vector<Level> levels(num_levels);
  for (std::size_t l = 0; l < num_levels; ++l) {
    const std::size_t height = num_levels - 1 - l;
    levels[l].name = height == 0 ? "node" : l == 0 ? "cluster" : "switch";
    if (levels[l].name == "switch" && num_levels > 3) levels[l].name += std::to_string(height);
  }
  return levels;
}

Topology make_kind(std::string_view spec, const Kind& kind, std::vector<std::size_t> counts) {
  if (counts.size() > 3) refuse(spec);
  std::reverse(counts.begin(), counts.end());
  std::vector<Level> levels = named_levels(counts.size());
  for (Level& level : levels) {
    level.link = &level == &levels.back() ? kind.inside_node : kind.between_nodes;
  }
  return make_tree(std::string(spec), std::move(levels), counts,
                   {std::string(kind.name) + ".", 1, kind.memory_bytes});
}

Topology make_plain(std::string_view spec, std::vector<std::size_t> counts,
                    std::string_view bandwidths) {
  std::vector<double> each;
  for (const std::string_view part : split(bandwidths, ',')) {
    const auto bandwidth = io::parse_finite(part);
    if (!bandwidth || *bandwidth <= 0) refuse(spec);
    each.push_back(*bandwidth * 1e9);
  }
  if (each.size() != counts.size()) refuse(spec);
  std::reverse(counts.begin(), counts.end());
  std::vector<Level> levels = named_levels(counts.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].link.bandwidth = each[each.size() - 1 - l];
  }
  return make_tree(std::string(spec), std::move(levels), counts, {"device", 1, 0});
}

}  // namespace

bool is_cluster_spec(std::string_view text) {
  const auto at = text.find('@');
  if (at != std::string_view::npos) return parse_counts(text.substr(0, at)).has_value();
  const auto dash = text.find('-');
  return dash != std::string_view::npos && parse_counts(text.substr(dash + 1)).has_value();
}

Topology parse_cluster(std::string_view spec) {
  if (const auto at = spec.find('@'); at != std::string_view::npos) {
    const auto counts = parse_counts(spec.substr(0, at));
    if (!counts) refuse(spec);
    return make_plain(spec, *counts, spec.substr(at + 1));
  }
  const auto dash = spec.find('-');
  if (dash == std::string_view::npos) refuse(spec);
  const auto counts = parse_counts(spec.substr(dash + 1));
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& each) {
    return each.name == spec.substr(0, dash);
  });
  if (!counts || kind == kinds.end()) refuse(spec);
  return make_kind(spec, *kind, *counts);
}

}  // namespace weir::schedule
