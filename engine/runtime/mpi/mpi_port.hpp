// SPDX-License-Identifier: Apache-2.0
// Private to the sources in this folder.
#pragma once

#include <atomic>
#include <memory>

#include <weir/engine/runtime/mpi/mpi_comm.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir::detail {

/// Throws Error{communication} with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// `is_broken`, if any, is set when the context over the port failed.
std::unique_ptr<Port> make_mpi_port(MPI_Comm comm, std::shared_ptr<std::atomic<bool>> is_broken);

}  // namespace weir::detail
