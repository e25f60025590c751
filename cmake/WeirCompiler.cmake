# SPDX-License-Identifier: Apache-2.0
# What has to be settled before project(): build type and compiler cache, for the top-level project.

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug")
  endif()
  find_program(WEIR_CCACHE ccache DOC "Compiler cache; empty for none")
  mark_as_advanced(WEIR_CCACHE)
  if(WEIR_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WEIR_CCACHE}")
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
