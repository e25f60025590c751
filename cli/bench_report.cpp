// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/bench_report.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include <weir/cli/processor.hpp>
#include <weir/cli/report_json.hpp>
#include <weir/cli/version.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/threads.hpp>

namespace weir::cli {

namespace {

/// Raised when a key changes its meaning or goes; new keys do not raise it.
constexpr int bench_version = 1;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// One member of every trial, as a list.
template <class Member>
Json listed(const std::vector<Trial>& trials, Member member) {
  Json list = Json::array();
  for (const Trial& trial : trials) list.push_back(trial.*member);
  return list;
}

Json kernel_json(const KernelRecord& kernel) {
  const std::vector<Trial>& trials = kernel.trials;
  std::vector<double> seconds;
  Json digests = Json::array();
  for (const Trial& trial : trials) {
    seconds.push_back(trial.seconds);
    digests.push_back(hexadecimal(trial.digest));
  }
  const Spread spread = spread_of(seconds);
  const bool has_sources = !trials.front().source.empty();
  return {{"name", kernel.name},
          {"median_seconds", spread.median},
          {"min_seconds", spread.least},
          {"max_seconds", spread.most},
          {"check", kernel.check},
          {"sources", has_sources ? listed(trials, &Trial::source) : Json::array()},
          {"seconds", seconds},
          {"call_seconds", listed(trials, &Trial::call_seconds)},
          {"supersteps", listed(trials, &Trial::num_supersteps)},
          {"messages", listed(trials, &Trial::num_messages)},
          {"bytes_sent", listed(trials, &Trial::bytes_sent)},
          {"digests", std::move(digests)}};
}

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  WEIR_EXPECT(in && text, input, path + ": cannot be read; expected a report of weir bench");
  return text.str();
}

/// The value as a person reads it: texts without quotes.
std::string shown_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

ReadBench from_json(const std::string& path, const Json& json) {
  ReadBench bench{path, {}, {}};
  const std::set<std::string> may_differ{"graph.memory_bytes", "graph.ranks", "machine.host"};
  for (const std::string part : {"graph", "machine"}) {
    for (const auto& [key, value] : json.at(part).items()) {
      std::string name = part;
      name.append(".").append(key);
      if (!may_differ.contains(name)) bench.circumstances.emplace_back(name, shown_value(value));
    }
  }
  for (const Json& kernel : json.at("kernels")) {
    ReadKernel& read = bench.kernels.emplace_back();
    kernel.at("name").get_to(read.name);
    kernel.at("seconds").get_to(read.seconds);
    kernel.at("sources").get_to(read.sources);
    kernel.at("digests").get_to(read.digests);
    const std::size_t num_trials = read.seconds.size();
    WEIR_EXPECT(num_trials > 0 && read.digests.size() == num_trials &&
                    (read.sources.empty() || read.sources.size() == num_trials),
                input,
                path + ": found lists of different lengths for " + read.name +
                    "; expected one entry a trial");
  }
  return bench;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double upper = values[middle];
  const double lower = values.size() % 2 == 0 ? values[middle - 1] : upper;
  return {(lower + upper) / 2, values.front(), values.back()};
}

std::string short_time(double seconds) {
  constexpr double thousand = 1e3;
  const char* unit = "s";
  if (seconds < 1) {
    seconds *= thousand;
    unit = "ms";
  }
  if (seconds < 1) {
    seconds *= thousand;
    unit = "us";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s",
                seconds < 10    ? 2
                : seconds < 100 ? 1
                                : 0,
                seconds, unit);
  return text;
}

std::string spread_text(const Spread& spread) {
  return short_time(spread.median) + " (" + short_time(spread.least) + " to " +
         short_time(spread.most) + ')';
}

std::string bench_report_text(Job& job, const BenchRecord& record) {
  const int hosts = num_hosts(job.context);
  if (!job.is_root()) return {};
  const Processor processor = this_processor();
  Json json;
  json["bench_version"] = bench_version;
  json["version"] = version();
  json["command"] = record.command_line;
  json["begun"] = record.begun;
  json["machine"] = machine_json(job, hosts);
  json["machine"]["host"] = text_or_null(processor.host);
  json["machine"]["system"] = text_or_null(processor.system);
  json["machine"]["processor"] = text_or_null(processor.name);
  json["machine"]["cores"] = num_online_cores();
  json["machine"]["governor"] = text_or_null(processor.governor);
  json["graph"] = graph_json(record.graph);
  json["load_seconds"] = record.load_seconds;
  json["kernels"] = Json::array();
  for (const KernelRecord& kernel : record.kernels) json["kernels"].push_back(kernel_json(kernel));
  return text_of(json);
}

ReadBench read_bench_report(const std::string& path) {
  const Json json = Json::parse(read_whole(path), nullptr, false);
  const bool is_report = json.is_object() && json.contains("bench_version") &&
                         json["bench_version"].is_number_integer();
  WEIR_EXPECT(is_report, input,
              path + ": found no report; expected the JSON that weir bench writes");
  WEIR_EXPECT(json["bench_version"] == bench_version, input,
              path + ": found bench_version " + json["bench_version"].dump() + "; expected " +
                  std::to_string(bench_version));
  try {
    return from_json(path, json);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::input, path + ": found a damaged report: " + error.what());
  }
}

}  // namespace weir::cli
