// SPDX-License-Identifier: Apache-2.0
// The only header of weir that includes <mpi.h>: for applications that bring their own
// communicator.
#pragma once

#include <cstddef>
#include <memory>

// Without the C++ bindings, which MPI-3 removed and which need a library of their own.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <weir/engine/runtime/port.hpp>

namespace weir {

namespace detail {

/// `comm` points to an MPI_Comm; its size tells one MPI from another.
std::unique_ptr<Port> make_mpi_port(const void* comm, std::size_t comm_bytes);

}  // namespace detail

/// The transport over the ranks of a communicator, which is duplicated and stays the caller's.
/// Collective over it. MPI is initialised by the caller with at least MPI_THREAD_FUNNELED, and
/// finalised by the caller after the context ended; one thread at a time uses the context, the main
/// thread unless MPI_THREAD_SERIALIZED is provided. Throws Error{usage | communication}.
///
///     weir::Context context(weir::mpi_port(application_comm), {.threads = 4});
inline std::unique_ptr<Port> mpi_port(MPI_Comm comm) {
  return detail::make_mpi_port(&comm, sizeof(comm));  // NOLINT(bugprone-sizeof-expression)
}

}  // namespace weir
