// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/bench_comparison.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace weir::cli {

namespace {

/// Of the clock, in seconds: no time is shorter.
constexpr double one_tick = 1e-9;

using Cells = std::array<std::string, 5>;

std::string line_of(const Cells& cells) {
  constexpr std::array<std::size_t, 4> widths{12, 34, 34, 26};
  std::string line;
  std::size_t end = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i < widths.size()) line.resize(std::max(line.size() + 1, end += widths[i]), ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string ratio_text(const Spread& spread) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f (%.3f to %.3f)", spread.median, spread.least, spread.most);
  return text;
}

/// Fewer pairs lie on one side of 1 by chance too often.
constexpr std::size_t least_pairs = 5;

std::string verdict(const Spread& ratio, std::size_t num_pairs) {
  if (num_pairs < least_pairs) return "too few trials to tell";
  if (ratio.most < 1) return "faster";
  if (ratio.least > 1) return "slower";
  return "no difference shown";
}

const ReadKernel* find_kernel(const ReadBench& bench, const std::string& name) {
  const auto at = std::find_if(bench.kernels.begin(), bench.kernels.end(),
                               [&](const ReadKernel& kernel) { return kernel.name == name; });
  return at == bench.kernels.end() ? nullptr : &*at;
}

std::string value_of(const ReadBench& bench, const std::string& name) {
  for (const auto& [key, value] : bench.circumstances) {
    if (key == name) return value;
  }
  return "null";
}

class Comparison {
 public:
  Comparison(const ReadBench& before, const ReadBench& after) : before_(before), after_(after) {
    compare_circumstances();
    result_.table = line_of({"kernel", "before", "after", "after / before", ""});
    for (const ReadKernel& kernel : before.kernels) {
      const ReadKernel* const other = find_kernel(after, kernel.name);
      if (other == nullptr) {
        warn(kernel.name + " is in " + before.path + " only");
      } else {
        compare_kernel(kernel, *other);
      }
    }
    for (const ReadKernel& kernel : after.kernels) {
      if (find_kernel(before, kernel.name) == nullptr) {
        warn(kernel.name + " is in " + after.path + " only");
      }
    }
  }

  BenchComparison take() { return std::move(result_); }

 private:
  void warn(std::string text) { result_.warnings.push_back(std::move(text)); }

  void compare_circumstances() {
    for (const auto& [name, value] : before_.circumstances) {
      const std::string other = value_of(after_, name);
      if (value == other) continue;
      std::string text = "different ";
      warn(text.append(name).append(": ").append(value).append(" and ").append(other));
      const bool is_of_graph = name.starts_with("graph.") && name != "graph.input" &&
                               name != "graph.format";  // the same graph may come from elsewhere
      is_same_graph_ = is_same_graph_ && !is_of_graph;
    }
  }

  void compare_kernel(const ReadKernel& before, const ReadKernel& after) {
    const std::size_t num_pairs = std::min(before.seconds.size(), after.seconds.size());
    std::vector<double> ratios;
    bool is_same_source = true;
    bool is_same_result = true;
    for (std::size_t i = 0; i < num_pairs; ++i) {
      ratios.push_back(std::max(after.seconds[i], one_tick) /
                       std::max(before.seconds[i], one_tick));
      const auto source = [i](const ReadKernel& kernel) {
        return kernel.sources.empty() ? std::string() : kernel.sources[i];
      };
      const bool is_pair = source(before) == source(after);
      is_same_source = is_same_source && is_pair;
      is_same_result = is_same_result && (!is_pair || before.digests[i] == after.digests[i]);
    }
    if (!is_same_source) warn(before.name + ": different sources");
    if (is_same_graph_ && !is_same_result) {
      warn(before.name + ": different results");
      result_.has_different_results = true;
    }
    const Spread ratio = spread_of(std::move(ratios));
    result_.table += line_of({before.name, spread_text(spread_of(before.seconds)),
                              spread_text(spread_of(after.seconds)), ratio_text(ratio),
                              verdict(ratio, num_pairs)});
  }

  const ReadBench& before_;
  const ReadBench& after_;
  bool is_same_graph_ = true;
  BenchComparison result_;
};

}  // namespace

BenchComparison compare_benches(const ReadBench& before, const ReadBench& after) {
  return Comparison(before, after).take();
}

}  // namespace weir::cli
