// SPDX-License-Identifier: Apache-2.0
#include <weir/io/formats.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/adjacency_format.hpp>
#include <weir/io/dimacs_format.hpp>
#include <weir/io/edge_list_format.hpp>
#include <weir/io/gap_format.hpp>
#include <weir/io/matrix_market_format.hpp>
#include <weir/io/metis_format.hpp>
#include <weir/io/weir_format.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace weir::io {
namespace {

constexpr FormatEntry table[] = {
    // format, name, extensions, signature, text?, vertices?, read, write
    {Format::edges, "edges", " .txt .tsv .edges .edgelist .snap ", "", true, false, read_edge_list,
     write_edge_list},
    {Format::csv, "csv", " .csv ", "", true, false, read_csv, write_csv},
    {Format::graphalytics, "graphalytics", " .e .v .properties ", "", true, true, read_graphalytics,
     write_graphalytics},
    {Format::matrix_market, "mtx", " .mtx ", "%%matrixmarket", true, true, read_matrix_market,
     write_matrix_market},
    {Format::metis, "metis", " .metis .graph ", "", true, true, read_metis, write_metis},
    {Format::dimacs, "dimacs", " .gr ", "p sp ", true, true, read_dimacs, write_dimacs},
    {Format::gap, "gap", " .el .wel .sg .wsg ", "", true, true, read_gap, write_edge_list},
    {Format::adjacency, "adjacency", " .adj .json ", "[", true, true, read_adjacency, nullptr},
    {Format::weir, "weir", " .weir ", "\x89weir\r\n\x1a", false, true, read_weir, write_weir},
};

constexpr std::size_t head_bytes = 4096;

/// The first bytes of a file, unpacked.
std::string head_of(const Input& input) {
  if (input.compression() == Compression::none)
    return std::string(input.bytes().substr(0, head_bytes));
  Decompressor packed(input.name(), input.compression(), input.bytes());
  std::string head(head_bytes, '\0');
  head.resize(packed.read(head.data(), head.size()));
  return head;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool has_extension(const FormatEntry& entry, std::string_view extension) {
  const std::string word = ' ' + std::string(extension) + ' ';
  return !extension.empty() && entry.extensions.find(word) != std::string_view::npos;
}

bool is_comment(std::string_view line) {
  return line.empty() || line.front() == '#' || line.front() == '%' || line.starts_with("//");
}

/// The first line that is neither empty nor a comment of an edge list, trimmed.
std::string first_data_line(const Input& input, bool skip_header) {
  Lines lines(input);
  if (skip_header) lines.next();
  while (lines.next()) {
    const std::string_view line = trimmed(lines.text());
    if (!is_comment(line)) return std::string(line);
  }
  return {};
}

Format format_by_first_line(const Input& input, const GraphFileOptions& options) {
  expect_text(input);
  const std::string line = first_data_line(input, options.skip_header);
  const bool has_comma = line.find(',') != std::string::npos;
  if (line.starts_with("c ") || line.starts_with("p sp ")) return Format::dimacs;
  return has_comma && !options.string_ids ? Format::csv : Format::edges;
}

}  // namespace

std::span<const FormatEntry> formats() { return table; }

const FormatEntry& entry_of(Format format) {
  for (const FormatEntry& entry : table) {
    if (entry.format == format) return entry;
  }
  return table[0];
}

std::string_view extension_of(std::string_view name) {
  name = without_compression(name);
  const std::size_t dot = name.find_last_of("./");
  if (dot == std::string_view::npos || name[dot] == '/') return {};
  return name.substr(dot);
}

Format format_of(const Input& input, const GraphFileOptions& options) {
  const std::string head = lower_case(head_of(input));
  for (const FormatEntry& entry : table) {
    if (!entry.signature.empty() && head.starts_with(entry.signature)) return entry.format;
  }
  const std::string extension = lower_case(extension_of(input.name()));
  for (const FormatEntry& entry : table) {
    if (!has_extension(entry, extension)) continue;
    if (entry.format == Format::edges) break;
    if (entry.format != Format::csv) return entry.format;
    const std::string line = first_data_line(input, options.skip_header);
    const bool is_blank_separated =
        line.find(',') == std::string::npos && line.find_first_of(" \t") != std::string::npos;
    return is_blank_separated ? Format::edges : Format::csv;
  }
  return format_by_first_line(input, options);
}

Format format_by_name(std::string_view name) {
  const std::string extension = lower_case(extension_of(name));
  for (const FormatEntry& entry : table) {
    if (has_extension(entry, extension)) return entry.format;
  }
  return Format::edges;
}

void expect_text(const Input& input) {
  const std::string head = head_of(input);
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') continue;
    const auto line =
        1 + std::count(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(i), '\n');
    constexpr char digits[] = "0123456789abcdef";
    throw Error(ErrorCode::input, input.name() + ':' + std::to_string(line) + ": found byte 0x" +
                                      digits[c >> 4] + digits[c & 15] + "; expected text");
  }
}

std::string_view name_of(Format format) {
  return format == Format::automatic ? "auto" : entry_of(format).name;
}

std::optional<Format> format_named(std::string_view name) {
  if (name == "auto") return Format::automatic;
  for (const FormatEntry& entry : table) {
    if (entry.name == name) return entry.format;
  }
  return {};
}

bool holds_vertices(Format format) { return entry_of(format).holds_vertices; }

}  // namespace weir::io
