// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include <weir/engine/model/error.hpp>

namespace weir::training::test {

/// A folder that vanishes at the end of its test.
class MeasuredFolder {
 public:
  MeasuredFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  MeasuredFolder(const MeasuredFolder&) = delete;
  MeasuredFolder& operator=(const MeasuredFolder&) = delete;
  ~MeasuredFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  /// Writes a file, with the folders above it, and returns its path.
  std::string write(const std::string& name, std::string_view text) const {
    const std::string file = path_ + '/' + name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::string path_;
};

/// The text of the input error that `action` throws, or what came instead.
inline std::string input_error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code() == ErrorCode::input ? std::string(error.text()) : "another error";
  }
  return "no error";
}

}  // namespace weir::training::test
