// SPDX-License-Identifier: Apache-2.0
// Starts MPI if a launcher started this process, and hands over. The only file compiled per MPI.
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <weir/cli/command_line.hpp>
#include <weir/cli/world.hpp>
#include <weir/engine/runtime/launcher.hpp>
#include <weir/engine/runtime/mpi/mpi_session.hpp>

namespace {

int run(int argc, char** argv) {
  weir::cli::World world;
  world.mpi_version = weir::MpiSession::library_version();
  std::optional<weir::MpiSession> session;
  if (weir::is_launched_by_mpi()) {
    session.emplace(argc, argv);
    world.rank = session->rank();
    world.size = session->size();
    world.make_port = [&] { return session->world_port(); };
    world.warning = session->warning();
  }
  return weir::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc), world);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weir: %s\n", error.what());
    return 1;
  }
}
