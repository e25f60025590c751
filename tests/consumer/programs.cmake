# SPDX-License-Identifier: Apache-2.0
# The programs of both outside projects; they differ in how they find weir.
add_executable(consumer "${CMAKE_CURRENT_LIST_DIR}/main.cpp")
target_link_libraries(consumer PRIVATE weir::weir)
if(WITH_MPI)
  add_executable(consumer_mpi "${CMAKE_CURRENT_LIST_DIR}/mpi_main.cpp")
  target_link_libraries(consumer_mpi PRIVATE weir::mpi)
endif()
