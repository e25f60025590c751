// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/standard_output.hpp>

#include <unistd.h>

#include <weir/io/output_file.hpp>

namespace weir::cli {

void print(std::string_view text) {
  io::OutputFile out(STDOUT_FILENO, "standard output");
  out.write(text);
  out.commit();
}

}  // namespace weir::cli
