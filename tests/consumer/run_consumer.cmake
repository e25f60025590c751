# SPDX-License-Identifier: Apache-2.0
# Builds and runs an outside project in a clean folder, WAY says how; fails on the first step that fails. LAUNCH
# starts a program as an MPI job of two ranks, where there is one. Called by ctest with the variables set in
# CMakeLists.txt beside this file. Without a build type: it is about finding and linking, and compiles fastest.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

separate_arguments(launch UNIX_COMMAND "${LAUNCH}")

function(install)
  file(REMOVE_RECURSE "${PREFIX}")
  run(${CMAKE_COMMAND} --install "${WEIR_BUILD}" --prefix "${PREFIX}")
endfunction()

function(build_project)
  set(targets consumer)
  set(with_mpi OFF)
  if(launch)
    list(APPEND targets consumer_mpi)
    set(with_mpi ON)
  endif()
  run(${CMAKE_COMMAND} -S "${WEIR_SOURCE}/tests/consumer/${WAY}" -B "${WORK}/build" -G "${GENERATOR}"
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -D CMAKE_PREFIX_PATH=${PREFIX} -D WEIR_SOURCE=${WEIR_SOURCE} -D WITH_MPI=${with_mpi})
  run(${CMAKE_COMMAND} --build "${WORK}/build" --target ${targets})
  run("${WORK}/build/consumer")
  if(launch)
    run(${launch} "${WORK}/build/consumer_mpi")
  endif()
endfunction()

function(compile_by_pkg_config)
  find_program(pkg_config pkg-config)
  if(NOT pkg_config)
    message("skipped: no pkg-config")
    return()
  endif()
  set(folder "${PREFIX}/${LIBDIR}/pkgconfig")
  if(NOT MODULE STREQUAL "weir" AND NOT launch)
    message("skipped: ${MODULE} is not built, its MPI was not found")
    return()
  endif()
  set(ENV{PKG_CONFIG_PATH} "${folder}")
  foreach(kind IN ITEMS cflags libs)
    execute_process(COMMAND "${pkg_config}" --${kind} ${MODULE}
      OUTPUT_VARIABLE ${kind} OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(${kind} UNIX_COMMAND "${${kind}}")
  endforeach()
  file(MAKE_DIRECTORY "${WORK}")
  run(${LAUNCHER} ${COMPILER} -std=c++20 ${cflags} -c "${WEIR_SOURCE}/tests/consumer/${SOURCE}" -o "${WORK}/consumer.o")
  run(${COMPILER} "${WORK}/consumer.o" -o "${WORK}/consumer" ${libs} "-Wl,-rpath,${PREFIX}/${LIBDIR}")
  run(${launch} "${WORK}/consumer")
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(WAY STREQUAL "install")
  install()
elseif(WAY STREQUAL "pkg_config")
  compile_by_pkg_config()
else()
  build_project()
endif()
