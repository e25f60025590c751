// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/cli/report.hpp>

namespace weir::cli {

/// The middle and the ends of some times.
struct Spread {
  double median = 0;  ///< Of an even number of times, the mean of the middle two.
  double least = 0;
  double most = 0;
};

/// `values` are not empty.
Spread spread_of(std::vector<double> values);

/// One timed call of a kernel.
struct Trial {
  std::string source;       ///< Empty for kernels without.
  double seconds = 0;       ///< First compute to last barrier, as RunReport has it.
  double call_seconds = 0;  ///< The whole call, with allocating values and hashing the result.
  std::uint64_t num_supersteps = 0;
  std::uint64_t num_messages = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t digest = 0;
};

struct KernelRecord {
  std::string name;
  std::vector<Trial> trials;
  std::string check;  ///< How results were checked: "digest" or "serial".
};

struct BenchRecord {
  std::vector<std::string> command_line;
  std::string begun;  ///< UTC, e.g. "2026-11-30T21:00:00Z".
  GraphSummary graph;
  double load_seconds = 0;
  std::vector<KernelRecord> kernels;
};

/// A time as tables have it: "1.23 ms".
std::string short_time(double seconds);

/// `median (least to most)` of the timed seconds.
std::string spread_text(const Spread& spread);

/// The report as docs/formats.md describes it, on root; empty elsewhere. Collective.
std::string bench_report_text(Job& job, const BenchRecord& record);

/// What a comparison needs of one kernel of a report.
struct ReadKernel {
  std::string name;
  std::vector<double> seconds;       ///< Of each trial.
  std::vector<std::string> sources;  ///< Of each trial, or none.
  std::vector<std::string> digests;  ///< Of each trial.
};

/// A report that was read again.
struct ReadBench {
  std::string path;
  /// Name and value of what ought to be equal in both: graph, machine, compiler.
  std::vector<std::pair<std::string, std::string>> circumstances;
  std::vector<ReadKernel> kernels;
};

/// Throws Error{input} for what is no report of `weir bench`, or one of a later version.
ReadBench read_bench_report(const std::string& path);

}  // namespace weir::cli
