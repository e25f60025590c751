// SPDX-License-Identifier: Apache-2.0
// Everything to write and run a vertex or block program. MPI ranks: also
// engine/runtime/mpi/mpi_session.hpp (weir starts MPI) or mpi_comm.hpp (the application does).
#pragma once

#include <weir/engine/graph/build.hpp>
#include <weir/engine/graph/graph.hpp>
#include <weir/engine/graph/load.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/model/vertex_program.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/block_program.hpp>
#include <weir/engine/superstep/run.hpp>
