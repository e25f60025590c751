// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/version.hpp>

#ifndef WEIR_VERSION
#error "the build defines WEIR_VERSION"
#endif

namespace weir::cli {

std::string version() { return WEIR_VERSION; }

std::string compiler() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string version_text(const World& world) {
  return "weir " + version() + "\nMPI      " + world.mpi_version + "\ncompiler " + compiler() +
         '\n';
}

}  // namespace weir::cli
