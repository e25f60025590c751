// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/engine/runtime/mpi/mpi_session.hpp>

namespace weir::test {

/// The session of an MPI test program; lives as long as its main.
MpiSession& mpi_session();

}  // namespace weir::test
