// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <thread>

namespace weir::cli {

/// Writes to stdout, which carries results only. Throws Error{output} when not all was written.
void print(std::string_view text);

/// True for `-` and for the names the system has for stdout. Those are not opened: what they lead
/// to may be a regular file, which would be replaced under the shell's hands.
bool is_standard_output(std::string_view path);

/// A path that leads to stdout, for what writes to paths only.
class StandardOutputPath {
 public:
  StandardOutputPath();
  ~StandardOutputPath();
  StandardOutputPath(const StandardOutputPath&) = delete;
  StandardOutputPath& operator=(const StandardOutputPath&) = delete;

  std::string path() const { return "/dev/fd/" + std::to_string(write_end_); }

  /// To be called once all is written. Throws Error{output} when it did not arrive.
  void finish();

 private:
  void copy() noexcept;
  void join();

  int read_end_ = -1;
  int write_end_ = -1;
  std::thread copier_;
  std::exception_ptr failure_;
};

}  // namespace weir::cli
