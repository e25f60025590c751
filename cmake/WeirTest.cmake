# SPDX-License-Identifier: Apache-2.0
# How tests and examples are built and registered.
#
# Labels: unit (ranks are threads of one process), mpi (under mpirun), example, consumer, compile_failure, fuzz.

set(WEIR_TEST_TIMEOUT_SECONDS 300)

# Sets RESULT to the command that starts `ranks` processes under `flavour`.
function(weir_mpi_launch flavour ranks result)
  set(command "${WEIR_MPI_${flavour}_LAUNCHER}" -n ${ranks})
  if(flavour STREQUAL "openmpi")
    list(APPEND command --oversubscribe --bind-to none)
  endif()
  set(${result} "${command}" PARENT_SCOPE)
endfunction()

# Gives a test that starts processes its environment: as root too, and with more ranks than cores.
function(weir_set_mpi_test_properties test ranks)
  set_tests_properties(${test} PROPERTIES
    PROCESSORS ${ranks} TIMEOUT ${WEIR_TEST_TIMEOUT_SECONDS}
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_btl_vader_single_copy_mechanism=none")
endfunction()

# Sets RESULT to what the first line of a source says after `// KEY:`, else to DEFAULT.
function(weir_marker file key default result)
  file(STRINGS "${file}" lines LIMIT_COUNT 3 REGEX "^// ${key}:")
  set(value "${default}")
  if(lines)
    list(GET lines 0 line)
    string(REGEX REPLACE "^// ${key}: *" "" value "${line}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# weir_add_room_tests(FOLDER [LINK target...])
#
# All FOLDER/*_test.cpp below tests/ as one GoogleTest program, weir_test_NAME; one ctest entry per test, called
# NAME/SUITE.TEST, with the label unit.
function(weir_add_room_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "LINK")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*_test.cpp")
  if(NOT sources)
    return()
  endif()
  cmake_path(GET folder FILENAME name)
  set(target weir_test_${name})
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE weir_flags weir_test_support ${room_LINK} GTest::gtest_main)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  add_dependencies(weir_unit_tests ${target})
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}/"
    PROPERTIES TIMEOUT ${WEIR_TEST_TIMEOUT_SECONDS} LABELS unit)
endfunction()

# weir_add_mpi_test(NAME SOURCE RANKS n...)
#
# One program, linked with each MPI found and run under its mpirun at each number of ranks: tests
# mpi/NAME@n and, for the second MPI, mpi/NAME_mpich@n.
function(weir_add_mpi_test name source)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "" "RANKS")
  foreach(flavour IN LISTS WEIR_MPIS)
    set(program ${name})
    if(NOT flavour STREQUAL "${WEIR_FIRST_MPI}")
      set(program ${name}_${flavour})
    endif()
    set(target weir_mpi_${program})
    add_executable(${target} "${source}" ${WEIR_MPI_TEST_MAIN})
    target_link_libraries(${target} PRIVATE weir_flags weir_test_support weir_${flavour} ${WEIR_MPI_TEST_GTEST})
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    foreach(ranks IN LISTS test_RANKS)
      weir_mpi_launch(${flavour} ${ranks} launch)
      add_test(NAME mpi/${program}@${ranks} COMMAND ${launch} $<TARGET_FILE:${target}>)
      weir_set_mpi_test_properties(mpi/${program}@${ranks} ${ranks})
      set_tests_properties(mpi/${program}@${ranks} PROPERTIES LABELS "mpi;${flavour}"
        SKIP_REGULAR_EXPRESSION "no shared test data")
    endforeach()
  endforeach()
endfunction()

# weir_add_example(SOURCE)
#
# One program, and one test that runs it: directly, or as its first line says, `// run: mpirun -n 2`.
function(weir_add_example source)
  cmake_path(GET source STEM name)
  add_executable(weir_example_${name} "${source}")
  target_link_libraries(weir_example_${name} PRIVATE weir_flags weir::mpi)
  set_target_properties(weir_example_${name} PROPERTIES OUTPUT_NAME ${name} CXX_EXTENSIONS OFF)
  weir_marker("${source}" run "" how)
  set(ranks 1)
  set(launch "")
  if(how MATCHES "mpirun -n ([0-9]+)")
    set(ranks ${CMAKE_MATCH_1})
    weir_mpi_launch(${WEIR_FIRST_MPI} ${ranks} launch)
  endif()
  add_test(NAME example/${name} COMMAND ${launch} $<TARGET_FILE:weir_example_${name}>
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  weir_set_mpi_test_properties(example/${name} ${ranks})
  set_tests_properties(example/${name} PROPERTIES LABELS example)
endfunction()

# weir_add_compile_failure_tests(FILE)
#
# FILE must compile, and with -DCASE_n must not, with a message that matches its line `// expect CASE_n: REGEX`.
function(weir_add_compile_failure_tests file)
  cmake_path(GET file STEM name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(STRINGS "${file}" lines REGEX "^// expect CASE_[0-9]+:")
  set(cases control)
  foreach(line IN LISTS lines)
    if(line MATCHES "^// expect (CASE_[0-9]+):")
      list(APPEND cases ${CMAKE_MATCH_1})
    endif()
  endforeach()
  foreach(case IN LISTS cases)
    add_test(NAME compile_failure/${name}/${case}
      COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_compile_failure.py" "${file}" ${case}
        --compiler "${CMAKE_CXX_COMPILER}" --include "${WEIR_INCLUDE_DIR}")
    set_tests_properties(compile_failure/${name}/${case} PROPERTIES
      LABELS compile_failure TIMEOUT ${WEIR_TEST_TIMEOUT_SECONDS})
  endforeach()
endfunction()

# weir_add_fuzz_target(SOURCE)
#
# With WEIR_FUZZ a libFuzzer program; else a program that replays the corpus, as a test.
function(weir_add_fuzz_target source)
  cmake_path(GET source STEM name)
  string(REGEX REPLACE "^fuzz_" "" subject "${name}")
  set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${subject}")
  if(WEIR_FUZZ)
    add_executable(${name} "${source}")
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} "${source}" replay_main.cpp)
    add_dependencies(weir_unit_tests ${name})
    add_test(NAME fuzz/${subject} COMMAND ${name} "${corpus}")
    set_tests_properties(fuzz/${subject} PROPERTIES LABELS "unit;fuzz" TIMEOUT ${WEIR_TEST_TIMEOUT_SECONDS})
  endif()
  target_link_libraries(${name} PRIVATE weir_flags weir::weir)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
endfunction()
