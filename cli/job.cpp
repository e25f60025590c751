// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/job.hpp>

#include <charconv>
#include <memory>
#include <new>
#include <utility>

#include <weir/cli/rank_placement.hpp>
#include <weir/cli/signals.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/fnv_hash.hpp>

namespace weir::cli {

namespace {

/// Each is a thread that finds its place among all others: more start slowly.
constexpr std::int64_t most_ranks = 1024;
constexpr std::int64_t most_threads = 4096;
constexpr double most_seconds = 1e9;

ContextOptions context_options(const JobOptions& options, Console& console) {
  ContextOptions result;
  result.threads = options.threads;
  result.deadline =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.deadline_seconds * 1000));
  result.log = &console;
  return result;
}

/// `rank 2: FILE:3: found ...` as `FILE:3: found ... (rank 2)`, so that lines begin alike at any
/// number of ranks.
std::string put_rank_last(std::string_view text) {
  constexpr std::string_view word = "rank ";
  const std::size_t colon = text.find(": ");
  if (!text.starts_with(word) || colon == std::string_view::npos) return std::string(text);
  int rank = 0;
  const char* const end = text.data() + colon;
  const auto [rest, error] = std::from_chars(text.data() + word.size(), end, rank);
  if (error != std::errc{} || rest != end) return std::string(text);
  return std::string(text.substr(colon + 2)) + " (" + std::string(text.substr(0, colon)) + ")";
}

std::string text_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::usage:
    case ErrorCode::input:
    case ErrorCode::output: return put_rank_last(error.text());
    case ErrorCode::cancelled: {
      if (SignalWatch::is_suspended()) return std::string(error.text()) + "; --resume goes on";
      const std::string signal = SignalWatch::received();
      return "stopped by " + (signal.empty() ? "a signal on another rank" : signal);
    }
    default: return std::string(error.text());
  }
}

/// The error being handled, made known to the other ranks where it is no error of weir's own.
Error current_error(Context& context) {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    context.fail(Error(ErrorCode::memory, "memory ran out"));
    return Error(ErrorCode::memory, "memory ran out");
  } catch (const std::exception& error) {
    context.fail(Error(ErrorCode::internal, error.what()));
    return Error(ErrorCode::internal, error.what());
  }
}

/// All ranks throw the same error, so one of them tells it: the one it began at, else rank 0.
bool is_speaker(const Context& context, const Error& error) {
  const auto failed_by = context.failed_by();
  if (!failed_by || error.code() == ErrorCode::cancelled) return context.is_root();
  return *failed_by == context.rank();
}

ExitCode end_code_of(const Error& error) {
  const bool is_suspended = error.code() == ErrorCode::cancelled && SignalWatch::is_suspended();
  return is_suspended ? exit_again : exit_code_of(error.code());
}

void expect_same_command_line(Job& job) {
  FnvHash hash;
  for (const std::string& word : job.command_line) {
    hash.add(word);
    hash.add(std::uint64_t{0xff});
  }
  bool is_same = true;
  const auto all = all_gather(job.context, hash.value());
  for (const std::uint64_t other : all) {
    is_same = is_same && other == all.front();
  }
  job.context.expect(is_same, ErrorCode::usage,
                     "the ranks have different command lines; expected one");
}

int run_on_processes(const World& world, const ContextOptions& options, Console& console,
                     const JobWatch& watch, const std::function<int(Context&)>& body) {
  Context context(watch.decorate(world.make_port()), options);
  try {
    const int code = body(context);
    const bool is_end = code != exit_to_next_job;
    if (is_end && context.is_root()) watch.record_end(context.rank(), code);
    return code;
  } catch (...) {
    // Told before the context ends: the others wait for this rank's farewell, and a launcher may
    // kill this rank once another has gone.
    const Error error = current_error(context);
    const int code = end_code_of(error);
    if (is_speaker(context, error)) {
      console.error(text_of(error));
      watch.record_error(context.rank(), code, error);
    }
    return code;
  }
}

int run_on_threads(Rank ranks, const ContextOptions& options, Console& console,
                   const JobWatch& watch, const std::function<int(Context&)>& body) {
  const auto fail = [&](const Error& error) -> int {
    const ExitCode code = end_code_of(error);
    console.error(text_of(error));
    watch.record_error(0, code, error);
    return code;
  };
  int code = exit_done;
  try {
    run_in_process(
        ranks, options, [&](std::unique_ptr<Port> port) { return watch.decorate(std::move(port)); },
        [&](Context& context) {
          const int own = body(context);
          if (context.is_root()) code = own;
        });
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail({ErrorCode::memory, "memory ran out"});
  } catch (const std::exception& error) {
    return fail({ErrorCode::internal, error.what()});
  }
  watch.record_end(0, code);
  return code;
}

}  // namespace

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage: return exit_usage;
    case ErrorCode::input: return exit_input;
    default: return exit_failed;
  }
}

void declare_job_options(OptionSet& options, JobOptions& job) {
  options.group("Machine");
  options.whole_number("--ranks", job.ranks, {1, most_ranks},
                       "ranks inside this process, at most 1024 (default 1); under mpirun its "
                       "processes are the ranks");
  options.whole_number("--threads", job.threads, {1, most_threads},
                       "threads per rank (default: the cores this rank may use, shared with the "
                       "other ranks on them)");
  options.real("--deadline", job.deadline_seconds, {0, most_seconds},
               "seconds after which a rank that waits gives up and says for whom (default 600; 0: "
               "never)");
  options.group("Saying");
  options.flag("--quiet", job.quiet, "nothing on stderr but errors");
  options.choice("--log-level", job.verbosity,
                 {{"debug", Verbosity::debug},
                  {"info", Verbosity::information},
                  {"warning", Verbosity::warnings},
                  {"error", Verbosity::errors}},
                 "how much is said on stderr (default info)");
}

void Job::throw_if_cancelled() const {
  SignalWatch::settle();
  WEIR_EXPECT(!cancel.is_cancelled(), cancelled, "cancelled");
}

int run_on_ranks(const World& world, const JobOptions& options,
                 const std::vector<std::string>& command_line,
                 const std::function<int(Job&)>& body) {
  const bool is_first = world.rank == 0;
  Console console(options.quiet ? Verbosity::errors : options.verbosity, is_first);
  if (!world.warning.empty()) console.warn(world.warning);
  const SignalWatch signals(is_first, options.suspends);
  const Rank num_ranks = world.is_mpi() ? world.size : options.ranks.value_or(1);
  const JobWatch watch(world.rank, world.is_mpi() ? 1 : num_ranks, num_ranks, options.injection);
  const auto run = [&](Context& context) {
    Job job{context, console, world, signals.cancel(), signals.stop(), command_line, watch};
    expect_same_command_line(job);
    const Rank highest = options.injection.highest_rank();
    context.expect(highest < num_ranks, ErrorCode::usage,
                   "--inject: found rank " + std::to_string(highest) + "; expected one below " +
                       std::to_string(num_ranks));
    return body(job);
  };
  if (!world.is_mpi()) {
    return run_on_threads(num_ranks, context_options(options, console), console, watch, run);
  }
  return run_on_processes(world, context_options(options, console), console, watch,
                          [&](Context& context) {
                            WEIR_EXPECT(!options.ranks || *options.ranks == world.size, usage,
                                        "--ranks: found " + std::to_string(*options.ranks) +
                                            "; expected " + std::to_string(world.size) +
                                            ", as many as the launcher started, or no --ranks");
                            return run(context);
                          });
}

}  // namespace weir::cli
