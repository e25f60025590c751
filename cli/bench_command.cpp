// SPDX-License-Identifier: Apache-2.0
// weir bench: times algorithms on one loaded graph as the GAP suite does ([Beamer15]), and compares
// two such measurements.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>

#include <weir/cli/bench_comparison.hpp>
#include <weir/cli/bench_report.hpp>
#include <weir/cli/command.hpp>
#include <weir/cli/load_graph.hpp>
#include <weir/cli/named_errors.hpp>
#include <weir/cli/report_json.hpp>
#include <weir/cli/result_writer.hpp>
#include <weir/cli/run_plan.hpp>
#include <weir/cli/serial_check.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/cli/trial_sources.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int default_trials = 16;  // of GAP
constexpr std::int64_t most_trials = 1000000;

std::string now_as_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// Betweenness from every vertex, which it does without a source, is no benchmark.
bool starts_somewhere(const Algorithm& algorithm) {
  return algorithm.needs_sources || algorithm.name == "betweenness";
}

/// A kernel with what each of its trials starts from; one planned run serves all where there is
/// nothing to start from.
struct Kernel {
  const Algorithm* algorithm = nullptr;
  std::vector<PlannedRun> starts;

  const PlannedRun& start_of(int trial) const {
    return starts[static_cast<std::size_t>(trial) % starts.size()];
  }
};

/// Runs a kernel once. Collective.
AlgorithmResult time_trial(const Job& job, const LoadedGraph& loaded, const Algorithm& algorithm,
                           const PlannedRun& start, Trial& trial) {
  AlgorithmOptions options = start.options;
  options.run.cancel = job.cancel;
  const auto begin = Clock::now();
  AlgorithmResult result = [&] {
    try {
      return algorithm.run(loaded.graph, options);
    } catch (const Error& error) {
      throw_with_names(loaded.graph, error);
    }
  }();
  trial.call_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  trial.seconds = result.report.seconds;
  trial.num_supersteps = result.report.num_supersteps;
  trial.num_messages = result.report.num_messages;
  trial.bytes_sent = result.report.bytes_sent;
  trial.digest = result.digest;
  return result;
}

/// A line of the table, as soon as the kernel is done. Collective.
void say_times(Job& job, const KernelRecord& kernel) {
  std::vector<double> seconds;
  for (const Trial& trial : kernel.trials) seconds.push_back(trial.seconds);
  std::string line = kernel.name;
  line.resize(std::max<std::size_t>(line.size() + 1, 12), ' ');
  line += spread_text(spread_of(std::move(seconds))) + '\n';
  job.context.agree([&] {
    if (job.is_root()) print(line);
  });
}

class BenchCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  void check() override;
  int run(Job& job) const override;

 private:
  int compare(Job& job) const;
  std::vector<Kernel> plan_kernels(Job& job, const LoadedGraph& loaded) const;
  KernelRecord time_kernel(Job& job, const LoadedGraph& loaded, const Kernel& kernel,
                           const SerialCheck* check) const;

  GraphOptions graph_;
  PlanOptions plan_;
  int num_trials_ = default_trials;
  bool is_checked_serially_ = false;
  bool is_comparison_ = false;
  std::string report_;
};

std::string bench_footer() {
  return "ALGORITHM is one of weir run: pagerank,bfs,sssp,wcc,cdlp,lcc,triangles,kcore,...\n"
         "GRAPH is as there: files, - for standard input, or a generator. It is loaded once.\n\n"
         "The protocol is that of the GAP benchmark suite. Every trial of bfs, sssp and "
         "betweenness\n"
         "starts from another vertex with out-edges, drawn by GAP's own generator and seed, so "
         "that a\n"
         "graph with ids 0 to N-1 gets GAP's sources; --source replaces them. All trials count, "
         "the\n"
         "first too. The time of a trial is from the first compute to the last barrier; loading,\n"
         "allocating values and checking are outside. After the trials the first is repeated, "
         "untimed:\n"
         "equal sources must give equal results, or the command fails.\n\n"
         "A line per kernel goes to stdout: median, least and greatest time. --report keeps every\n"
         "trial with the processor, compiler and MPI (docs/formats.md). --compare prints after /\n"
         "before of the median trial with the spread over the trials: below 1 is faster, and a "
         "spread\n"
         "around 1, or fewer than 5 trials, show no difference. It exits 1 where results "
         "differ.\n\n"
         "Examples:\n"
         "  weir bench pagerank,bfs,wcc rmat:scale=16,seed=1 --undirected --trials 5\n"
         "  weir bench bfs kron20.sg --verify --report bfs.json\n"
         "  weir bench sssp roads.gr --weighted --source 1,99 --threads 2 --report before.json\n"
         "  mpirun -n 2 weir bench pagerank kron20.sg --report two.json\n"
         "  weir bench --compare before.json after.json\n";
}

void BenchCommand::declare(OptionSet& options) {
  options.argument("ALGORITHM", plan_.algorithms,
                   "one or several between commas (--compare: report before)");
  options.arguments("GRAPH", graph_.paths, "files, -, or a generator (--compare: report after)");
  options.flag("--compare", is_comparison_, "compare two reports instead");
  options.group("Trials");
  options.whole_number("--trials", num_trials_, {1, most_trials}, "per kernel (default 16)");
  options.text("--source", "ID[,ID...]", plan_.sources,
               "where trials start, one after the other and again (default: drawn as GAP does)");
  options.flag("--verify", is_checked_serially_,
               "compare pagerank, bfs, sssp and wcc to a serial algorithm, once per source; root "
               "must hold all arcs");
  declare_number_options(options, plan_);
  options.group("Results");
  options.text("--report", "FILE", report_, "write every trial as JSON (docs/formats.md)");
  declare_reading_options(options, graph_);
  declare_building_options(options, graph_);
  declare_job_options(options, job_);
  options.footer(bench_footer());
}

void BenchCommand::check() {
  if (is_comparison_) {
    WEIR_EXPECT(
        graph_.paths.size() == 1, usage,
        "--compare: found " + std::to_string(graph_.paths.size() + 1) + " files; expected two");
    return;
  }
  check_graph_options(graph_);
  check_plan_options(plan_, graph_.files.string_ids);
  graph_.files.non_negative = needs_non_negative(plan_);
  WEIR_EXPECT(!is_standard_output(report_), usage,
              "--report: found " + report_ + "; expected a file, stdout carries the table");
}

std::vector<Kernel> BenchCommand::plan_kernels(Job& job, const LoadedGraph& loaded) const {
  std::vector<Kernel> kernels;
  std::optional<std::vector<TrialSource>> drawn;
  for (const std::string& name : split_at_commas("ALGORITHM", plan_.algorithms)) {
    Kernel kernel{find_algorithm(name), {}};
    const bool is_started = starts_somewhere(*kernel.algorithm);
    PlanOptions plan = plan_;
    plan.algorithms = name;
    plan.each_source = is_started;
    if (!is_started) plan.sources.clear();
    kernel.starts = make_plan(job, plan, loaded);
    if (kernel.starts.empty()) {
      plan.each_source = false;
      const PlannedRun without_source = make_plan(job, plan, loaded).front();
      if (!drawn) drawn = draw_sources(loaded.graph, num_trials_);
      job.context.expect(!drawn->empty(), ErrorCode::input,
                         name + ": found no vertex; expected one to start from");
      for (const TrialSource& source : *drawn) {
        PlannedRun& start = kernel.starts.emplace_back(without_source);
        start.options.sources = {source.id};
        start.source_names = {source.name};
      }
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

KernelRecord BenchCommand::time_kernel(Job& job, const LoadedGraph& loaded, const Kernel& kernel,
                                       const SerialCheck* check) const {
  const std::string name(kernel.algorithm->name);
  const bool is_checked =
      check != nullptr && SerialCheck::knows(name, kernel.starts.front().options);
  KernelRecord record{name, {}, is_checked ? "serial" : "digest"};
  std::map<std::string, std::uint64_t> digests;  // by source
  for (int i = 0; i <= num_trials_; ++i) {
    const bool is_repeat = i == num_trials_;
    const PlannedRun& start = kernel.start_of(is_repeat ? 0 : i);
    Trial trial;
    if (!start.source_names.empty()) trial.source = start.source_names.front();
    if (job.is_root()) {
      job.console.progress(name + (is_repeat ? ": repeating trial 1"
                                             : ": trial " + std::to_string(i + 1) + " of " +
                                                   std::to_string(num_trials_)));
    }
    const AlgorithmResult result = time_trial(job, loaded, *kernel.algorithm, start, trial);
    const auto [known, is_new] = digests.emplace(trial.source, trial.digest);
    job.context.expect(known->second == trial.digest, ErrorCode::internal,
                       name + ": found digest " + hexadecimal(trial.digest) + " in trial " +
                           std::to_string(i + 1) + "; expected " + hexadecimal(known->second) +
                           " as before");
    if (is_new && is_checked) check->expect_right(name, start.options, result);
    if (!is_repeat) record.trials.push_back(std::move(trial));
  }
  if (job.is_root()) job.console.end_progress();
  return record;
}

int BenchCommand::run(Job& job) const {
  if (is_comparison_) return compare(job);
  BenchRecord record;
  record.begun = now_as_text();
  record.command_line = job.command_line;
  record.command_line.insert(record.command_line.begin(), "weir");
  if (!report_.empty()) expect_writable(job, report_);
  const LoadedGraph loaded = load_graph(job, graph_);
  record.load_seconds = loaded.seconds;
  record.graph = summarise(loaded.graph);
  record.graph.input = graph_.paths;
  record.graph.format = graph_.is_generated() ? "generator" : io::name_of(loaded.header.format);
  job.say("loaded in " + short_time(loaded.seconds));

  std::optional<SerialCheck> check;
  if (is_checked_serially_) check.emplace(loaded.graph);
  for (const Kernel& kernel : plan_kernels(job, loaded)) {
    record.kernels.push_back(time_kernel(job, loaded, kernel, check ? &*check : nullptr));
    say_times(job, record.kernels.back());
  }
  if (!report_.empty()) write_json(job, bench_report_text(job, record), report_);
  return exit_done;
}

int BenchCommand::compare(Job& job) const {
  int code = exit_done;
  job.context.agree([&] {
    if (!job.is_root()) return;
    const ReadBench before = read_bench_report(plan_.algorithms);  // told first if both are wrong
    const BenchComparison comparison =
        compare_benches(before, read_bench_report(graph_.paths.front()));
    for (const std::string& warning : comparison.warnings) job.warn(warning);
    print(comparison.table);
    if (comparison.has_different_results) code = exit_failed;
  });
  return all_gather(job.context, code).front();
}

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace weir::cli
