// SPDX-License-Identifier: Apache-2.0
// The matrix that `nvidia-smi topo -m` prints.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <weir/engine/schedule/topology_text.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::schedule {

namespace {

constexpr double nvlink_bandwidth = 25e9;  // of one link, each way; NVLink 2 to 4

/// What joins two devices: PCIe paths in the order of the legend, then the number of NVLinks.
constexpr std::array<std::string_view, 5> pcie_paths = {"SYS", "NODE", "PHB", "PXB", "PIX"};

/// The rank of a path, more is nearer; 5 plus the number of links for NVLink.
std::optional<std::size_t> rank_of(std::string_view word) {
  for (std::size_t p = 0; p < pcie_paths.size(); ++p) {
    if (word == pcie_paths[p]) return p;
  }
  if (!word.starts_with("NV")) return {};
  std::size_t num_links = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), num_links);
  if (error != std::errc{} || end != word.data() + word.size() || num_links == 0) return {};
  return pcie_paths.size() + num_links;
}

/// Without the codes that underline the header on a terminal.
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    while (i + 1 < line.size() && line[i] != 'm') ++i;
  }
  return plain;
}

std::vector<std::string> words_of(std::string_view line) {
  const std::string plain = without_escapes(line);
  std::string_view rest = plain;
  std::vector<std::string> words;
  for (auto word = io::take_token(rest); !word.empty(); word = io::take_token(rest)) {
    words.emplace_back(word);
  }
  return words;
}

bool is_gpu(const std::string& word) {
  return word.size() > 3 && word.starts_with("GPU") &&
         word.find_first_not_of("0123456789", 3) == std::string::npos;
}

struct Matrix {
  std::vector<std::string> gpus;
  std::vector<std::size_t> lines;               ///< Of each row.
  std::vector<std::vector<std::size_t>> ranks;  ///< [row][column]
};

Matrix read_matrix(const TopologyText& text) {
  const auto lines = text.lines();
  Matrix matrix;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const auto words = words_of(lines[l]);
    if (words.empty() || !is_gpu(words[0])) continue;
    if (matrix.gpus.empty()) {  // the header; columns of network cards follow
      for (std::size_t w = 0; w < words.size() && is_gpu(words[w]); ++w) {
        matrix.gpus.push_back(words[w]);
      }
      continue;
    }
    const std::size_t row = matrix.ranks.size();
    if (row >= matrix.gpus.size() || words[0] != matrix.gpus[row]) {
      text.fail(l + 1, "a row of " + io::shown(words[0]),
                row < matrix.gpus.size() ? matrix.gpus[row] : "no row after the last column");
    }
    if (words.size() < matrix.gpus.size() + 1) {
      text.fail(l + 1, std::to_string(words.size() - 1) + " columns",
                std::to_string(matrix.gpus.size()) + ", one for each GPU of the header");
    }
    matrix.lines.push_back(l + 1);
    matrix.ranks.emplace_back();
    for (std::size_t c = 0; c < matrix.gpus.size(); ++c) {
      const std::string& word = words[c + 1];
      const auto rank = word == "X" ? std::optional<std::size_t>(0) : rank_of(word);
      if (!rank || (word == "X") != (c == row)) {
        text.fail(l + 1, io::shown(word) + " for " + matrix.gpus[c],
                  c == row ? "X" : "NV1 and so on, PIX, PXB, PHB, NODE or SYS");
      }
      if (c < row && matrix.ranks[c][row] != *rank) {
        text.fail(l + 1, io::shown(word) + " for " + matrix.gpus[c],
                  "the same as in line " + std::to_string(matrix.lines[c]));
      }
      matrix.ranks.back().push_back(*rank);
    }
  }
  if (matrix.gpus.empty()) text.fail(1, "no header of GPUs", "GPU0 GPU1 and so on");
  if (matrix.ranks.size() != matrix.gpus.size()) {
    text.fail(lines.size(), "the end after " + std::to_string(matrix.ranks.size()) + " rows",
              std::to_string(matrix.gpus.size()));
  }
  return matrix;
}

/// Groups of consecutive GPUs of which any two are joined by `rank` or nearer.
std::vector<std::uint32_t> groups_at(const Matrix& matrix, std::size_t rank) {
  std::vector<std::uint32_t> groups;
  std::size_t first = 0;
  for (std::size_t g = 0; g < matrix.gpus.size(); ++g) {
    bool joins = g > 0;
    for (std::size_t other = first; joins && other < g; ++other) {
      joins = matrix.ranks[g][other] >= rank;
    }
    if (!joins) first = g;
    groups.push_back(g == 0 ? 0 : groups.back() + (joins ? 0 : 1));
  }
  return groups;
}

}  // namespace

Topology read_nvidia_smi(const TopologyText& text, const TopologyFileOptions& options) {
  const Matrix matrix = read_matrix(text);
  std::size_t most = 0;
  for (const auto& row : matrix.ranks)
    most = std::max(most, *std::max_element(row.begin(), row.end()));
  std::vector<Level> levels;
  for (std::size_t rank = 0; rank <= most; ++rank) {
    const std::size_t num_links = rank - std::min(rank, pcie_paths.size());
    Level level;
    level.name = num_links > 0 ? "NV" + std::to_string(num_links)
                               : std::string(pcie_paths[std::min<std::size_t>(rank, 4)]);
    level.link = options.unknown_link;
    if (num_links > 0) level.link.bandwidth = nvlink_bandwidth * static_cast<double>(num_links);
    level.group_of_device = groups_at(matrix, rank);
    const auto refines = [&] {
      const auto& inner = level.group_of_device;
      const auto& outer = levels.back().group_of_device;
      for (std::size_t g = 1; g < inner.size(); ++g) {
        if (inner[g] == inner[g - 1] && outer[g] != outer[g - 1]) return false;
      }
      return true;
    };
    // A nearer path that joins the same GPUs replaces the level; one that cuts across is left out.
    if (!levels.empty() && levels.back().group_of_device == level.group_of_device)
      levels.pop_back();
    if (levels.empty() || refines()) levels.push_back(std::move(level));
  }
  while (levels.size() > 1 && levels.back().group_of_device.back() + 1 == matrix.gpus.size()) {
    levels.pop_back();  // joins no two
  }
  std::vector<Device> devices;
  for (const std::string& gpu : matrix.gpus) devices.push_back({gpu, 1, 0});
  return Topology(text.name, std::move(levels), std::move(devices));
}

}  // namespace weir::schedule
