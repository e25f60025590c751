// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <weir/engine/runtime/launcher.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir {

/// MPI for the length of a program's main; for commands and tests. Applications that start MPI
/// themselves use mpi_comm.hpp.
///
/// After a failure MPI_Finalize may hang for ever on both MPIs. So it is called only when no
/// exception unwinds and no context over `world_port` failed; otherwise the launcher ends the other
/// ranks when this one returns non-zero.
class MpiSession {
 public:
  /// Initialises MPI unless somebody did. Throws Error{communication} when threads are not
  /// supported.
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  Rank rank() const { return rank_; }
  Rank size() const { return size_; }

  /// E.g. "Open MPI v4.1.4", for --version. Needs no session.
  static std::string library_version();

  /// Not empty when the launcher started more ranks than MPI sees.
  std::string warning() const;

  /// A transport over all ranks. Collective.
  std::unique_ptr<Port> world_port();

 private:
  std::shared_ptr<std::atomic<bool>> is_broken_;
  Rank rank_ = 0;
  Rank size_ = 1;
  int exceptions_at_start_ = 0;
  bool is_owner_ = false;
};

}  // namespace weir
