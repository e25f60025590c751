// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace weir::io {

/// The file that an output of this name becomes: where links lead, also if nothing is there yet.
std::string output_target(const std::string& path);

/// A file that appears whole or not at all.
///
/// The bytes go to a temporary name in the same folder and are renamed by `commit`; without it the
/// destructor removes them. Links are followed and kept. A path that exists and is no regular file
/// (a device, a pipe) is written directly and never replaced. Names that end in `.gz` or `.zst` are
/// compressed. Every write that falls short is an Error{output} that names the path and the reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);

  /// Writes to an open descriptor, which stays open; `name` is for errors and for the compression.
  OutputFile(int descriptor, std::string name);

  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  /// Appends bytes; buffered.
  void write(std::string_view bytes);

  /// Writes what is buffered, closes the file and gives it its name. To be called once, last.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::io
