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
  pkg_check_modules(libcrypto REQUIRED QUIET IMPORTED_TARGET libcrypto)
  pkg_check_modules(yaml-cpp REQUIRED QUIET IMPORTED_TARGET yaml-cpp)
  find_package(pugixml REQUIRED CONFIG)
  find_package(nlohmann_json REQUIRED CONFIG)
  # Debian's Scotch has neither a CMake package nor a pkg-config file for its serial library.
  find_path(WEIR_SCOTCH_INCLUDE scotch/scotch.h REQUIRED)
  find_library(WEIR_SCOTCH_LIBRARY scotch REQUIRED)
  find_library(WEIR_SCOTCH_ERRORS_LIBRARY scotcherr REQUIRED)
  mark_as_advanced(WEIR_SCOTCH_INCLUDE WEIR_SCOTCH_LIBRARY WEIR_SCOTCH_ERRORS_LIBRARY)
  if(NOT TARGET WeirScotch::scotch)
    add_library(WeirScotch::scotch INTERFACE IMPORTED GLOBAL)
    target_include_directories(WeirScotch::scotch SYSTEM INTERFACE "${WEIR_SCOTCH_INCLUDE}")
    target_link_libraries(WeirScotch::scotch INTERFACE "${WEIR_SCOTCH_LIBRARY}" "${WEIR_SCOTCH_ERRORS_LIBRARY}")
  endif()
endmacro()
