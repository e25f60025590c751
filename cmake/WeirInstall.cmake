# SPDX-License-Identifier: Apache-2.0
# Headers, libraries, the command, and how others find them.
include(CMakePackageConfigHelpers)

function(weir_install)
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weir")
  foreach(folder IN ITEMS engine io gpu algorithms)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}")
      install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weir" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
    endif()
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

  install(TARGETS weir EXPORT weirTargets)
  install(EXPORT weirTargets NAMESPACE weir:: DESTINATION "${package_dir}")
  string(JOIN " " WEIR_PC_OPTIONS ${WEIR_PUBLIC_OPTIONS})
  # Found from where the file lies: an installation may go elsewhere than configured.
  file(RELATIVE_PATH WEIR_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  configure_file(cmake/weir.pc.in weir.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/weir.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

  foreach(flavour IN LISTS WEIR_MPIS)
    if(TARGET weir_${flavour})
      install(TARGETS weir_${flavour} EXPORT weir-${flavour}Targets)
      install(EXPORT weir-${flavour}Targets NAMESPACE weir:: DESTINATION "${package_dir}")
      set(cflags "${WEIR_MPI_${flavour}_PC_CFLAGS}")
      set(libs "${WEIR_MPI_${flavour}_PC_LIBS}")
      configure_file(cmake/weir-mpi.pc.in weir-${flavour}.pc @ONLY)
      install(FILES "${PROJECT_BINARY_DIR}/weir-${flavour}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    endif()
    if(TARGET weir_command_${flavour})
      install(TARGETS weir_command_${flavour})
    endif()
  endforeach()

  configure_package_config_file(cmake/weirConfig.cmake.in weirConfig.cmake INSTALL_DESTINATION "${package_dir}")
  write_basic_package_version_file(weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/weirConfig.cmake" "${PROJECT_BINARY_DIR}/weirConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/WeirMpi.cmake" DESTINATION "${package_dir}")
endfunction()
