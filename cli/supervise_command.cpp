// SPDX-License-Identifier: Apache-2.0
// weir supervise: runs another weir, and starts it again when it died.
#include <weir/cli/command.hpp>
#include <weir/cli/supervisor.hpp>
#include <weir/engine/model/check.hpp>

namespace weir::cli {

namespace {

constexpr double longest_seconds = 1e6;

class SuperviseCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  int execute(const World& world, const std::vector<std::string>& arguments) const override;

 private:
  SuperviseOptions supervise_;
};

void SuperviseCommand::declare(OptionSet& options) {
  options.arguments("COMMAND", supervise_.command,
                    "-- and a command that starts weir, such as mpirun");
  options.whole_number("--max-restarts", supervise_.max_restarts, {0, 1000000},
                       "how often the job is started again at most (default 10)");
  options.real("--backoff", supervise_.backoff, {0, longest_seconds},
               "seconds before it is started again, doubled each time that brings no progress, "
               "up to 60 (default 0.1)");
  options.real("--heartbeat", supervise_.heartbeat, {0, longest_seconds},
               "seconds of silence after which a rank is taken for stopped (default 10; 0: never)");
  options.real(
      "--hang", supervise_.hang, {0, longest_seconds},
      "seconds after which a rank that moves nothing in a superstep, while others wait, is "
      "taken for stuck (default 300; 0: never)");
  options.whole_number(
      "--drop-host", supervise_.drop_host, {0, 1000000},
      "deaths on a host after which it is left out of the list of hosts of mpirun, "
      "mpiexec or srun (default 0: never)");
  options.group("Saying");
  options.flag("--quiet", job_.quiet, "nothing on stderr but errors, and what the job says");
  options.footer(
      "The job's exit code is the supervisor's; so is its stdout, which appears once, at the end.\n"
      "A job that ends with an error of its own is not started again. With --snapshots it goes on\n"
      "where it was, without it starts anew.\n\n"
      "Examples:\n"
      "  weir supervise -- mpirun -n 4 weir run pagerank graph.e --snapshots state/ --digest\n"
      "  weir supervise --max-restarts 3 -- srun weir run wcc graph.e --output result.txt\n");
}

int SuperviseCommand::execute(const World& world,
                              const std::vector<std::string>& /*arguments*/) const {
  Console console(job_.quiet ? Verbosity::errors : Verbosity::information, false);
  try {
    WEIR_EXPECT(!world.is_mpi(), usage,
                "supervise: found itself started by an MPI launcher; expected to start it: weir "
                "supervise -- mpirun ...");
    return supervise(supervise_, console);
  } catch (const Error& error) {
    console.error(error.text());
    return exit_code_of(error.code());
  }
}

}  // namespace

std::unique_ptr<Command> make_supervise_command() { return std::make_unique<SuperviseCommand>(); }

}  // namespace weir::cli
