// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/topology_files.hpp>

#include <algorithm>
#include <cctype>

#include <weir/engine/model/check.hpp>
#include <weir/engine/schedule/topology_text.hpp>
#include <weir/io/lines.hpp>

namespace weir::schedule {

std::vector<std::string_view> TopologyText::lines() const {
  std::vector<std::string_view> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::size_t TopologyText::line_at(std::size_t offset) const {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

void TopologyText::fail(std::size_t line, const std::string& found,
                        const std::string& expected) const {
  throw Error(ErrorCode::input,
              name + ":" + std::to_string(line) + ": found " + found + "; expected " + expected);
}

namespace {

std::vector<std::uint32_t> number_groups(const std::vector<Leaf>& leaves, std::size_t level,
                                         const std::vector<std::uint32_t>& outer) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t d = 0; d < leaves.size(); ++d) {
    const bool is_next = d > 0 && (outer[d] != outer[d - 1] ||
                                   leaves[d].groups[level] != leaves[d - 1].groups[level]);
    numbers.push_back(d == 0 ? 0 : numbers.back() + (is_next ? 1 : 0));
  }
  return numbers;
}

/// A group that a leaf lacks is that of the next level inwards.
void fill_gaps(Leaf& leaf, std::size_t num_levels) {
  leaf.groups.resize(num_levels);
  std::string inner = leaf.device;
  for (std::size_t l = num_levels; l-- > 0;) {
    if (leaf.groups[l].empty()) leaf.groups[l] = inner;
    inner = leaf.groups[l];
  }
}

}  // namespace

Topology tree_of(const std::string& name, std::vector<Leaf> leaves, std::vector<Level> levels) {
  std::vector<Device> devices;
  for (Leaf& leaf : leaves) {
    devices.push_back({leaf.device, 1, 0});
    fill_gaps(leaf, levels.size());
  }
  std::vector<Level> kept;
  const std::vector<std::uint32_t> all(leaves.size(), 0);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].group_of_device =
        number_groups(leaves, l, kept.empty() ? all : kept.back().group_of_device);
    const auto& groups = levels[l].group_of_device;
    const bool joins_any = leaves.size() == 1 || groups.back() + 1 < leaves.size();
    if (!joins_any && !kept.empty()) break;
    if (kept.empty() && groups.back() > 0) {  // several roots
      kept.push_back(levels[l]);
      kept.back().name = "cluster";
      kept.back().group_of_device = all;
      if (!joins_any) continue;
    }
    // Of two levels that join the same, the inner one is what they are joined by.
    if (!kept.empty() && kept.back().group_of_device == groups) kept.pop_back();
    kept.push_back(std::move(levels[l]));
  }
  return Topology(name, std::move(kept), std::move(devices));
}

namespace {

TopologyFormat find_format(const TopologyText& text) {
  const auto has = [&](std::string_view word) {
    const auto is_same = [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    };
    return std::search(text.text.begin(), text.text.end(), word.begin(), word.end(), is_same) !=
           text.text.end();
  };
  if (io::trimmed(text.text).starts_with('<') && has("<topology")) return TopologyFormat::hwloc;
  if (has("<system")) return TopologyFormat::nccl;
  if (has("npus_count")) return TopologyFormat::astra_sim;
  if (has("switchname") || has("blockname")) return TopologyFormat::slurm;
  if (has("gpu0")) return TopologyFormat::nvidia_smi;
  text.fail(1, "no topology that weir knows",
            "nvidia-smi topo -m, NCCL or hwloc XML, Slurm's topology.conf, or ASTRA-sim's YAML");
}

Topology read_input(const io::Input& input, const TopologyFileOptions& options) {
  TopologyText text{input.name(), {}};
  io::Lines lines(input);
  while (lines.next()) text.text.append(lines.text()) += '\n';
  const TopologyFormat format =
      options.format == TopologyFormat::automatic ? find_format(text) : options.format;
  switch (format) {
    case TopologyFormat::nvidia_smi: return read_nvidia_smi(text, options);
    case TopologyFormat::nccl: return read_nccl(text, options);
    case TopologyFormat::hwloc: return read_hwloc(text, options);
    case TopologyFormat::slurm: return read_slurm(text, options);
    case TopologyFormat::astra_sim: return read_astra_sim(text, options);
    case TopologyFormat::automatic: break;
  }
  throw Error(ErrorCode::internal, "a topology format without a reader");
}

}  // namespace

Topology read_topology(const std::string& path, const TopologyFileOptions& options) {
  return read_input(io::Input::open(path, 0, {}), options);
}

Topology parse_topology(const std::string& name, std::string_view text,
                        const TopologyFileOptions& options) {
  return read_input(io::Input::from_memory(name, text), options);
}

}  // namespace weir::schedule
