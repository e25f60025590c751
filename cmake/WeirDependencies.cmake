# SPDX-License-Identifier: Apache-2.0
# The third-party libraries of libweir. All come from the system; nothing is downloaded.
# weirConfig.cmake.in finds the same for those who use an installed weir.

# A macro, because imported targets and their variables belong to the caller's scope.
macro(weir_find_dependencies)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  find_package(TBB 2021 REQUIRED CONFIG)
  find_package(Boost 1.74 REQUIRED COMPONENTS serialization)
  find_package(ZLIB REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(zstd REQUIRED QUIET IMPORTED_TARGET libzstd)
  pkg_check_modules(xxhash REQUIRED QUIET IMPORTED_TARGET libxxhash)
  find_package(nlohmann_json REQUIRED CONFIG)
endmacro()
