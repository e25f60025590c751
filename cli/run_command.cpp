// SPDX-License-Identifier: Apache-2.0
// weir run: loads a graph once and runs algorithms on it, whichever there are.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include <weir/cli/command.hpp>
#include <weir/cli/hosts.hpp>
#include <weir/cli/load_graph.hpp>
#include <weir/cli/named_errors.hpp>
#include <weir/cli/rank_placement.hpp>
#include <weir/cli/report.hpp>
#include <weir/cli/result_writer.hpp>
#include <weir/cli/run_plan.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/cli/supervised.hpp>
#include <weir/cli/version.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/resilience/snapshot_store.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_mtbf_seconds = 1e9;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string short_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

std::string plural(std::uint64_t count, const std::string& noun, const char* ending = "s") {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : ending);
}

AlgorithmResult run_algorithm(const Algorithm& algorithm, const AnyGraph& graph,
                              const AlgorithmOptions& options) {
  try {
    return algorithm.run(graph, options);
  } catch (const Error& error) {
    throw_with_names(graph, error);
  }
}

class RunCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  void check() override;
  int execute(const World& world, const std::vector<std::string>& arguments) const override;
  int run(Job& job) const override { return run_arranged(job, {}); }

 private:
  int run_arranged(Job& job, const Arrangement& arrangement) const;
  AlgorithmRecord run_one(Job& job, const LoadedGraph& loaded, const PlannedRun& planned,
                          const Arrangement& arrangement) const;
  void say_start(Job& job, const RunRecord& run) const;
  void say_end(Job& job, const AlgorithmRecord& record) const;

  GraphOptions graph_;
  PlanOptions plan_;
  Direction direction_ = Direction::automatic;
  RankPlacement placement_ = RankPlacement::launcher;
  bool digest_ = false;
  std::string report_;
  Snapshots snapshots_;
  Speculation speculation_;
  std::string snapshot_every_ = "auto";
  std::optional<double> mtbf_;
  Ledger ledger_;
};

/// The same for people, one line, for ledgers.
std::string line_of_job(const PlannedRun& run, const std::vector<std::string>& paths) {
  const AlgorithmOptions& options = run.options;
  std::string text(run.algorithm->name);
  for (const std::string& path : paths) text += ' ' + path;
  for (std::size_t i = 0; i < run.source_names.size(); ++i)
    text += (i == 0 ? " --source " : ",") + run.source_names[i];
  char number[32];
  const auto add = [&](const char* name, double value) {
    std::snprintf(number, sizeof number, "%.17g", value);
    text.append(" ").append(name).append(" ").append(number);
  };
  if (options.iterations) text += " --iterations " + std::to_string(*options.iterations);
  if (options.tolerance) add("--tolerance", *options.tolerance);
  if (run.algorithm->name == "pagerank") add("--damping", options.damping);
  if (options.parents) text += " --parents";
  return text;
}

/// What tells the snapshots of a run from those of others: all that its result depends on besides
/// the graph, which the snapshots know by its hash.
std::string text_of_job(const PlannedRun& run, const std::vector<std::string>& paths) {
  std::string text;
  const auto add = [&](const std::string& word) { text.append(word).append(1, '\0'); };
  for (const std::string& path : paths) add(path);
  const AlgorithmOptions& options = run.options;
  add(std::string(run.algorithm->name));
  for (const VertexId source : options.sources) add(std::to_string(source));
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, "%lld %a %a %d %llu",
                static_cast<long long>(options.iterations.value_or(-1)),
                options.tolerance.value_or(-1), options.damping, options.parents ? 1 : 0,
                static_cast<unsigned long long>(options.run.seed));
  add(numbers);
  return text;
}

std::string run_footer() {
  std::string text = "Algorithms:\n";
  for (const Algorithm& algorithm : all_algorithms()) {
    std::string name = "  " + std::string(algorithm.name);
    name.resize(std::max<std::size_t>(name.size() + 1, 16), ' ');
    text += name + std::string(algorithm.summary) +
            (algorithm.needs_sources ? " (needs --source)" : "") + '\n';
  }
  return text +
         "\nGRAPH is one or more files (a Graphalytics graph is its .v and .e, or the name without "
         "them),\n- for standard input, or a generator such as "
         "rmat:scale=16,edge_factor=16,seed=1.\n"
         "A .properties file beside a Graphalytics graph gives direction, source, iterations and\n"
         "damping; options win.\n\n"
         "The result is one file of lines `ID VALUE`, ids ascending. Several algorithms, or\n"
         "--each-source, need a folder: --output DIR/ writes DIR/pagerank.txt, DIR/bfs-7.txt, "
         "...\n\n"
         "Examples:\n"
         "  weir run pagerank graph.e --output ranks.txt\n"
         "  weir run pagerank,wcc graph.txt.gz --undirected --output results/ --report run.json\n"
         "  weir run bfs graph.mtx --source 1,7 --output -            nearest of two sources\n"
         "  weir run bfs graph.mtx --source 1,7 --each-source --output levels/\n"
         "  weir run pagerank links.tsv --ids string --source home --tolerance 1e-9 --output -\n"
         "  mpirun -n 4 weir run sssp roads.gr --weighted --source 1 --output distances.txt.zst\n";
}

void RunCommand::declare(OptionSet& options) {
  options.argument("ALGORITHM", plan_.algorithms, "an algorithm, or several between commas");
  options.arguments("GRAPH", graph_.paths, "files, - for standard input, or a generator");
  declare_plan_options(options, plan_);
  options.choice(
      "--direction", direction_,
      {{"auto", Direction::automatic}, {"push", Direction::push}, {"pull", Direction::pull}},
      "how messages reach their targets; changes no bit of a result (default auto)");
  options.choice("--placement", placement_,
                 {{"launcher", RankPlacement::launcher},
                  {"packed", RankPlacement::packed},
                  {"round-robin", RankPlacement::round_robin},
                  {"auto", RankPlacement::automatic}},
                 "which processes of an MPI job are which ranks; auto reads the graph twice and "
                 "keeps what is read most on one host; changes no bit of a result (default "
                 "launcher)");
  options.group("Results");
  options.text("--output", "FILE", plan_.output,
               "one file of all values; - is stdout, .gz and .zst compress, DIR/ is a folder");
  options.flag("--digest", digest_, "print a hash of all ids and values");
  options.text("--report", "FILE", report_, "write what the run did as JSON (docs/report.md)");
  options.group("Slow ranks");
  options.choice(
      "--speculation", speculation_.rule,
      {{"progress-rate", schedule::StragglerRule::progress_rate},
       {"mapreduce-2004", schedule::StragglerRule::mapreduce_2004},
       {"off", schedule::StragglerRule::off},
       {"forced", schedule::StragglerRule::forced}},
      "when ranks that are done compute for slow ones (default progress-rate); changes no "
      "bit of a result (docs/guide/stragglers.md)");
  options.flag("--verify", speculation_.verify,
               "compare what two ranks computed of one shard; with --speculation forced of half of "
               "them");
  options.group("Failures");
  options.text("--snapshots", "DIR", snapshots_.directory,
               "keep the state of the job here from time to time; all ranks must reach it "
               "(docs/guide/failures.md)");
  options.text("--snapshots-fast", "DIR", snapshots_.fast_directory,
               "a quicker folder, such as one under /dev/shm, for seven snapshots in eight");
  options.value("--snapshot-every", "N|auto",
                "supersteps between snapshots (default auto: by their cost and --mtbf)",
                [this](const std::string& found) { snapshot_every_ = found; });
  options.real("--mtbf", mtbf_, {1e-3, most_mtbf_seconds},
               "mean time between failures of the job in seconds (default 86400)");
  options.flag("--resume", snapshots_.resume,
               "go on from the newest whole snapshot of the same job, at any number of ranks");
  options.text("--ledger", "FILE", ledger_.file,
               "write digests of every shard after every superstep, chained "
               "(weir ledger, docs/guide/ledger.md)");
  options.flag("--ledger-check", ledger_.is_verified,
               "compute every superstep twice and look at all of its state and messages again "
               "before they are used");
  declare_reading_options(options, graph_);
  declare_building_options(options, graph_);
  declare_job_options(options, job_);
  options.group("Testing");
  options.value(
      "--inject", "SPEC",
      "faults, between commas: rankN.kill|crash|exit|stop|hang@superstep|send|barrier|snapshot|"
      "before-manifest|after-manifest=S or @resume=N, rankN.pause=TIME@..., rankN.slow=FACTOR, "
      "partitionA+B/C=TIME@superstep=S, linkA-B.WHAT or link.WHAT with drop|duplicate|reorder=P, "
      "delay=TIME, bandwidth=RATE; seed=N (docs/guide/supervise.md)",
      [this](const std::string& text) { job_.injection = parse_injection("--inject", text); });
  options.footer(run_footer());
}

void RunCommand::check() {
  const bool has_snapshots = !snapshots_.directory.empty();
  if (snapshot_every_ != "auto") {
    constexpr std::int64_t most = 1'000'000'000;
    snapshots_.every = parse_whole_number("--snapshot-every", snapshot_every_, 1, most);
  }
  WEIR_EXPECT(has_snapshots || (!snapshots_.resume && !mtbf_ && snapshot_every_ == "auto" &&
                                snapshots_.fast_directory.empty()),
              usage,
              "--resume, --snapshot-every, --snapshots-fast, --mtbf: found without --snapshots; "
              "expected the folder");
  snapshots_.mtbf_seconds = mtbf_.value_or(snapshots_.mtbf_seconds);
  snapshots_.resume = snapshots_.resume || (has_snapshots && num_restarts() > 0);
  job_.suspends = has_snapshots;
  for (const std::string& path : graph_.paths) {
    WEIR_EXPECT(
        path != "-" || !JobFolder::of_environment(), usage,
        "GRAPH: found - under weir supervise, which could not read it twice; expected files");
  }
  const bool reads_twice = placement_ == RankPlacement::automatic;
  for (const std::string& path : graph_.paths) {
    WEIR_EXPECT(
        path != "-" || !reads_twice, usage,
        "GRAPH: found - with --placement auto, which reads the graph twice; expected files");
  }
  check_graph_options(graph_);
  check_plan_options(plan_, graph_.files.string_ids);
  graph_.files.non_negative = needs_non_negative(plan_);
  WEIR_EXPECT(!is_standard_output(report_), usage,
              "--report: found " + report_ + "; expected a file, stdout carries results only");
  WEIR_EXPECT(!is_standard_output(ledger_.file), usage,
              "--ledger: found " + ledger_.file + "; expected a file, stdout carries results only");
  WEIR_EXPECT(ledger_.file.empty() || (ledger_.file != plan_.output && ledger_.file != report_),
              usage,
              "--ledger: found " + ledger_.file +
                  ", which is --output or --report too; expected another file");
  WEIR_EXPECT(report_.empty() || report_ != plan_.output, usage,
              "--report: found " + report_ + ", which is --output too; expected another file");
  for (const std::string& path : graph_.paths) {
    WEIR_EXPECT(plan_.output.empty() || path == "-" || path != plan_.output, usage,
                "--output: found " + path + ", which is read; expected another file");
  }
}

int RunCommand::execute(const World& world, const std::vector<std::string>& arguments) const {
  // Ranks inside one process are on one host.
  if (!world.is_mpi()) return Command::execute(world, arguments);
  Arrangement arrangement;
  if (placement_ != RankPlacement::launcher) {
    const int code = run_on_ranks(world, job_options(), arguments, [&](Job& job) -> int {
      arrangement = arrange_ranks(job, placement_, graph_);
      return exit_to_next_job;
    });
    if (code != exit_to_next_job) return code;
  }
  const World placed = arranged(world, arrangement);
  return run_on_ranks(placed, job_options(), arguments,
                      [&](Job& job) { return run_arranged(job, arrangement); });
}

void RunCommand::say_start(Job& job, const RunRecord& run) const {
  const GraphSummary& graph = run.graph;
  const int hosts = num_hosts(job.context);
  job.say(plural(static_cast<std::uint64_t>(job.context.size()), "rank") +
          (job.world.is_mpi() ? " on " + plural(static_cast<std::uint64_t>(hosts), "host")
                              : " in this process") +
          ", " + plural(static_cast<std::uint64_t>(job.context.num_threads()), "thread") + " each");
  job.say("graph: " + plural(graph.num_vertices, "vert", "ices") +
          (graph.num_vertices == 1 ? "ex" : "") + ", " + plural(graph.num_edges, "edge") + ", " +
          (graph.is_directed ? "directed" : "undirected") +
          (graph.is_weighted ? ", weighted" : "") + "; loaded in " +
          short_seconds(run.load_seconds));
}

void RunCommand::say_end(Job& job, const AlgorithmRecord& record) const {
  if (record.has_converged && !*record.has_converged) {
    job.warn(record.name + ": the tolerance was not reached in " +
             plural(record.report.num_supersteps - 1, "iteration"));  // the first superstep is none
  }
  for (const auto& [name, value] : record.facts) {
    std::string text = record.name;
    text.append(": ").append(name).append(" ").append(value);
    job.say(text);
  }
  const SpeculationReport& helped = record.report.speculation;
  if (const std::uint64_t num_shared = helped.num_stolen + helped.num_cloned; num_shared > 0)
    job.say(record.name + ": ranks that were done computed " + plural(num_shared, "shard") +
            " of slow ones");
  job.say(record.name + ": " + plural(record.report.num_supersteps, "superstep") + ", " +
          plural(record.report.num_messages, "message") + " in " +
          short_seconds(record.report.seconds) +
          (record.output.empty() ? "; no result is written without --output" : ""));
}

AlgorithmRecord RunCommand::run_one(Job& job, const LoadedGraph& loaded, const PlannedRun& planned,
                                    const Arrangement& arrangement) const {
  AlgorithmRecord record;
  record.name = planned.algorithm->name;
  record.sources = planned.source_names;
  record.output = planned.output;
  AlgorithmOptions options = planned.options;
  options.run.direction = direction_;
  options.run.cancel = job.cancel;
  options.run.speculation = speculation_;
  options.run.snapshots = snapshots_;
  options.run.snapshots.stop = job.stop;
  options.run.snapshots.job = text_of_job(planned, graph_.paths);
  options.run.ledger = ledger_;
  options.run.ledger.job = line_of_job(planned, graph_.paths);
  options.run.progress = [&](const SuperstepReport& step) {
    if (!job.is_root()) return;
    job.console.progress(record.name + ": superstep " + std::to_string(step.superstep) + ", " +
                         plural(step.num_computed, "active vert", "ices") +
                         (step.num_computed == 1 ? "ex" : ""));
  };
  job.watch.begin_run(job.context.rank(), options.run);
  const std::vector<std::uint32_t> hosts = hosts_of_ranks(job.context);
  const Traffic moved_before = job.context.traffic();
  const std::uint64_t crossed_before = bytes_to_other_hosts(job.context, arrangement, hosts);
  const auto before = Clock::now();
  AlgorithmResult result = run_algorithm(*planned.algorithm, loaded.graph, options);
  job.watch.end_run(job.context.rank());
  record.prepare_seconds = std::max(0.0, seconds_since(before) - result.report.seconds);
  const std::uint64_t crossed =
      bytes_to_other_hosts(job.context, arrangement, hosts) - crossed_before;
  record.traffic = traffic_since(job.context, moved_before);
  record.bytes_to_other_hosts = all_gather(job.context, crossed);
  if (job.is_root()) job.console.end_progress();
  const auto start = Clock::now();
  make_folder(job, plan_);
  if (!planned.output.empty()) write_result(job, loaded.graph, result, planned.output);
  record.write_seconds = planned.output.empty() ? 0 : seconds_since(start);
  if (digest_) {
    char text[32];
    std::snprintf(text, sizeof text, " 0x%016llx\n",
                  static_cast<unsigned long long>(result.digest));
    job.context.agree([&] {
      if (job.is_root()) print("digest " + record.name + text);
    });
  }
  record.report = std::move(result.report);
  record.has_converged = result.has_converged;
  record.facts = std::move(result.facts);
  record.digest = result.digest;
  return record;
}

int RunCommand::run_arranged(Job& job, const Arrangement& arrangement) const {
  const auto start = Clock::now();
  expect_outputs(job, plan_);
  if (!report_.empty()) expect_writable(job, report_);
  const LoadedGraph loaded =
      load_graph(job, graph_, [&](const io::GraphHeader& header) { check_sources(plan_, header); });

  RunRecord run;
  run.command_line = job.command_line;
  run.command_line.insert(run.command_line.begin(), "weir");
  run.graph = summarise(loaded.graph);
  run.graph.input = graph_.paths;
  run.graph.format = graph_.is_generated() ? "generator" : io::name_of(loaded.header.format);
  run.placement = arrangement.name;
  run.process_of_rank = arrangement.process_of_rank;
  run.place_seconds = arrangement.seconds;
  run.load_seconds = loaded.seconds;
  say_start(job, run);
  const std::vector<PlannedRun> plan = make_plan(job, plan_, loaded);
  job.context.expect(ledger_.file.empty() || plan.size() == 1, ErrorCode::usage,
                     "--ledger: found several runs; expected one, whose ledger it is");
  for (const PlannedRun& planned : plan) {
    run.algorithms.push_back(run_one(job, loaded, planned, arrangement));
    say_end(job, run.algorithms.back());
  }
  run.total_seconds = seconds_since(start);
  if (!report_.empty()) write_report(job, run, report_);
  if (job.is_root() && !snapshots_.directory.empty()) {
    for (const PlannedRun& planned : plan) {
      for (const std::string& directory : {snapshots_.directory, snapshots_.fast_directory}) {
        if (!directory.empty()) remove_snapshots(directory, text_of_job(planned, graph_.paths));
      }
    }
  }
  return exit_done;
}

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace weir::cli
