# SPDX-License-Identifier: Apache-2.0
# weir_flags: how weir's own sources are compiled. What users inherit is set on the library itself.

add_library(weir_flags INTERFACE)
target_compile_features(weir_flags INTERFACE cxx_std_20)
target_compile_options(weir_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
  -Wdouble-promotion -Wimplicit-fallthrough -Wcast-align -Wformat=2 -Wextra-semi -Wundef
  # GCC 12 sees overlapping copies in std::string operator+ (its bug 105651), and overflow where a vector of
  # bytes grows, where there is neither.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow>
  $<$<BOOL:${WEIR_WERROR}>:-Werror>)

if(WEIR_SANITIZE)
  list(JOIN WEIR_SANITIZE "," sanitizers)
  set(sanitizer_flags -fsanitize=${sanitizers} -fno-omit-frame-pointer)
  if("undefined" IN_LIST WEIR_SANITIZE)
    list(APPEND sanitizer_flags -fno-sanitize-recover=undefined)
  endif()
  target_compile_options(weir_flags INTERFACE ${sanitizer_flags} -O1 -g1)
  target_link_options(weir_flags INTERFACE ${sanitizer_flags})
endif()

# `native` is spelled out, so that a compiler cache shared between machines tells them apart.
if(WEIR_MARCH STREQUAL "native" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native "-###" -x c++ -E /dev/null
    ERROR_VARIABLE expanded OUTPUT_QUIET)
  string(REGEX MATCH "[^\n]*cc1plus[^\n]*" compiler_line "${expanded}")
  string(REGEX MATCHALL " \"?-m[a-z][^ \"]*" march_flags "${compiler_line}")
  list(TRANSFORM march_flags REPLACE "^ \"?" "")
  list(REMOVE_DUPLICATES march_flags)
  if(NOT march_flags)
    message(FATAL_ERROR "the compiler does not say what -march=native means here")
  endif()
  target_compile_options(weir_flags INTERFACE ${march_flags})
elseif(WEIR_MARCH)
  target_compile_options(weir_flags INTERFACE -march=${WEIR_MARCH})
endif()

# Bits may not depend on how the compiler contracts a*b+c, in weir or in a program written with it.
set(WEIR_PUBLIC_OPTIONS -ffp-contract=off)
target_compile_options(weir_flags INTERFACE ${WEIR_PUBLIC_OPTIONS})

# Every include reads <weir/ROOM/FILE>: in the build tree by one link to the source root.
set(WEIR_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${WEIR_INCLUDE_DIR}")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${WEIR_INCLUDE_DIR}/weir" SYMBOLIC)
target_include_directories(weir_flags INTERFACE "${WEIR_INCLUDE_DIR}")
