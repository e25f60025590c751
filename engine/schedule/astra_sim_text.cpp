// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/astra_sim_text.hpp>

#include <cstdio>

#include <weir/engine/model/check.hpp>

namespace weir::schedule {

namespace {

/// Units inside each group of a level: groups of the level inside it, or devices.
std::size_t arity_of(const Topology& cluster, std::size_t level) {
  const auto& levels = cluster.levels();
  const bool is_innermost = level + 1 == levels.size();
  const std::size_t num_units =
      is_innermost ? cluster.num_devices() : cluster.num_groups(level + 1);
  const std::size_t num_groups = cluster.num_groups(level);
  for (std::size_t d = 0; d < cluster.num_devices(); ++d) {
    WEIR_EXPECT(levels[level].group_of_device[d] == d * num_groups / cluster.num_devices() &&
                    num_units % num_groups == 0,
                usage,
                "found groups of different sizes at level " + levels[level].name +
                    "; expected equal ones, which a cluster file can say");
  }
  return num_units / num_groups;
}

/// To the bit, for reading back.
std::string exact(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

}  // namespace

std::string astra_sim_text(const Topology& cluster) {
  std::string shapes;
  std::string counts;
  std::string bandwidths;
  std::string latencies;
  for (std::size_t l = cluster.levels().size(); l-- > 0;) {
    const Link& link = cluster.levels()[l].link;
    const char* separator = shapes.empty() ? "" : ", ";
    shapes.append(separator).append("Switch");
    counts.append(separator).append(std::to_string(arity_of(cluster, l)));
    bandwidths.append(separator).append(exact(link.bandwidth / 1e9));
    latencies.append(separator).append(exact(link.latency_seconds * 1e9));
  }
  return "topology: [ " + shapes + " ]\nnpus_count: [ " + counts + " ]\nbandwidth: [ " +
         bandwidths + " ]  # GB/s\nlatency: [ " + latencies + " ]  # ns\n";
}

}  // namespace weir::schedule
