// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/system_file.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/graph_text.hpp>
#include <weir/engine/training/parallel_plan.hpp>
#include <weir/io/lines.hpp>

namespace weir::training {

namespace {

/// The number at a path of keys such as `/mem1/GiB`, above 0 and at most `most`.
double number_at(const std::string& name, const nlohmann::json& file, const std::string& path,
                 double most) {
  const nlohmann::json::json_pointer at(path);
  const bool is_there = file.contains(at);
  const bool is_number = is_there && file[at].is_number() && file[at].get<double>() > 0 &&
                         file[at].get<double>() <= most;
  char limit[32];
  std::snprintf(limit, sizeof limit, "%g", most);
  WEIR_EXPECT(is_number, input,
              name + ": " + path.substr(1) + ": found " +
                  (is_there ? file[at].dump().substr(0, 40) : "nothing") +
                  "; expected a number above 0, at most " + limit);
  return file[at].get<double>();
}

/// The largest of `[[size of the work, efficiency], ...]`.
double best_efficiency(const std::string& name, const nlohmann::json& file,
                       const std::string& path) {
  const nlohmann::json::json_pointer at(path);
  WEIR_EXPECT(file.contains(at) && file[at].is_array() && !file[at].empty(), input,
              name + ": " + path.substr(1) + ": found no list; expected sizes and efficiencies");
  double best = 0;
  for (std::size_t i = 0; i < file[at].size(); ++i) {
    best = std::max(best, number_at(name, file, path + '/' + std::to_string(i) + "/1", 1));
  }
  return best;
}

SystemFile read_calculon(const std::string& name, const nlohmann::json& file) {
  constexpr double most = 1e9;
  constexpr double gibibyte = 1073741824;
  const std::string matrix = "/matrix/float16";
  const auto& networks = file["networks"];
  WEIR_EXPECT(networks.is_array() && !networks.empty(), input,
              name + ": networks: found none; expected at least one");
  std::vector<schedule::Level> levels;
  std::vector<std::size_t> arity;
  double node_share = 0;
  double slowest = 0;
  double network_share = 0;
  std::size_t num_joined = 1;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const std::string path = "/networks/" + std::to_string(i) + '/';
    const double size = number_at(name, file, path + "size", 1 << 20);
    const auto count = static_cast<std::size_t>(size);
    WEIR_EXPECT(static_cast<double>(count) == size && count % num_joined == 0, input,
                name + ": networks/" + std::to_string(i) + "/size: found " +
                    file["networks"][i]["size"].dump() + "; expected a multiple of " +
                    std::to_string(num_joined) + ", the devices of the network inside it");
    schedule::Level level;
    level.name = "network" + std::to_string(i + 1);
    level.link = {1e9 * number_at(name, file, path + "bandwidth", most),
                  number_at(name, file, path + "latency", most)};
    const double share = number_at(name, file, path + "efficiency", 1);
    if (i == 0) {
      node_share = network_share = share;
    } else if (i == 1 || level.link.bandwidth < slowest) {
      slowest = level.link.bandwidth;
      network_share = share;
    }
    levels.insert(levels.begin(), std::move(level));
    arity.insert(arity.begin(), count / num_joined);
    num_joined = count;
  }
  const double memory = gibibyte * number_at(name, file, "/mem1/GiB", most);
  return {make_tree(name, std::move(levels), arity, {"device", 1, memory}),
          1e12 * number_at(name, file, matrix + "/tflops", most),
          best_efficiency(name, file, matrix + "/gflops_efficiency"),
          1e9 * number_at(name, file, "/mem1/GBps", most) *
              best_efficiency(name, file, "/mem1/MB_efficiency"),
          node_share,
          network_share};
}

std::optional<SystemFile> read(const io::Input& input) {
  const Text text = read_lines(input);
  const auto first = std::find_if(text.lines.begin(), text.lines.end(),
                                  [](const auto& line) { return !io::trimmed(line).empty(); });
  if (first == text.lines.end() || !io::trimmed(*first).starts_with('{')) return {};
  std::string joined;
  for (const std::string& line : text.lines) joined += line + '\n';
  const auto file = nlohmann::json::parse(joined, nullptr, false);
  if (!file.is_object() || !file.contains("networks")) return {};
  return read_calculon(text.name, file);
}

}  // namespace

std::optional<SystemFile> read_system_file(const std::string& path) {
  return read(io::Input::open(path, 0, {}));
}

std::optional<SystemFile> parse_system_file(const std::string& name, std::string_view text) {
  return read(io::Input::from_memory(name, text));
}

Machine machine_of(const SystemFile& system, const schedule::Topology& cluster,
                   std::optional<double> peak_flops) {
  Machine machine = machine_of(cluster, peak_flops.value_or(system.peak_flops));
  double speed = cluster.devices().front().speed;
  for (const schedule::Device& device : cluster.devices()) speed = std::min(speed, device.speed);
  machine.matmul_efficiency = system.matmul_efficiency;
  machine.memory_bytes_per_second = speed * system.memory_bytes_per_second;
  const auto& levels = cluster.levels();
  machine.node_bytes_per_second = system.node_share * levels.back().link.bandwidth;
  machine.node_latency_seconds = levels.back().link.latency_seconds;
  if (levels.size() == 1) return machine;
  double slowest = levels.front().link.bandwidth;
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    slowest = std::min(slowest, levels[l].link.bandwidth);
  }
  machine.network_bytes_per_second =
      system.network_share * slowest * static_cast<double>(machine.devices_per_node);
  machine.network_tensor_bytes_per_second = machine.network_bytes_per_second;
  return machine;
}

}  // namespace weir::training
