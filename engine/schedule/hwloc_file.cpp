// SPDX-License-Identifier: Apache-2.0
// hwloc's XML: GPUs where the machine has some, else cores.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <weir/engine/schedule/xml_text.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::schedule {

namespace {

/// Objects that join what is below them, by the names of hwloc 1 and later.
constexpr std::array<std::string_view, 9> joining = {
    "Machine", "Group", "Package", "Socket", "Die", "NUMANode", "L3Cache", "L2Cache", "Bridge"};

class HwlocFile {
 public:
  HwlocFile(const TopologyText& text, const TopologyFileOptions& options)
      : text_(text), options_(options) {}

  Topology read() {
    pugi::xml_document document;
    const pugi::xml_node topology = load_xml(document, text_, "topology");
    for (const pugi::xml_node object : topology.children("object")) visit(object, {});
    const std::vector<Leaf>& leaves = gpus_.empty() ? cores_ : gpus_;
    if (leaves.empty()) text_.fail(line_of(text_, topology), "neither GPU nor core", "one");
    if (!gpus_.empty()) {
      if (const auto bandwidth = nvlink_bandwidth(topology)) return through_nvlink(*bandwidth);
    }
    return tree(leaves);
  }

 private:
  struct Group {
    std::string kind;  ///< `Group`, and `Group 2` inside another.
    std::string name;
  };

  void visit(const pugi::xml_node& object, std::vector<Group> groups) {
    const std::string type = object.attribute("type").value();
    if (type.empty()) text_.fail(line_of(text_, object), "an object without type", "one");
    const std::string id = "object " + std::to_string(num_objects_++);
    if (type == "Core") cores_.push_back(make_leaf("core" + std::to_string(cores_.size()), groups));
    if (is_gpu(object, type)) {
      gpus_.push_back(make_leaf("gpu" + std::to_string(gpus_.size()), groups));
      for (const pugi::xml_node inner : object.children("object")) {
        gpu_objects_.insert(std::string("OSDev:") + inner.attribute("gp_index").value());
      }
      gpu_objects_.insert("PCIDev:" + std::string(object.attribute("gp_index").value()));
    }
    if (std::find(joining.begin(), joining.end(), type) != joining.end()) {
      const auto depth = 1 + std::count_if(groups.begin(), groups.end(), [&](const Group& group) {
                           return group.kind.starts_with(type);
                         });
      groups.push_back({depth == 1 ? type : type + ' ' + std::to_string(depth), id});
    }
    for (const pugi::xml_node inner : object.children("object")) visit(inner, groups);
  }

  static bool is_gpu(const pugi::xml_node& object, std::string_view type) {
    return type == "PCIDev" &&
           std::string_view(object.attribute("pci_type").value()).starts_with("0302");
  }

  /// Numbers the kinds of groups as they are met, from the outside.
  Leaf make_leaf(std::string name, const std::vector<Group>& groups) {
    Leaf leaf{std::move(name), {}};
    auto next = kinds_.begin();
    for (const Group& group : groups) {
      auto known = std::find(kinds_.begin(), kinds_.end(), group.kind);
      if (known == kinds_.end()) known = kinds_.insert(next, group.kind);
      next = known + 1;
    }
    groups_of_leaf_[leaf.device] = groups;
    return leaf;
  }

  Topology tree(std::vector<Leaf> leaves) const {
    std::vector<Level> levels;
    for (const std::string& kind : kinds_) levels.push_back({kind, options_.unknown_link, {}});
    for (Leaf& leaf : leaves) {
      leaf.groups.resize(kinds_.size());
      for (const Group& group : groups_of_leaf_.at(leaf.device)) {
        const auto kind = std::find(kinds_.begin(), kinds_.end(), group.kind);
        leaf.groups[static_cast<std::size_t>(kind - kinds_.begin())] = group.name;
      }
    }
    return tree_of(text_.name, std::move(leaves), std::move(levels));
  }

  /// What every GPU has towards switches, in bytes per second, if the file says so.
  std::optional<double> nvlink_bandwidth(const pugi::xml_node& topology) const {
    for (const pugi::xml_node matrix : topology.children("distances2hetero")) {
      if (std::string_view(matrix.attribute("name").value()) != "NVLinkBandwidth") continue;
      const auto objects = words_of(matrix, "indexes");
      const auto values = words_of(matrix, "u64values");
      if (values.size() != objects.size() * objects.size()) {
        text_.fail(line_of(text_, matrix), std::to_string(values.size()) + " bandwidths",
                   std::to_string(objects.size()) + " squared");
      }
      double least = 0;
      std::size_t num_gpus = 0;
      for (std::size_t row = 0; row < objects.size(); ++row) {
        if (!gpu_objects_.contains(objects[row])) continue;
        ++num_gpus;
        double sum = 0;
        for (std::size_t c = 0; c < objects.size(); ++c) {
          if (gpu_objects_.contains(objects[c])) continue;
          const auto value = io::parse_finite(values[row * objects.size() + c]);
          if (!value || *value < 0) {
            text_.fail(line_of(text_, matrix), io::shown(values[row * objects.size() + c]),
                       "a bandwidth in MB/s");
          }
          sum += *value * 1e6;
        }
        least = num_gpus == 1 ? sum : std::min(least, sum);
      }
      if (num_gpus == gpus_.size() && least > 0) return least;
    }
    return {};
  }

  static std::vector<std::string> words_of(const pugi::xml_node& matrix, const char* element) {
    std::vector<std::string> words;
    for (const pugi::xml_node part : matrix.children(element)) {
      std::string_view rest = part.child_value();
      for (auto word = io::take_token(rest); !word.empty(); word = io::take_token(rest)) {
        words.emplace_back(word);
      }
    }
    return words;
  }

  Topology through_nvlink(double bandwidth) const {
    std::vector<Leaf> leaves = gpus_;
    for (Leaf& leaf : leaves) leaf.groups = {"machine"};
    return tree_of(text_.name, std::move(leaves), {{"NVLink", {bandwidth, 0}, {}}});
  }

  const TopologyText& text_;
  const TopologyFileOptions& options_;
  std::vector<Leaf> cores_;
  std::vector<Leaf> gpus_;
  std::set<std::string> gpu_objects_;
  std::vector<std::string> kinds_;
  std::map<std::string, std::vector<Group>> groups_of_leaf_;
  std::size_t num_objects_ = 0;
};

}  // namespace

Topology read_hwloc(const TopologyText& text, const TopologyFileOptions& options) {
  return HwlocFile(text, options).read();
}

}  // namespace weir::schedule
