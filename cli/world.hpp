// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir::cli {

/// How this process was started. Made by main.cpp, the only file that knows MPI.
struct World {
  Rank rank = 0;
  Rank size = 1;
  /// Makes the transport over the processes of an MPI job; empty when this process is alone.
  std::function<std::unique_ptr<Port>()> make_port{};
  std::string mpi_version{};
  /// Not empty when the launcher and the linked MPI disagree (see launch_warning).
  std::string warning{};

  bool is_mpi() const { return static_cast<bool>(make_port); }
};

}  // namespace weir::cli
