// SPDX-License-Identifier: Apache-2.0
// ASTRA-sim's analytical network: one list entry for each dimension, innermost first.
#include <algorithm>

#include <yaml-cpp/yaml.h>
#include <weir/engine/schedule/topology_text.hpp>
#include <weir/io/number_text.hpp>

namespace weir::schedule {

namespace {

class AstraSimFile {
 public:
  explicit AstraSimFile(const TopologyText& text) : text_(text) {}

  Topology read() const {
    const YAML::Node file = load();
    if (!file.IsMap())
      text_.fail(line_of(file), "no map", "topology, npus_count, bandwidth, latency");
    const auto shapes = list(file, "topology");
    const auto counts = list(file, "npus_count");
    const auto bandwidths = list(file, "bandwidth");
    const auto latencies = list(file, "latency");
    const std::size_t n = shapes.size();
    for (const auto& [key, size] :
         {std::pair("npus_count", counts.size()), std::pair("bandwidth", bandwidths.size()),
          std::pair("latency", latencies.size())}) {
      if (size == n) continue;
      text_.fail(line_of(file[key]), std::to_string(size) + " entries of " + key,
                 std::to_string(n) + ", as many as of topology");
    }
    std::vector<Level> levels;
    std::vector<std::size_t> arity;
    for (std::size_t d = n; d-- > 0;) {
      check_shape(shapes[d]);
      const double count = number(counts[d], "npus_count", 1);
      if (count > 1 << 20 || count != static_cast<double>(static_cast<std::size_t>(count))) {
        text_.fail(line_of(counts[d]), io::shown(counts[d].Scalar()), "a whole number up to 2^20");
      }
      arity.push_back(static_cast<std::size_t>(count));
      const Link link{number(bandwidths[d], "bandwidth", 1e-12) * 1e9,
                      number(latencies[d], "latency", 0) * 1e-9};
      levels.push_back({shapes[d].Scalar() + std::to_string(d + 1), link, {}});
    }
    return make_tree(text_.name, std::move(levels), arity, {"npu", 1, 0});
  }

 private:
  YAML::Node load() const {
    try {
      return YAML::Load(text_.text);
    } catch (const YAML::Exception& error) {
      const int line = std::max(error.mark.line, 0);
      text_.fail(static_cast<std::size_t>(line) + 1, "what is no YAML: " + error.msg,
                 "ASTRA-sim's network description");
    }
  }

  static std::size_t line_of(const YAML::Node& node) {
    return static_cast<std::size_t>(std::max(node.Mark().line, 0)) + 1;
  }

  std::vector<YAML::Node> list(const YAML::Node& file, const char* key) const {
    const YAML::Node found = file[key];
    if (!found) text_.fail(1, std::string("no ") + key, "a list of it");
    if (!found.IsSequence() || found.size() == 0 || found.size() > 16) {
      text_.fail(line_of(found), std::string("no list as ") + key, "[ENTRY, ENTRY], 1 to 16");
    }
    std::vector<YAML::Node> entries(found.begin(), found.end());
    for (const YAML::Node& entry : entries) {
      if (!entry.IsScalar())
        text_.fail(line_of(entry), "a list inside " + std::string(key), "a value");
    }
    return entries;
  }

  void check_shape(const YAML::Node& shape) const {
    for (const char* known : {"Ring", "FullyConnected", "Switch"}) {
      if (shape.Scalar() == known) return;
    }
    text_.fail(line_of(shape), io::shown(shape.Scalar()), "Ring, FullyConnected or Switch");
  }

  double number(const YAML::Node& node, const char* key, double least) const {
    const auto value = io::parse_finite(node.Scalar());
    if (!value || *value < least) {
      text_.fail(line_of(node), std::string(key) + " " + io::shown(node.Scalar()),
                 "a number of " + std::string(least > 0 ? "more than 0" : "0 or more"));
    }
    return *value;
  }

  const TopologyText& text_;
};

}  // namespace

Topology read_astra_sim(const TopologyText& text, const TopologyFileOptions&) {
  return AstraSimFile(text).read();
}

}  // namespace weir::schedule
