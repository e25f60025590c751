// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/mpi/mpi_session.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/mpi/mpi_port.hpp>

namespace weir {

namespace {

constexpr std::chrono::milliseconds time_for_last_words{300};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv)
    : is_broken_(std::make_shared<std::atomic<bool>>(false)),
      exceptions_at_start_(std::uncaught_exceptions()) {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  int level = MPI_THREAD_SINGLE;
  if (is_initialized != 0) {
    MPI_Query_thread(&level);
  } else {
    detail::check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level),
                      "MPI_Init_thread");
    is_owner_ = true;
  }
  WEIR_EXPECT(level >= MPI_THREAD_FUNNELED, communication,
              "this MPI supports no threads (MPI_THREAD_FUNNELED is needed)");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiSession::~MpiSession() {
  const bool is_unwinding = std::uncaught_exceptions() > exceptions_at_start_;
  if (!is_owner_) return;
  if (!is_unwinding && !*is_broken_) {
    MPI_Finalize();
  } else if (rank_ != 0) {
    // The launcher ends all ranks when the first returns: rank 0 gets the time to say why.
    std::this_thread::sleep_for(time_for_last_words);
  }
}

std::string MpiSession::library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text);  // `length` counts a NUL in Open MPI; details follow a comma
  version.resize(std::min(version.find_first_of(",\n"), version.size()));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version;
}

std::string MpiSession::warning() const { return launch_warning(launcher_size(), size_); }

std::unique_ptr<Port> MpiSession::world_port() {
  return detail::make_mpi_port(MPI_COMM_WORLD, is_broken_);
}

}  // namespace weir
