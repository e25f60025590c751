// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/report.hpp>

#include <array>
#include <cstdio>
#include <map>

#include <weir/cli/report_json.hpp>
#include <weir/cli/signals.hpp>
#include <weir/cli/version.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

/// Raised when a key changes its meaning or goes; new keys do not raise it.
constexpr int report_version = 1;

Json speculation_json(const SpeculationReport& report) {
  return {{"stolen", report.num_stolen},
          {"cloned", report.num_cloned},
          {"won", report.num_won},
          {"lost", report.num_lost},
          {"input_bytes", report.input_bytes}};
}

Json superstep_json(const SuperstepReport& step) {
  Json aggregates = Json::object();
  for (const auto& [name, value] : step.aggregates) aggregates[name] = value;
  return {{"superstep", step.superstep},
          {"phase", step.phase},
          {"sparse", step.is_sparse},
          {"computed", step.num_computed},
          {"scattered", step.num_scattered},
          {"messages", step.num_messages},
          {"dropped", step.num_dropped},
          {"mutations", step.num_mutations},
          {"bytes_sent", step.bytes_sent},
          {"speculation", speculation_json(step.speculation)},
          {"seconds",
           {{"compute", step.compute_seconds},
            {"exchange", step.exchange_seconds},
            {"barrier", step.barrier_seconds}}},
          {"aggregates", std::move(aggregates)}};
}

Json algorithm_json(const AlgorithmRecord& record) {
  const RunReport& report = record.report;
  Json json = {{"name", record.name}, {"sources", record.sources}};
  json["ending"] = name_of(report.ending);
  json["converged"] = record.has_converged ? Json(*record.has_converged) : Json(nullptr);
  json["synchronous"] = report.is_synchronous;
  json["supersteps"] = report.num_supersteps;
  json["messages"] = report.num_messages;
  json["dropped"] = report.num_dropped;
  json["bytes_sent"] = report.bytes_sent;
  json["speculation"] = speculation_json(report.speculation);
  json["seconds"] = {{"prepare", record.prepare_seconds},
                     {"run", report.seconds},
                     {"write", record.write_seconds}};
  json["digest"] = hexadecimal(record.digest);
  json["output"] = record.output.empty() ? Json(nullptr) : Json(record.output);
  json["facts"] = Json::object();
  for (const auto& [name, value] : record.facts) json["facts"][name] = value;
  json["ranks"] = Json::array();
  for (std::size_t r = 0; r < record.traffic.size(); ++r) {
    const Traffic& traffic = record.traffic[r];
    json["ranks"].push_back({{"frames_sent", traffic.frames_sent},
                             {"bytes_sent", traffic.bytes_sent},
                             {"bytes_to_other_hosts", record.bytes_to_other_hosts[r]},
                             {"bytes_received", traffic.bytes_received}});
  }
  json["rows"] = Json::array();
  for (const SuperstepReport& step : report.supersteps)
    json["rows"].push_back(superstep_json(step));
  return json;
}

}  // namespace

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

Json graph_json(const GraphSummary& graph) {
  Json ranks = Json::array();
  for (const RankShare& share : graph.shares) {
    ranks.push_back({{"vertices", share.num_vertices},
                     {"arcs", share.num_arcs},
                     {"memory_bytes", share.memory_bytes}});
  }
  return {{"input", graph.input},
          {"format", graph.format},
          {"ids", graph.has_names ? "string" : "integer"},
          {"directed", graph.is_directed},
          {"weighted", graph.is_weighted},
          {"vertices", graph.num_vertices},
          {"edges", graph.num_edges},
          {"arcs", graph.num_arcs},
          {"shards", graph.num_shards},
          {"memory_bytes", graph.memory_bytes},
          {"ranks", std::move(ranks)}};
}

Json machine_json(const Job& job, int num_hosts) {
  return {{"ranks", job.context.size()},  {"threads", job.context.num_threads()},
          {"hosts", num_hosts},           {"transport", job.world.is_mpi() ? "mpi" : "threads"},
          {"mpi", job.world.mpi_version}, {"compiler", compiler()}};
}

std::string text_of(const Json& json) {
  constexpr int indent = 2;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

GraphSummary summarise(const AnyGraph& any) {
  return std::visit(
      [](const auto& graph) {
        using E = typename std::remove_cvref_t<decltype(graph)>::EdgeValue;
        GraphSummary summary;
        summary.has_names = graph.names() != nullptr;
        summary.is_weighted = !std::is_same_v<E, NoValue>;
        summary.is_directed = graph.is_directed();
        summary.num_vertices = graph.num_vertices();
        summary.num_edges = graph.num_edges();
        summary.num_arcs = graph.num_arcs();
        summary.num_shards = graph.shards().num_shards();
        RankShare own{graph.vertices()->size(), 0, graph.memory_bytes()};
        for (Row row = 0; row < graph.vertices()->size(); ++row) {
          own.num_arcs += graph.vertices()->in_degree(row);
        }
        summary.shares = all_gather(graph.context(), own);
        for (const RankShare& share : summary.shares) summary.memory_bytes += share.memory_bytes;
        return summary;
      },
      any);
}

std::vector<Traffic> traffic_since(Context& context, const Traffic& before) {
  Traffic moved = context.traffic();
  moved.frames_sent -= before.frames_sent;
  moved.bytes_sent -= before.bytes_sent;
  moved.frames_received -= before.frames_received;
  moved.bytes_received -= before.bytes_received;
  return all_gather(context, moved);
}

int num_hosts(Context& context) {
  std::map<int, int> ranks_by_crowd;  // ranks that share their host with so many
  for (const int crowd : all_gather(context, context.ranks_on_host())) ++ranks_by_crowd[crowd];
  int num_hosts = 0;
  for (const auto& [crowd, num_ranks] : ranks_by_crowd) num_hosts += num_ranks / crowd;
  return num_hosts;
}

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::quiet: return "quiet";
    case Ending::halted: return "halted";
    case Ending::superstep_limit: break;
  }
  return "superstep_limit";
}

std::string report_text(Job& job, const RunRecord& run) {
  const int hosts = num_hosts(job.context);
  if (!job.is_root()) return {};
  double prepare_seconds = 0;
  double run_seconds = 0;
  double write_seconds = 0;
  Json algorithms = Json::array();
  for (const AlgorithmRecord& record : run.algorithms) {
    prepare_seconds += record.prepare_seconds;
    run_seconds += record.report.seconds;
    write_seconds += record.write_seconds;
    algorithms.push_back(algorithm_json(record));
  }
  Json json;
  json["report_version"] = report_version;
  json["version"] = version();
  json["command"] = run.command_line;
  json["machine"] = machine_json(job, hosts);
  json["machine"]["placement"] = run.placement;
  json["machine"]["processes"] = run.process_of_rank;
  json["graph"] = graph_json(run.graph);
  json["seconds"] = {{"place", run.place_seconds}, {"load", run.load_seconds},
                     {"prepare", prepare_seconds}, {"run", run_seconds},
                     {"write", write_seconds},     {"total", run.total_seconds}};
  json["algorithms"] = std::move(algorithms);
  return text_of(json);
}

void write_report(Job& job, const RunRecord& run, const std::string& path) {
  write_json(job, report_text(job, run), path);
}

void write_json(Job& job, const std::string& text, const std::string& path) {
  job.context.agree([&] {
    if (!job.is_root()) return;
    SignalWatch::will_write(path);
    io::OutputFile file(path);
    file.write(text);
    file.commit();
  });
}

}  // namespace weir::cli
