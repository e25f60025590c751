// SPDX-License-Identifier: Apache-2.0
// NCCL's topology: a system of processors, PCI switches below them, devices below these.
#include <algorithm>
#include <optional>

#include <weir/engine/schedule/xml_text.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::schedule {

namespace {

constexpr double nvlink_bandwidth = 25e9;  // of one link, each way; NVLink 2 to 4
constexpr const char* nvswitch_class = "0x068000";

class NcclFile {
 public:
  NcclFile(const TopologyText& text, const TopologyFileOptions& options)
      : text_(text), options_(options) {}

  Topology read() {
    pugi::xml_document document;
    const pugi::xml_node system = load_xml(document, text_, "system");
    slowest_ = options_.unknown_link.bandwidth;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      const std::string where = "cpu" + std::to_string(num_groups_++);
      for (const pugi::xml_node pci : cpu.children("pci")) visit(pci, {"system", where});
    }
    if (leaves_.empty()) text_.fail(line_of(text_, system), "no GPU", "at least one");
    if (has_nvswitch_) return through_nvswitch();
    std::vector<Level> levels;
    for (std::size_t l = 0; l < depth_; ++l) {
      const char* const name = l == 0 ? "system" : l == 1 ? "cpu" : "pci";
      levels.push_back({name, {slowest_, options_.unknown_link.latency_seconds}, {}});
    }
    return tree_of(text_.name, leaves_, std::move(levels));
  }

 private:
  /// GPUs are marked as such, or are PCI devices of the class of 3D controllers.
  static bool is_gpu(const pugi::xml_node& pci) {
    return pci.child("gpu") ||
           std::string_view(pci.attribute("class").value()).starts_with("0x0302");
  }

  void visit(const pugi::xml_node& pci, std::vector<std::string> groups) {
    const std::string address = pci.attribute("busid").value();
    if (address.empty()) text_.fail(line_of(text_, pci), "a pci without busid", "one");
    if (is_gpu(pci)) {
      take_speed(pci);
      take_nvlinks(pci.child("gpu"));
      depth_ = std::max(depth_, groups.size());
      leaves_.push_back({address, std::move(groups)});
      return;
    }
    groups.push_back(address);
    for (const pugi::xml_node inner : pci.children("pci")) visit(inner, groups);
  }

  /// `16.0 GT/s PCIe` times lanes; 128 of 130 bits carry data, below 8 GT/s 8 of 10.
  void take_speed(const pugi::xml_node& pci) {
    std::string_view speed = pci.attribute("link_speed").value();
    const std::string_view lanes = pci.attribute("link_width").value();
    if (speed.empty() || lanes.empty()) return;
    const auto transfers = io::parse_finite(io::take_token(speed));
    const auto width = io::parse_integer(lanes);
    if (!transfers || *transfers <= 0 || !width || *width < 0 || *width > 32) {
      text_.fail(line_of(text_, pci),
                 "link_speed " + io::shown(pci.attribute("link_speed").value()) + ", link_width " +
                     io::shown(lanes),
                 "as in 16.0 GT/s and 16");
    }
    if (*width == 0) return;  // not known
    const double share = *transfers < 8 ? 8.0 / 10 : 128.0 / 130;
    const double bandwidth = *transfers * 1e9 * share * static_cast<double>(*width) / 8;
    slowest_ = has_speed_ ? std::min(slowest_, bandwidth) : bandwidth;
    has_speed_ = true;
  }

  void take_nvlinks(const pugi::xml_node& gpu) {
    std::int64_t num_links = 0;
    for (const pugi::xml_node link : gpu.children("nvlink")) {
      if (std::string_view(link.attribute("tclass").value()) != nvswitch_class) continue;
      const auto count = io::parse_integer(link.attribute("count").value());
      if (!count || *count < 1 || *count > 1000) {
        text_.fail(line_of(text_, link), "count " + io::shown(link.attribute("count").value()),
                   "a number of links");
      }
      num_links += *count;
    }
    has_nvswitch_ = (leaves_.empty() || has_nvswitch_) && num_links > 0;
    if (fewest_links_ == 0 || num_links < fewest_links_) fewest_links_ = num_links;
  }

  Topology through_nvswitch() const {
    const double bandwidth = nvlink_bandwidth * static_cast<double>(fewest_links_);
    std::vector<Leaf> leaves = leaves_;
    for (Leaf& leaf : leaves) leaf.groups = {"nvswitch"};
    return tree_of(text_.name, leaves, {{"nvswitch", {bandwidth, 0}, {}}});
  }

  const TopologyText& text_;
  const TopologyFileOptions& options_;
  std::vector<Leaf> leaves_;
  std::size_t num_groups_ = 0;
  std::size_t depth_ = 2;
  double slowest_ = 0;
  bool has_speed_ = false;
  bool has_nvswitch_ = false;
  std::int64_t fewest_links_ = 0;
};

}  // namespace

Topology read_nccl(const TopologyText& text, const TopologyFileOptions& options) {
  return NcclFile(text, options).read();
}

}  // namespace weir::schedule
