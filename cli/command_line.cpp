// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/command_line.hpp>

#include <algorithm>
#include <optional>

#include <weir/cli/command.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/cli/version.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/launcher.hpp>

namespace weir::cli {

namespace {

std::string main_help() {
  std::string text =
      "weir: graph algorithms in bulk-synchronous supersteps, on one machine or over MPI\n\n"
      "Usage: weir COMMAND [ARGUMENTS] [OPTIONS]\n\n";
  for (const CommandEntry& entry : all_commands()) {
    std::string left = "  " + std::string(entry.name) + ' ' + std::string(entry.arguments);
    left.resize(std::max<std::size_t>(left.size() + 2, 36), ' ');
    text += left + std::string(entry.summary) + '\n';
  }
  return text +
         "\n  weir COMMAND --help               options and examples of a command\n"
         "  weir --version                    version, MPI library and compiler\n\n"
         "Try:\n"
         "  weir generate rmat:scale=16,seed=1 graph.e\n"
         "  weir run pagerank graph.e --output ranks.txt --report run.json\n"
         "  weir run bfs,wcc graph.e --source 1 --output results/ --ranks 4\n"
         "  mpirun -n 4 weir run pagerank graph.e --output ranks.txt\n"
         "  weir check ranks.txt reference.txt --rule epsilon\n\n"
         "Results are the same, bit for bit, at any number of ranks and threads.\n"
         "Exit codes: 0 done, 1 the job failed, 2 wrong command line, 3 wrong or missing input.\n";
}

/// A command line as understood: text to print, a fault, or a command to run.
struct Invocation {
  std::unique_ptr<Command> command{};
  std::string text{};
  std::optional<Error> fault{};
};

std::unique_ptr<Command> make_command(const std::string& name) {
  std::vector<std::string> names{"--help", "--version"};
  for (const CommandEntry& entry : all_commands()) {
    if (entry.name == name) return entry.make();
    names.emplace_back(entry.name);
  }
  throw Error(ErrorCode::usage, name + ": no command of weir" + suggestion(name, names) +
                                    (nearest(name, names) ? "" : " (see weir --help)"));
}

Invocation understand_command(std::vector<std::string> words) {
  Invocation invocation;
  if (words.front() == "help" && words.size() > 1) words = {words[1], "--help"};
  const std::string& name = words.front();
  invocation.command = make_command(name);
  const auto& commands = all_commands();
  const auto entry = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandEntry& each) { return each.name == name; });
  OptionSet options("weir " + name, std::string(entry->summary));
  invocation.command->declare(options);
  const auto help = options.parse({words.begin() + 1, words.end()});
  if (help) {
    invocation.text = *help;
    invocation.command = nullptr;
    return invocation;
  }
  invocation.command->check();
  return invocation;
}

Invocation understand(const std::vector<std::string>& words, const World& world) {
  if (words.empty()) {
    Invocation invocation;
    invocation.fault = Error(ErrorCode::usage, "found no command; expected one (see weir --help)");
    return invocation;
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) {
    return {.text = main_help()};
  }
  if (first == "--version") return {.text = version_text(world)};
  try {
    return understand_command(words);
  } catch (const Error& error) {
    Invocation invocation;
    invocation.fault = error;
    return invocation;
  }
}

/// The number the launcher gave this process, also where MPI does not see the others.
int launched_rank() {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"}) {
    if (const auto text = process_environment(name)) return std::atoi(text->c_str());
  }
  return 0;
}

}  // namespace

const std::vector<CommandEntry>& all_commands() {
  static const std::vector<CommandEntry> commands = {
      {"run", "ALGORITHM GRAPH...", "run algorithms on a graph", make_run_command},
      {"bench", "ALGORITHM GRAPH...", "time algorithms, compare two measurements",
       make_bench_command},
      {"generate", "SPEC OUT", "write a synthetic graph to a file", make_generate_command},
      {"convert", "IN... OUT", "write a graph in another format", make_convert_command},
      {"info", "GRAPH...", "say what a graph holds", make_info_command},
      {"check", "RESULT REFERENCE", "compare a result to a reference", make_check_command},
      {"plan", "OPERATORS", "cut a training graph into stages on a cluster", make_plan_command},
      {"simulate", "PLAN|WHAT", "training, stragglers and snapshots, beside what is known",
       make_simulate_command},
      {"supervise", "-- COMMAND...", "run a command that starts weir, again when it died",
       make_supervise_command},
      {"ledger", "verify|diff|prove|check FILE...", "check what runs said of their supersteps",
       make_ledger_command},
      {"doctor", "", "say what weir sees of this machine", make_doctor_command},
  };
  return commands;
}

int run_command_line(const std::vector<std::string>& arguments, const World& world) {
  // Processes that each believe to be alone: one of them does the job, which writes once.
  if (!world.warning.empty() && launched_rank() != 0) return exit_done;
  const Invocation invocation = understand(arguments, world);
  if (invocation.command) return invocation.command->execute(world, arguments);
  return run_on_ranks(world, JobOptions{}, arguments, [&](Job& job) -> int {
    if (invocation.fault) throw Error(*invocation.fault);
    job.context.agree([&] {
      if (job.is_root()) print(invocation.text);
    });
    return exit_done;
  });
}

}  // namespace weir::cli
