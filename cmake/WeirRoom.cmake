# SPDX-License-Identifier: Apache-2.0
# Rooms, and the libraries and the command that are made of them.

set_property(GLOBAL PROPERTY WEIR_ROOMS "")

# weir_add_room(FOLDER [DEPENDS room...] [LINK target...])
#
# One room: the sources of one folder, not its subfolders, as the target weir_NAME, also called weir::NAME.
# NAME is the folder's last part. A folder without files is no room yet.
function(weir_add_room folder)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "DEPENDS;LINK")
  cmake_path(GET folder FILENAME name)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.hpp")
  if(NOT sources AND NOT headers)
    return()
  endif()

  if(sources)
    add_library(weir_${name} OBJECT ${sources})
    set_target_properties(weir_${name} PROPERTIES
      POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF EXPORT_COMPILE_COMMANDS ON)
    target_link_libraries(weir_${name} PRIVATE weir_flags)
    set(scope PUBLIC)
  else()
    add_library(weir_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(weir::${name} ALIAS weir_${name})
  foreach(dependency IN LISTS room_DEPENDS)
    if(TARGET weir_${dependency})
      target_link_libraries(weir_${name} ${scope} weir_${dependency})
    endif()
  endforeach()
  target_link_libraries(weir_${name} ${scope} ${room_LINK})

  set_property(GLOBAL APPEND PROPERTY WEIR_ROOMS ${name})
  set_property(GLOBAL PROPERTY WEIR_ROOM_FOLDER_${name} "${folder}")
endfunction()

# libweir: every room but the MPI transport, as weir::weir.
function(weir_add_library)
  add_library(weir)
  add_library(weir::weir ALIAS weir)
  get_property(rooms GLOBAL PROPERTY WEIR_ROOMS)
  foreach(room IN LISTS rooms)
    get_target_property(type weir_${room} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      target_sources(weir PRIVATE $<TARGET_OBJECTS:weir_${room}>)
    endif()
  endforeach()
  target_link_libraries(weir
    PUBLIC TBB::tbb Boost::serialization Threads::Threads
    PRIVATE ZLIB::ZLIB PkgConfig::zstd PkgConfig::xxhash PkgConfig::libcrypto pugixml::pugixml PkgConfig::yaml-cpp
      ${WEIR_SCOTCH_LIBRARY} ${WEIR_SCOTCH_ERRORS_LIBRARY} $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> $<BUILD_INTERFACE:weir_flags>)
  weir_set_library_properties(weir)
endfunction()

# libweir_MPI for each MPI found: the same sources compiled against each, as weir::MPI; weir::mpi is the default.
function(weir_add_mpi_libraries)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/engine/runtime/mpi/*.cpp")
  if(NOT sources)
    return()
  endif()
  foreach(flavour IN LISTS WEIR_MPIS)
    add_library(weir_${flavour} ${sources})
    add_library(weir::${flavour} ALIAS weir_${flavour})
    target_link_libraries(weir_${flavour}
      PUBLIC weir WeirMpi::${flavour} PRIVATE $<BUILD_INTERFACE:weir_flags>)
    weir_set_library_properties(weir_${flavour})
    set_target_properties(weir_${flavour} PROPERTIES EXPORT_NAME ${flavour})
    if(NOT TARGET weir::mpi)
      add_library(weir::mpi ALIAS weir_${flavour})
    endif()
  endforeach()
endfunction()

function(weir_set_library_properties target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PUBLIC ${WEIR_PUBLIC_OPTIONS})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${WEIR_INCLUDE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} CXX_EXTENSIONS OFF
    LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
endfunction()

# The command: cli/main.cpp with the other sources of cli/, linked once with each MPI found.
# The one with the default MPI is called weir, the others weir-MPI.
function(weir_add_command)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/*.cpp")
  if(NOT sources OR NOT TARGET weir::mpi)
    return()
  endif()
  find_package(CLI11 REQUIRED CONFIG)
  list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/cli/main.cpp")
  add_library(weir_cli OBJECT ${sources})
  target_link_libraries(weir_cli PRIVATE weir_flags PUBLIC weir CLI11::CLI11 nlohmann_json::nlohmann_json)
  set_target_properties(weir_cli PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_definitions(weir_cli PRIVATE WEIR_VERSION="${PROJECT_VERSION}")

  foreach(flavour IN LISTS WEIR_MPIS)
    set(name weir-${flavour})
    if(flavour STREQUAL "${WEIR_FIRST_MPI}")
      set(name weir)
    endif()
    add_executable(weir_command_${flavour} "${PROJECT_SOURCE_DIR}/cli/main.cpp")
    target_link_libraries(weir_command_${flavour} PRIVATE weir_flags weir_cli weir_${flavour})
    set_target_properties(weir_command_${flavour} PROPERTIES
      OUTPUT_NAME ${name} CXX_EXTENSIONS OFF INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  endforeach()
endfunction()
