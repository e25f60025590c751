// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/processor.hpp>

#include <fstream>

#include <sys/utsname.h>

namespace weir::cli {

namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// `model name : NAME` on x86; elsewhere the list may have no name.
std::string model_name(const std::filesystem::path& list) {
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

}  // namespace

Processor this_processor(const ProcessorPaths& paths) {
  Processor processor;
  processor.name = model_name(paths.list);
  processor.governor = first_line(paths.governor);
  utsname names{};
  if (::uname(&names) != 0) return processor;
  processor.system = std::string(names.sysname) + ' ' + names.release;
  processor.host = names.nodename;
  if (processor.name.empty()) processor.name = names.machine;
  return processor;
}

}  // namespace weir::cli
