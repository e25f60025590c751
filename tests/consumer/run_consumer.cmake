# SPDX-License-Identifier: Apache-2.0
# Builds and runs the consumer project named WAY in a clean folder; fails on the first step that fails.
# Called by ctest with the variables set in CMakeLists.txt beside this file. Without a build type: it is about
# finding and linking, and compiles fastest.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(project "${WEIR_SOURCE}/tests/consumer/${WAY}")
set(prefix "${WORK}/prefix")
if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install "${WEIR_BUILD}" --prefix "${prefix}")
endif()
run(${CMAKE_COMMAND} -S "${project}" -B "${WORK}/build" -G "${GENERATOR}"
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  -D CMAKE_PREFIX_PATH=${prefix} -D WEIR_SOURCE=${WEIR_SOURCE})
run(${CMAKE_COMMAND} --build "${WORK}/build" --target consumer)
run("${WORK}/build/consumer")

if(WAY STREQUAL "find_package")
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  execute_process(COMMAND pkg-config --define-variable=prefix=${prefix} --cflags --libs weir
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${COMPILER} -std=c++20 "${WEIR_SOURCE}/tests/consumer/main.cpp" -o "${WORK}/consumer_pkg_config" ${flags}
    "-Wl,-rpath,${prefix}/${LIBDIR}")
  run("${WORK}/consumer_pkg_config")
endif()
