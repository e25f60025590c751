// SPDX-License-Identifier: Apache-2.0
// Slurm's topology.conf: a tree of switches, or blocks of nodes.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include <weir/engine/schedule/topology_text.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::schedule {

namespace {

constexpr std::size_t most_nodes = std::size_t{1} << 20;
constexpr std::size_t deepest_switch = 16;

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

class SlurmFile {
 public:
  SlurmFile(const TopologyText& text, const TopologyFileOptions& options)
      : text_(text), options_(options) {}

  Topology read() {
    const auto lines = text_.lines();
    for (std::size_t l = 0; l < lines.size(); ++l) read_line(l + 1, lines[l]);
    if (switches_.empty()) text_.fail(1, "neither switch nor block", "SwitchName= or BlockName=");
    link_switches();
    std::map<std::size_t, std::string> roots;  // by line
    for (const auto& [name, each] : switches_) {
      if (each.parent.empty()) roots.emplace(each.line, name);
    }
    for (const auto& [line, root] : roots) add_leaves(root, {});
    if (leaves_.empty()) text_.fail(1, "no node", "Nodes= of at least one switch");
    std::vector<Level> levels;
    for (std::size_t l = 0; l < depth_; ++l) {
      levels.push_back(
          {has_blocks_ ? "block" : "switch" + std::to_string(l), options_.unknown_link, {}});
    }
    if (options_.devices_per_node > 1) split_nodes(levels);
    return tree_of(text_.name, std::move(leaves_), std::move(levels));
  }

 private:
  struct Switch {
    std::size_t line = 0;
    std::vector<std::string> nodes;
    std::vector<std::string> switches;
    std::string parent;
  };

  void read_line(std::size_t number, std::string_view line) {
    line = io::trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return;
    std::string name;
    Switch found;
    found.line = number;
    std::string_view rest = line;
    for (auto word = io::take_token(rest); !word.empty(); word = io::take_token(rest)) {
      const auto equals = word.find('=');
      if (equals == std::string_view::npos) text_.fail(number, io::shown(word), "KEY=VALUE");
      const std::string key = lowered(word.substr(0, equals));
      const std::string_view value = word.substr(equals + 1);
      if (key == "switchname" || key == "blockname") {
        name = std::string(value);
        take_kind(number, key == "blockname");
      } else if (key == "nodes") {
        found.nodes = expand(number, value);
      } else if (key == "switches") {
        found.switches = expand(number, value);
      } else if (key == "blocksizes") {
        return;  // how many nodes Slurm gives out together; no part of the tree
      } else if (key != "linkspeed") {
        text_.fail(number, io::shown(word), "SwitchName, BlockName, Nodes, Switches or LinkSpeed");
      }
    }
    if (name.empty()) text_.fail(number, "no name", "SwitchName= or BlockName=");
    if (found.nodes.empty() == found.switches.empty()) {
      text_.fail(number, "switch " + io::shown(name), "Nodes= or Switches=, one of them");
    }
    if (!switches_.emplace(name, std::move(found)).second) {
      text_.fail(number, "a second " + io::shown(name), "each once");
    }
  }

  void take_kind(std::size_t number, bool is_block) {
    if (!switches_.empty() && is_block != has_blocks_) {
      text_.fail(number, "switches and blocks", "one of them");
    }
    has_blocks_ = is_block;
  }

  /// `a,b[1-3,07]`: names between commas, with ranges of numbers in brackets.
  std::vector<std::string> expand(std::size_t number, std::string_view list) const {
    std::vector<std::string> names;
    while (!list.empty()) {
      const auto bracket = list.find('[');
      const auto comma = list.find(',');
      if (bracket == std::string_view::npos || comma < bracket) {
        names.emplace_back(list.substr(0, comma));
        if (names.back().empty()) text_.fail(number, "an empty name", "names between commas");
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        continue;
      }
      const auto close = list.find(']', bracket);
      const bool ends = close + 1 == list.size() || (close < list.size() && list[close + 1] == ',');
      if (close == std::string_view::npos || !ends) {
        text_.fail(number, io::shown(list), "NAME[FIRST-LAST] and a comma or the end");
      }
      expand_ranges(number, list.substr(0, bracket), list.substr(bracket + 1, close - bracket - 1),
                    names);
      list.remove_prefix(std::min(close + 2, list.size()));
    }
    return names;
  }

  void expand_ranges(std::size_t number, std::string_view prefix, std::string_view ranges,
                     std::vector<std::string>& names) const {
    for (;;) {
      const auto comma = ranges.find(',');
      const std::string_view range = ranges.substr(0, comma);
      const auto dash = range.find('-');
      const std::string_view first = range.substr(0, dash);
      const auto from = io::parse_integer(first);
      const auto to =
          dash == std::string_view::npos ? from : io::parse_integer(range.substr(dash + 1));
      if (!from || !to || *from < 0 || *to < *from ||
          names.size() + static_cast<std::size_t>(*to - *from) >= most_nodes) {
        text_.fail(number, io::shown(range), "FIRST-LAST, up to 2^20 nodes");
      }
      for (auto n = *from; n <= *to; ++n) {
        std::string digits = std::to_string(n);
        if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
        names.push_back(std::string(prefix) + digits);
      }
      if (comma == std::string_view::npos) return;
      ranges.remove_prefix(comma + 1);
    }
  }

  void link_switches() {
    for (const auto& [name, each] : switches_) {
      for (const std::string& inner : each.switches) {
        const auto found = switches_.find(inner);
        if (found == switches_.end()) {
          text_.fail(each.line, "switch " + io::shown(inner), "one that the file describes");
        }
        if (!found->second.parent.empty()) {
          text_.fail(each.line, "switch " + io::shown(inner) + " below two others", "a tree");
        }
        found->second.parent = name;
      }
    }
    for (const auto& [name, each] : switches_) {
      std::string at = name;
      for (std::size_t depth = 0; !at.empty(); ++depth, at = switches_.at(at).parent) {
        if (depth == deepest_switch) {
          text_.fail(each.line, "switch " + io::shown(name) + " over 16 deep or below itself",
                     "a tree");
        }
      }
    }
  }

  void add_leaves(const std::string& name, std::vector<std::string> groups) {
    const Switch& each = switches_.at(name);
    groups.push_back(name);
    for (const std::string& inner : each.switches) add_leaves(inner, groups);
    for (const std::string& node : each.nodes) {
      const auto [other, is_new] = switch_of_node_.emplace(node, name);
      if (!is_new) {
        text_.fail(each.line, "node " + io::shown(node) + ", which is at " + other->second,
                   "each node once");
      }
      depth_ = std::max(depth_, groups.size());
      leaves_.push_back({node, groups});
      if (leaves_.size() * options_.devices_per_node > most_nodes) {
        text_.fail(each.line, "over 2^20 devices", "fewer");
      }
    }
  }

  void split_nodes(std::vector<Level>& levels) {
    levels.push_back({"node", options_.inside_node, {}});
    std::vector<Leaf> devices;
    for (Leaf& node : leaves_) {
      node.groups.resize(depth_);
      node.groups.push_back(node.device);
      for (std::size_t d = 0; d < options_.devices_per_node; ++d) {
        devices.push_back({node.device + '.' + std::to_string(d), node.groups});
      }
    }
    leaves_ = std::move(devices);
  }

  const TopologyText& text_;
  const TopologyFileOptions& options_;
  std::map<std::string, Switch> switches_;
  std::map<std::string, std::string> switch_of_node_;
  std::vector<Leaf> leaves_;
  std::size_t depth_ = 0;
  bool has_blocks_ = false;
};

}  // namespace

Topology read_slurm(const TopologyText& text, const TopologyFileOptions& options) {
  return SlurmFile(text, options).read();
}

}  // namespace weir::schedule
