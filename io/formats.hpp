// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <weir/io/format_reader.hpp>
#include <weir/io/format_writer.hpp>

namespace weir::io {

/// One line of the table of formats. To add a format, write its pair of files and its line.
struct FormatEntry {
  Format format;
  std::string_view name;        ///< On the command line.
  std::string_view extensions;  ///< Each between blanks, e.g. " .metis .graph ".
  std::string_view signature;   ///< First bytes that only this format has; empty: none.
  bool is_text;                 ///< No file of it holds control characters.
  bool holds_vertices;
  std::unique_ptr<FormatReader> (*read)(FileSet);
  std::unique_ptr<FormatWriter> (*write)(const std::string&, const GraphHeader&);
};

std::span<const FormatEntry> formats();
const FormatEntry& entry_of(Format format);

/// Tells the format of a file by its first bytes, else by its name, else by its first line of data.
Format format_of(const Input& input, const GraphFileOptions& options);

/// Tells the format of a file to be written by its name; other names are edge lists.
Format format_by_name(std::string_view name);

/// `.csv` of `a/b.csv.gz`; empty if there is none.
std::string_view extension_of(std::string_view name);

/// Throws Error{input} if a file that should be text holds control characters near its beginning.
void expect_text(const Input& input);

}  // namespace weir::io
